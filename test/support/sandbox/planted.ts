/** Plants faults in plausible data, one for each rule, for the checker to find. */
import type { Authored, SyntheticData, SyntheticRecord } from '#src/sandbox/synthetic.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { codesIn, DAY_MS, textAt, walk } from './view.ts';

/** Data that a planted fault may change. */
interface Draft {
  readonly directory: Authored[];
  readonly records: (Omit<SyntheticRecord, 'resources'> & { resources: Authored[] })[];
}

/** A change that breaks one rule. */
export type Planting = (draft: Draft) => void;

type Pick = (resource: JsonObject, one: Authored) => boolean;

const has = (resource: JsonObject, code: string): boolean => {
  let found = false;
  walk(resource, (object) => {
    if (codesIn(object).some((one) => one.startsWith(code))) found = true;
  });
  return found;
};

/** Returns the records that contain a matching resource. */
const recordsWith = (draft: Draft, pick: Pick) =>
  draft.records.filter(({ resources }) => resources.some((one) => pick(one.resource, one)));

/** Returns the first record that contains a matching resource. */
function recordWith(draft: Draft, pick: Pick): Draft['records'][number] {
  const [record] = recordsWith(draft, pick);
  if (record === undefined) throw new Error('no such record');
  return record;
}

function resourceWith(draft: Draft, pick: Pick): JsonObject {
  const found = recordWith(draft, pick).resources.find((one) => pick(one.resource, one));
  if (found === undefined) throw new Error('no such resource');
  return found.resource;
}

const ofType =
  (type: string, code = ''): Pick =>
  (resource) =>
    resource.resourceType === type && (code === '' || has(resource, code));

/** Returns a planting that sets elements of the first matching resource. */
const set =
  (pick: Pick, elements: (resource: JsonObject) => JsonObject): Planting =>
  (draft) => {
    const resource = resourceWith(draft, pick);
    Object.assign(resource, elements(resource));
  };

/** Returns a planting that changes every value with a given code in the first record that contains a matching resource. */
const values =
  (
    code: string,
    change: (value: number, index: number) => number,
    of: Pick = ofType('Observation', code),
  ): Planting =>
  (draft) => {
    const { resources } = recordWith(draft, (resource, one) => of(resource, one));
    let index = 0;
    for (const { resource } of resources) {
      const { component } = resource;
      for (const part of [resource, ...(Array.isArray(component) ? component.filter(isObject) : [])]) {
        if (!codesIn(part.code).includes(code) || !isObject(part.valueQuantity)) continue;
        part.valueQuantity = {
          ...part.valueQuantity,
          value: change(Number(part.valueQuantity.value), index++),
        };
      }
    }
  };

const coding = (system: string, code: string, display: string): JsonObject => ({
  code: { coding: [{ system, code, display }] },
});
const later = (text: unknown, days: number): string =>
  new Date(Date.parse(String(text)) + days * DAY_MS).toISOString();
const dead: Pick = (resource) => resource.deceasedDateTime !== undefined;
const child: Pick = ofType('RelatedPerson');

