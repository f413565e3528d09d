/** Reads the bounds of dosages (`Timing.repeat.boundsPeriod`): whether a medicine is already taken, and whether it still is. */
import { first, objects, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import { isFuture, isPast } from '../dates.ts';

/** Returns whether all dosages have bounds that have ended. */
export function isBounded(dosage: Json | undefined, today: string): boolean {
  const all = objects(dosage);
  return (
    all.length > 0 &&
    all.every(({ timing }) => {
      const { boundsPeriod } = first(first(timing)?.repeat) ?? {};
      const end = text(first(boundsPeriod)?.end);
      return end !== undefined && isPast(end, today);
    })
  );
}

/** Returns whether all dosages have bounds that haven't begun. */
export function beginsLater(dosage: Json | undefined, today: string): boolean {
  const starts = readStarts(dosage);
  return starts.length > 0 && starts.every((start) => isToCome(start, today));
}

function readStarts(dosage: Json | undefined): (string | undefined)[] {
  return objects(dosage).map(({ timing }) => {
    const { boundsPeriod } = first(first(timing)?.repeat) ?? {};
    return text(first(boundsPeriod)?.start);
  });
}

function isToCome(start: string | undefined, today: string): boolean {
  if (start === undefined) return false;
  return start.includes('T') ? isAfterTomorrow(start, today) : isFuture(start, today);
}

/**
 * Returns when a MedicationRequest becomes valid, if that is later. Nothing may be dispensed before that day
 * (https://hl7.org/fhir/R4/medicationrequest-definitions.html#MedicationRequest.dispenseRequest.validityPeriod). Undefined if
 * bounds of a dosage say that the medicine is already taken.
 */
export function readLaterValidity(
  { dispenseRequest, dosageInstruction }: JsonObject,
  today: string,
): string | undefined {
  const { validityPeriod } = first(dispenseRequest) ?? {};
  const start = text(first(validityPeriod)?.start);
  const isTaken = readStarts(dosageInstruction).some((each) => each !== undefined && !isToCome(each, today));
  return isTaken || !isToCome(start, today) ? undefined : start;
}

/** Returns whether a date is later than tomorrow. Tomorrow itself has already begun somewhere on earth. */
export function isAfterTomorrow(date: string | undefined, today: string): boolean {
  if (date === undefined) return false;
  return isFuture(date, new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10));
}
