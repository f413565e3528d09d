/**
 * Builds a summary's Composition, with its author and custodian.
 * https://hl7.org/fhir/uv/ips/STU2/StructureDefinition-Composition-uv-ips.html
 */
import { v5 } from 'uuid';
import { shownName } from '#src/fhir/human-name.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { LOINC, objects, text } from '../../fhir/parts.ts';
import { day, joined, moment } from '../reading/words.ts';
import type { LeftOut } from './classify.ts';
import { escaped, type Narrative, narrative, paragraph } from './narrative.ts';
import { pastText } from './not-listed.ts';
import type { Section, SectionName } from './section.ts';

/** The profile that summaries conform to. */
export const COMPOSITION_PROFILE = 'http://hl7.org/fhir/uv/ips/StructureDefinition/Composition-uv-ips';
/** The profile's version. */
export const IPS_VERSION = '2.0.0';

/** A section and its entries. */
export interface Filled {
  readonly section: Section;
  readonly text: Narrative;
  /** The full URLs of the section's entries. */
  readonly entries: readonly string[];
}

/** The inputs for a Composition. */
export interface Composed {
  /** A UUID. */
  readonly id: string;
  /** The time at which the summary is generated, in microseconds. */
  readonly now: number;
  readonly base: string;
  readonly patient: JsonObject;
  readonly patientUrl: string;
  readonly sections: readonly Filled[];
  readonly leftOut: ReadonlyMap<LeftOut, number>;
  /** The number of past entries by section, for sections that the summary doesn't have. */
  readonly pastElsewhere: ReadonlyMap<SectionName, number>;
  /** False if a grant covers only part of the record. */
  readonly isWhole: boolean;
}

/** Returns an id derived from a text; the same text always gives the same id. */
export function derivedId(text: string): string {
  return v5(text, v5.URL);
}

/** Returns the Device that represents the service as the documents' author. */
export function authorDevice(base: string): JsonObject {
  return {
    resourceType: 'Device',
    id: derivedId(`${base}#author`),
    identifier: [{ system: 'urn:ietf:rfc:3986', value: base }],
    deviceName: [{ name: 'Annal', type: 'user-friendly-name' }],
    type: { text: 'Health record service' },
  };
}

/** Returns the Organization that represents the service as the documents' custodian. */
export function custodian(base: string): JsonObject {
  return {
    resourceType: 'Organization',
    id: derivedId(`${base}#custodian`),
    identifier: [{ system: 'urn:ietf:rfc:3986', value: base }],
    name: `Annal at ${URL.canParse(base) ? new URL(base).host : base}`,
  };
}

/** Returns the Composition. */
export function composition(made: Composed): JsonObject {
  const { id, now, base, patient, patientUrl, sections } = made;
  const urn = (resource: JsonObject): JsonObject => ({ reference: `urn:uuid:${String(resource.id)}` });
  const name = shownName(patient.name);
  return {
    resourceType: 'Composition',
    id,
    meta: { profile: [`${COMPOSITION_PROFILE}|${IPS_VERSION}`] },
    text: { ...overview(made, name) },
    identifier: { system: 'urn:ietf:rfc:3986', value: `urn:uuid:${id}` },
    status: 'final',
    type: { coding: [{ system: LOINC, code: '60591-5' }], text: 'Patient summary' },
    subject: { reference: patientUrl, ...(name === undefined ? {} : { display: name }) },
    date: toInstant(now),
    author: [urn(authorDevice(base))],
    title: name === undefined ? 'International Patient Summary' : `International Patient Summary of ${name}`,
    confidentiality: 'N',
    custodian: urn(custodian(base)),
    section: sections.map(makeSection),
  };
}

function makeSection({ section: { title, code }, text: narrated, entries }: Filled): Json {
  const content: JsonObject =
    entries.length > 0
      ? { entry: entries.map((reference) => ({ reference })) }
      : { emptyReason: UNAVAILABLE };
  return {
    title,
    code: { coding: [{ system: LOINC, code }], text: title },
    text: { ...narrated },
    ...content,
  };
}

/**
 * The `emptyReason` for an empty section. The section isn't empty because the record says that there is nothing, but because
 * it says nothing (docs/spec/decisions.md, section 5).
 */
const UNAVAILABLE = {
  coding: [
    {
      system: 'http://terminology.hl7.org/CodeSystem/list-empty-reason',
      code: 'unavailable',
      display: 'Unavailable',
    },
  ],
};

/** Returns a narrative that names the summary's subject, its time, and the number of entries that it leaves out. */
function overview(
  { patient, now, leftOut, pastElsewhere, isWhole }: Composed,
  name: string | undefined,
): Narrative {
  const identifiers = objects(patient.identifier).map(({ value, system }) =>
    joined([text(value), text(system) === undefined ? undefined : `(${text(system)})`], ' '),
  );
  const rows = [
    ['Name', name ?? 'not known'],
    ['Born', day(patient.birthDate) ?? 'not known'],
    ['Died', day(patient.deceasedDateTime) ?? (patient.deceasedBoolean === true ? 'yes' : undefined)],
    ['Gender', text(patient.gender)],
    ['Identifiers', joined(identifiers)],
    ['Made', moment(toInstant(now))],
  ].flatMap(([heading = '', value]) =>
    value === undefined ? [] : [`<tr><th>${heading}</th><td>${escaped(value)}</td></tr>`],
  );
  const counts = [
    ...[...leftOut].map(([reason, count]) => `${count} ${reason}`),
    ...[...pastElsewhere].flatMap(([section, count]) => pastText(section, count) ?? []),
  ];
  return narrative([
    `<table><tbody>${rows.join('')}</tbody></table>`,
    ...(isWhole
      ? []
      : [paragraph('Made of the part of the record that the grant of this application covers.')]),
    ...(counts.length === 0 ? [] : [paragraph(`Left out of this summary: ${counts.join(', ')}.`)]),
  ]);
}