/** The plantings, in the order of the rules. */
export const PLANTED: readonly Planting[] = [
  set(ofType('Observation'), () => ({ effectiveDateTime: '1890-01-01T08:00:00Z' })),
  set(ofType('DocumentReference'), () => ({ date: '2090-01-01T08:00:00Z' })),
  (draft) => {
    const { resources } = recordWith(draft, dead);
    const died = resources[0]?.resource.deceasedDateTime;
    const encounter = resources.find(({ type }) => type === 'Encounter');
    if (encounter !== undefined) encounter.resource.period = { start: later(died, 5), end: later(died, 6) };
  },
  set(ofType('MedicationStatement'), ({ effectivePeriod }) => ({
    effectivePeriod: {
      start: textAt(effectivePeriod, 'start') ?? '',
      end: later(textAt(effectivePeriod, 'start'), -9),
    },
  })),
  set(ofType('Condition'), ({ onsetDateTime }) => ({ recordedDate: later(onsetDateTime, -40) })),
  set(ofType('MedicationRequest'), ({ authoredOn }) => ({
    authoredOn: later(authoredOn, -900).slice(0, 10),
  })),
  set(
    (resource) => resource.resourceType === 'Observation' && resource.encounter !== undefined,
    (resource) => ({
      effectiveDateTime: later(resource.effectiveDateTime, -1),
    }),
  ),
  set(ofType('DiagnosticReport'), ({ effectiveDateTime }) => ({ issued: later(effectiveDateTime, -1) })),
  values('4548-4', () => 8.5, ofType('MedicationStatement', 'A10BA02')),
  values('8462-4', (value) => value + 60),
  values('39156-5', (value) => value + 2),
  values('8867-4', (value, index) => (index === 0 ? 400 : value)),
  values('8302-2', (value, index) => (index === 1 ? value - 30 : value), child),
  values('8302-2', (value, index) => (index === 0 ? value + 8 : value), ofType('Condition', 'E11')),
  values('98979-8', (value) => value - 9),
  values('98979-8', () => 45, ofType('Condition', 'N18')),
  values('3016-3', () => 9, ofType('MedicationStatement', 'H03AA')),
  values('6301-6', (value, index) => (index > 1 ? 1 : value), ofType('MedicationStatement', 'B01AA03')),
  values('8480-6', () => 150, ofType('MedicationStatement', 'C09AA03')),
  values('44261-6', (value, index) => (index === 1 ? value + 0.5 : value)),
  values('13457-7', (value) => value + 12),
  (draft) => {
    const patient = recordWith(draft, ofType('Condition', 'Z34')).resources[0];
    if (patient !== undefined) patient.resource.gender = 'male';
  },
  (draft) => {
    const { resources } = recordWith(draft, child);
    const own = resources.find(({ type }) => type === 'Condition');
    if (own !== undefined) own.resource.code = resourceWith(draft, ofType('Condition', 'I10')).code ?? null;
  },
  set(ofType('Observation', '29463-7'), (resource) => ({
    valueQuantity: {
      ...(isObject(resource.valueQuantity) ? resource.valueQuantity : {}),
      unit: 'cm',
      code: 'cm',
    },
  })),
  set(ofType('Observation', '8867-4'), () => coding('http://loinc.org', '8867-5', 'Heart rate')),
  set(ofType('Condition'), () => coding('http://hl7.org/fhir/sid/icd-10', '250.00', 'Diabetes')),
  set(ofType('Immunization'), () => ({
    vaccineCode: coding('http://www.whocc.no/atc', 'J07', 'Vaccines').code ?? null,
  })),
  set(ofType('Observation', '8867-4'), () => ({
    category: [
      {
        coding: [
          { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' },
        ],
      },
    ],
  })),
  set(ofType('Encounter'), () => ({ serviceProvider: { reference: 'Organization/nowhere' } })),
  (draft) => {
    const [first, second] = draft.records;
    const encounter = first?.resources.find(({ type }) => type === 'Encounter');
    if (encounter !== undefined) encounter.resource.subject = { reference: `Patient/${second?.patient}` };
  },
  (draft) => {
    const { resources } = recordWith(draft, ofType('Condition'));
    const [first, second] = resources;
    if (first !== undefined && second !== undefined) resources[1] = { ...second, id: first.id };
  },
  set(ofType('Patient'), () => ({ name: [{ use: 'official', family: 'Nobody', given: ['X'] }] })),
  set(ofType('Patient'), ({ address }) => ({
    address: [{ ...(Array.isArray(address) && isObject(address[0]) ? address[0] : {}), city: 'Atlantis' }],
  })),
  (draft) => {
    const record = recordWith(draft, child);
    record.resources = record.resources.filter(({ type }) => type !== 'RelatedPerson');
  },
  set(ofType('Immunization', 'J07BD52'), ({ occurrenceDateTime }) => ({
    occurrenceDateTime: later(occurrenceDateTime, -200),
  })),
  set(ofType('DocumentReference'), () => ({
    content: [{ attachment: { contentType: 'text/plain', title: 'Empty' } }],
  })),
  (draft) => {
    for (const record of draft.records)
      record.resources = record.resources.filter(({ author }) => author.type !== 'ai');
  },
  (draft) => {
    draft.records.splice(
      draft.records.findIndex(({ resources }) => resources.length <= 5),
      1,
    );
  },
  (draft) => {
    for (const record of draft.records)
      record.resources = record.resources.filter(({ type }) => type !== 'CareTeam');
  },
  set(ofType('Observation'), () => ({ status: 'done' })),
];

/** Returns a copy of data with a fault planted in it. */
export function plant(data: SyntheticData, planting: Planting): SyntheticData {
  const draft: Draft = structuredClone({
    directory: [...data.directory],
    records: data.records.map((record) => ({ ...record, resources: [...record.resources] })),
  });
  planting(draft);
  return draft;
}
