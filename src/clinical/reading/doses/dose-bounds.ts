/** Reads the bounds of dosages (`Timing.repeat.boundsPeriod`): whether a medicine is taken yet, or still. */
import { first, objects, text } from '#src/fhir/parts.ts';
import type { Json } from '#src/shared/json/json-value.ts';
import { isFuture, isPast } from '../dates.ts';

/** Tells whether all dosages have bounds that are over. */
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

/** Tells whether all dosages have bounds that have not begun. */
export function beginsLater(dosage: Json | undefined, today: string): boolean {
  const all = objects(dosage);
  return (
    all.length > 0 &&
    all.every(({ timing }) => {
      const { boundsPeriod } = first(first(timing)?.repeat) ?? {};
      const start = text(first(boundsPeriod)?.start);
      if (start === undefined) return false;
      return start.includes('T') ? isAfterTomorrow(start, today) : isFuture(start, today);
    })
  );
}

/** Tells whether a date is after the next day: somewhere on earth, that one has begun. */
export function isAfterTomorrow(date: string | undefined, today: string): boolean {
  if (date === undefined) return false;
  return isFuture(date, new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10));
}
