/** Compares the REST v1 lists and timeline with the stored raw JSON. */
import { expect } from 'chai';
import { z } from 'zod';
import type { InProcess } from '#test/support/in-process.ts';
import { codesOf, type Json, mentions, nameOf, read, reference, texts, type Version } from './raw.ts';
import { changeDate } from './second-dates.ts';
import { isSaid, tellValue } from './second-values.ts';
import type { VariedRecord } from './varied-records.ts';

const LISTS = {
  medications: 'MedicationStatement',
  prescriptions: 'MedicationRequest',
  conditions: 'Condition',
  observations: 'Observation',
} as const;
type List = keyof typeof LISTS;

const items = z.object({
  data: z.array(z.looseObject({ fhir: z.string(), version: z.number(), display: z.string().nullable() })),
  next_cursor: z.string().nullable(),
});
type Item = z.output<typeof items>['data'][number];

/** How many values of each list member were compared, to show that no member agrees only because it is absent. */
export type Compared = Map<string, number>;

async function readAll<Of>(
  { url, key }: InProcess,
  path: string,
  page: z.ZodType<{ readonly data: readonly Of[]; readonly next_cursor: string | null }>,
): Promise<Of[]> {
  const all: Of[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await fetch(`${url}/v1/patients/${path}${more}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    const { data, next_cursor } = page.parse(await answer.json());
    all.push(...data);
    cursor = next_cursor;
  }
  return all;
}

/** Checks that REST v1 lists everything except entries made in error and orders not to give something. */
export async function expectLists(
  service: InProcess,
  record: VariedRecord,
  compared: Compared,
): Promise<void> {
  const { patient, versions, name } = record;
  for (const [list, type] of Object.entries(LISTS) as [List, string][]) {
    const shown = await readAll(service, `${patient.id}/${list}?limit=100`, items);
    for (const item of shown) {
      const stored = versions.find((each) => item.fhir === `${each.type}/${each.id}`)?.resource ?? {};
      const expected = MEMBERS[list](stored);
      for (const [member, value] of Object.entries(expected)) {
        const where = `${name}: ${list}, ${member} of ${item.fhir}, ${JSON.stringify(stored)}`;
        expect(item[member], where).to.equal(value);
        if (value !== null) compared.set(`${list}.${member}`, (compared.get(`${list}.${member}`) ?? 0) + 1);
      }
      expectNamed(item, stored, record);
    }
    const expected = versions
      .filter((each) => each.type === type && each.resource.doNotPerform !== true)
      .filter(({ resource }) => !isMistaken(resource))
      .map(reference);
    const listed = shown.map(({ fhir, version }) => `${fhir}/_history/${version}`);
    expect(listed.sort(), `${name}: ${list}`).to.deep.equal(expected.sort());
  }
}

const isMistaken = (resource: Json): boolean =>
  resource.status === 'entered-in-error' ||
  texts(resource, 'verificationStatus.coding.code').includes('entered-in-error');

/** Checks that the name belongs to the displayed code: it is the author's text, that code's display, or another name. */
function expectNamed(item: Item, stored: Json, { name: where, directory }: VariedRecord): void {
  const [to = ''] = texts(stored, 'medicationReference.reference');
  const contained = read(stored, 'contained').find((each) => `#${texts(each, 'id')[0]}` === to);
  const holder = to === '' ? stored : (contained ?? directory.get(to));
  const path = stored.medicationCodeableConcept === undefined ? 'code' : 'medicationCodeableConcept';
  const [coding] = read(holder, `${path}.coding`).filter((each) => texts(each, 'code')[0] === item.code);
  const isWorded = texts(holder, `${path}.text`).length > 0 || texts(coding, 'display').length === 0;
  const named = isWorded ? nameOf(holder, path) : nameOf({ own: { coding: [coding] } }, 'own');
  const name = named ?? texts(stored, 'medicationReference.display')[0];
  // The terminology may have a name for a code that has none in the resource.
  if (name !== undefined) expect(item.display, `${where}: ${item.fhir}`).to.equal(name);
}

const orNull = (values: readonly unknown[]): unknown => values[0] ?? null;

/** The statements that each list must make about a resource, derived from FHIR's elements (docs/rest.md). */
const MEMBERS: Readonly<Record<List, (stored: Json) => Readonly<Record<string, unknown>>>> = {
  medications: (stored) => ({
    status: orNull(texts(stored, 'status')),
    start: orNull([...texts(stored, 'effectivePeriod.start'), ...texts(stored, 'effectiveDateTime')]),
    end: orNull(texts(stored, 'effectivePeriod.end')),
  }),
  prescriptions: (stored) => ({
    status: orNull(texts(stored, 'status')),
    intent: orNull(texts(stored, 'intent')),
    prescribed_on: orNull(texts(stored, 'authoredOn')),
    end: texts(stored, 'dosageInstruction.timing.repeat.boundsPeriod.end').at(-1) ?? null,
  }),
  conditions: (stored) => ({
    clinical_status: orNull(
      codesOf(stored, 'clinicalStatus', 'http://terminology.hl7.org/CodeSystem/condition-clinical'),
    ),
    onset: changeDate(stored, 'onset') ?? orNull(texts(stored, 'onsetString')),
    abatement: changeDate(stored, 'abatement') ?? orNull(texts(stored, 'abatementString')),
  }),
  observations: (stored) => {
    const [quantity] = read(stored, 'valueQuantity');
    const [value] = read(quantity, 'value');
    const [unit] = [...texts(quantity, 'code'), ...texts(quantity, 'unit')];
    const [comparator] = texts(quantity, 'comparator');
    // A number with a comparator isn't the same as the number itself.
    const limit = [comparator, value, unit].filter((part) => part !== undefined).join(' ');
    return {
      status: orNull(texts(stored, 'status')),
      effective_at: orNull([
        ...texts(stored, 'effectiveDateTime'),
        ...texts(stored, 'effectivePeriod.start'),
      ]),
      ...(quantity === undefined
        ? {}
        : comparator === undefined
          ? { value, unit: unit ?? null }
          : { value: null, value_text: limit }),
      ...texts(stored, 'valueString').reduce((_, text) => ({ value_text: text }), {}),
    };
  },
};

const entries = z.object({
  data: z.array(
    z.object({
      fhir: z.string(),
      kind: z.string(),
      date: z.string(),
      date_means: z.string(),
      title: z.string(),
      summary: z.string().nullable(),
    }),
  ),
  next_cursor: z.string().nullable(),
});

/** The meanings of each type's dates. Dates on which something happened come before dates on which it was recorded. */
const MEANINGS: Readonly<Record<string, readonly (readonly [path: string, means: string])[]>> = {
  Condition: [
    ['onsetDateTime', 'onset'],
    ['onsetPeriod.start', 'onset'],
    ['recordedDate', 'recorded'],
  ],
  AllergyIntolerance: [
    ['onsetDateTime', 'onset'],
    ['onsetPeriod.start', 'onset'],
    ['lastOccurrence', 'last_reaction'],
    ['recordedDate', 'recorded'],
  ],
  MedicationStatement: [
    ['effectiveDateTime', 'taken'],
    ['effectivePeriod.start', 'taken'],
    ['effectivePeriod.end', 'taken'],
    ['dateAsserted', 'recorded'],
  ],
  MedicationRequest: [['authoredOn', 'prescribed']],
  Immunization: [
    ['occurrenceDateTime', 'given'],
    ['recorded', 'recorded'],
  ],
  Observation: [
    ['effectiveDateTime', 'measured'],
    ['effectivePeriod.start', 'measured'],
    ['issued', 'reported'],
  ],
};

const KINDS = 'condition,allergy,medication,prescription,immunization,observation';

/** Checks the timeline: each entry's day and the meaning of that day, its state, and the value of a result. */
export async function expectTimeline(
  service: InProcess,
  record: VariedRecord,
  compared: Compared,
): Promise<void> {
  const { patient, versions, name } = record;
  const shown = await readAll(service, `${patient.id}/timeline?limit=100&kinds=${KINDS}`, entries);
  const known = new Map(versions.map((each) => [`${each.type}/${each.id}`, each]));
  for (const { fhir, date, date_means: means, summary, title } of shown) {
    const version = known.get(fhir);
    const where = `${name}: ${fhir}, ${title}, ${summary}: ${JSON.stringify(version?.resource)}`;
    if (version === undefined) expect.fail(where);
    const [first] = (MEANINGS[version.type] ?? []).flatMap(([path, own]) =>
      texts(version.resource, path).map((said) => ({ said, own })),
    );
    expect(means, where).to.equal(first?.own ?? 'entered');
    if (first !== undefined) expect(date, where).to.equal(first.said);
    compared.set(`timeline.${means}`, (compared.get(`timeline.${means}`) ?? 0) + 1);
    for (const state of statesOf(version)) expect(summary?.split(', '), where).to.include(state);
    const value = tellValue(version);
    if (version.type === 'Observation' && value.parts.length > 0)
      expect(isSaid(value, summary ?? ''), where).to.equal(true);
  }
  const expected = versions
    .filter(({ type, resource }) => MEANINGS[type] !== undefined && !isMistaken(resource))
    .filter(({ resource }) => resource.doNotPerform !== true)
    .filter(
      ({ resource }) => !mentions(resource, 'modifierExtension') && !mentions(resource, 'implicitRules'),
    )
    .filter(({ resource }) => !texts(resource, 'verificationStatus.coding.code').includes('refuted'))
    .map(({ type, id }) => `${type}/${id}`);
  const listed = new Set(shown.map(({ fhir }) => fhir));
  expect(
    expected.filter((each) => !listed.has(each)),
    `${name}: not in the timeline`,
  ).to.deep.equal([]);
}

/** Returns the codes for an entry's state that its summary may name. */
function statesOf({ type, resource }: Version): string[] {
  if (type.startsWith('Medication')) return texts(resource, 'status');
  if (type !== 'Condition' && type !== 'AllergyIntolerance') return [];
  const certainty = texts(resource, 'verificationStatus.coding.code').filter((code) => code !== 'confirmed');
  return [...texts(resource, 'clinicalStatus.coding.code'), ...certainty];
}
