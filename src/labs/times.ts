/**
 * Accepts only times that exist in the calendar, as FHIR requires (https://hl7.org/fhir/R4/datatypes.html#dateTime).
 */
import { isDateTime, isInstant, isTime } from '../fhir/validation/primitives.ts';

const FORMS = { dateTime: isDateTime, instant: isInstant, time: isTime } as const;

/** Returns the text if it is a valid time in the given form; otherwise undefined. */
export function fhirTime(text: string | undefined, form: keyof typeof FORMS): string | undefined {
  return text !== undefined && FORMS[form](text) ? text : undefined;
}

/** Returns the latest of the given times. */
export function latest(times: readonly (string | undefined)[]): string | undefined {
  return times.reduce((last, time) => (last === undefined || isAfter(time, last) ? time : last), undefined);
}

/** Returns whether the first time is later than the second. */
export function isAfter(time: string | undefined, other: string | undefined): boolean {
  return time !== undefined && other !== undefined && Date.parse(time) > Date.parse(other);
}
