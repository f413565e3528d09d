/** Converts medications between REST v1 and MedicationStatements (docs/spec/decisions.md, section 4). Pure. */
import { isUuid } from '#src/shared/ids.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { dosage } from '../clinical/reading/words.ts';
import {
  ATC,
  type GivenCode,
  listIn,
  objectIn,
  present,
  type ShownCode,
  shownConcept,
  shownNote,
  textIn,
  toConcept,
  toNote,
} from './elements.ts';

/** A medication in a request: a code, a text, or both. */
export interface GivenMedication extends GivenCode {
  readonly status: string;
  readonly dosage?: string | undefined;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly note?: string | undefined;
}

/** A medication in an answer. */
export interface ShownMedication extends ShownCode {
  readonly status: string | null;
  readonly dosage: string | null;
  readonly start: string | null;
  readonly end: string | null;
  readonly note: string | null;
}

/**
 * Returns a new MedicationStatement.
 * @param subject `Patient/<id>`
 */
export function toMedication(given: GivenMedication, subject: string): JsonObject {
  const { status, dosage, start, end, note } = given;
  const period = present({ start, end });
  return {
    resourceType: 'MedicationStatement',
    status,
    medicationCodeableConcept: toConcept(given, ATC),
    subject: { reference: subject },
    ...(Object.keys(period).length === 0 ? {} : { effectivePeriod: period }),
    ...(dosage === undefined ? {} : { dosage: [{ text: dosage }] }),
    ...toNote(note),
  };
}

/** Returns the medication's concept, or the code from the Medication that the statement contains. */
export function medicationConcept({
  medicationCodeableConcept,
  medicationReference,
  contained,
}: JsonObject): Json | undefined {
  const { reference } = objectIn(medicationReference);
  const within = listIn(contained).find(({ id }) => typeof id === 'string' && `#${id}` === reference);
  return medicationCodeableConcept ?? within?.code;
}

/** A reference to a resource, or to one of its versions. */
export interface Referred {
  readonly id: string;
  readonly version: number | undefined;
}

const MEDICATION = /(?:^|\/)Medication\/([^/]+)(?:\/_history\/(\d{1,9}))?$/;

/** Returns the Medication in the directory to which a statement refers; undefined if the statement names the drug itself. */
export function medicationReferred(statement: JsonObject): Referred | undefined {
  if (medicationConcept(statement) !== undefined) return undefined;
  const { reference } = objectIn(statement.medicationReference);
  const [, id = '', version] = MEDICATION.exec(textIn(reference) ?? '') ?? [];
  if (!isUuid(id)) return undefined;
  return { id, version: version === undefined ? undefined : Number(version) };
}

/** Returns the members of a statement's answer that come from its Medication. */
export function medicationNames({ code }: JsonObject): Partial<ShownCode> {
  const shown = Object.entries(shownConcept(code, ATC));
  return Object.fromEntries(shown.filter(([, said]) => said !== null));
}

/**
 * Returns a MedicationStatement in the form that v1 shows. If it refers to a Medication, its display comes from the reference;
 * the Medication's `medicationNames` take precedence.
 */
export function shownMedication(statement: JsonObject): ShownMedication {
  const { medicationReference, effectivePeriod, effectiveDateTime } = statement;
  const concept = shownConcept(medicationConcept(statement), ATC);
  const dosages = listIn(statement.dosage).flatMap((each) => dosage(each) ?? []);
  return {
    ...concept,
    display: concept.display ?? textIn(objectIn(medicationReference).display),
    status: textIn(statement.status),
    dosage: dosages.length === 0 ? null : dosages.join('\n'),
    start: textIn(objectIn(effectivePeriod).start) ?? textIn(effectiveDateTime),
    end: textIn(objectIn(effectivePeriod).end),
    note: shownNote(statement.note),
  };
}
