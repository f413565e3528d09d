/** Converts conditions between REST v1 and FHIR (docs/spec/decisions.md, section 4). Pure. */
import type { JsonObject } from '#src/shared/json/json.ts';
import {
  type GivenCode,
  ICD_10,
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

const CLINICAL = 'http://terminology.hl7.org/CodeSystem/condition-clinical';

/** A condition in a request. */
export interface GivenCondition extends GivenCode {
  readonly clinical_status: string;
  readonly onset?: string | undefined;
  readonly abatement?: string | undefined;
  readonly note?: string | undefined;
}

/** A condition in an answer. */
export interface ShownCondition extends ShownCode {
  readonly clinical_status: string | null;
  readonly onset: string | null;
  readonly abatement: string | null;
  readonly note: string | null;
}

/**
 * Returns a new Condition.
 * @param subject `Patient/<id>`
 */
export function toCondition(given: GivenCondition, subject: string): JsonObject {
  return {
    resourceType: 'Condition',
    clinicalStatus: { coding: [{ system: CLINICAL, code: given.clinical_status }] },
    code: toConcept(given, ICD_10),
    subject: { reference: subject },
    ...present({ onsetDateTime: given.onset, abatementDateTime: given.abatement }),
    ...toNote(given.note),
  };
}

/** Returns a Condition in the form that v1 shows. */
export function shownCondition(condition: JsonObject): ShownCondition {
  const [status] = listIn(objectIn(condition.clinicalStatus).coding).filter(
    ({ system }) => system === CLINICAL,
  );
  const { start, end } = objectIn(condition.onsetPeriod);
  const { start: from, end: until } = objectIn(condition.abatementPeriod);
  return {
    ...shownConcept(condition.code, ICD_10),
    clinical_status: textIn(status?.code),
    onset: textIn(condition.onsetDateTime) ?? textIn(start) ?? textIn(end) ?? textIn(condition.onsetString),
    abatement:
      textIn(condition.abatementDateTime) ??
      textIn(until) ??
      textIn(from) ??
      textIn(condition.abatementString),
    note: shownNote(condition.note),
  };
}
