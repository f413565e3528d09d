/** Finds dates that precede what they must follow. The order within a Period is an invariant of R4, and refused. */
import type { Implausible, ImplausibleCode } from '#src/shared/implausible.ts';
import type { JsonObject } from '#src/shared/json.ts';
import type { Micros } from '#src/shared/time.ts';
import { parsePeriod } from '../fhir/search/period.ts';
import { datesAt } from './element-dates.ts';

/** Two elements of which the second never precedes the first. */
interface Order {
  readonly first: string;
  readonly next: string;
  readonly code: ImplausibleCode;
  /** The element that is named. */
  readonly named: 'first' | 'next';
  readonly say: (first: string, next: string) => string;
}

const after = (first: string, next: string, words: string): Order => ({
  first,
  next,
  code: 'dates_out_of_order',
  named: 'next',
  say: (early, late) => `${late} is before ${words} (${early})`,
});

const NONE: readonly Implausible[] = [];

const ORDERS: Readonly<Record<string, readonly Order[]>> = {
  Patient: [
    {
      first: 'birthDate',
      next: 'deceasedDateTime',
      code: 'born_after_death',
      named: 'first',
      say: (born, died) => `${born} is after the date of death (${died})`,
    },
  ],
  Condition: [
    after('onsetDateTime', 'abatementDateTime', 'the onset'),
    after('onsetPeriod.start', 'abatementDateTime', 'the onset'),
    after('onsetDateTime', 'abatementPeriod.start', 'the onset'),
  ],
  AllergyIntolerance: [after('onsetDateTime', 'lastOccurrence', 'the onset')],
  Specimen: [after('collection.collectedDateTime', 'receivedTime', 'the collection')],
};

/** Returns a fault for each date of a resource that precedes what it must follow. */
export function misorderedDates(resource: JsonObject, type: string): readonly Implausible[] {
  const orders = ORDERS[type];
  if (orders === undefined) return NONE;
  return orders.flatMap(({ first, next, code, named, say }): Implausible[] => {
    const [early] = datesAt(resource, type, first.split('.'));
    const [late] = early === undefined ? [] : datesAt(resource, type, next.split('.'));
    if (early === undefined || late === undefined || !precedes(late.text, early.text)) return [];
    const { path } = named === 'first' ? early : late;
    return [{ code, element: path, message: say(early.text, late.text) }];
  });
}

const DAY = 'YYYY-MM-DD'.length;

/** What a date without a time may lie before or after the same date in UTC: time zones are at most 14 hours from it. */
const WIDEST_OFFSET: Micros = 14 * 3_600 * 1_000_000;

/**
 * Tells whether a date certainly precedes another: days and months by what is written, moments by their instants, a day
 * and a moment in whichever time zone the day is meant.
 */
function precedes(one: string, other: string): boolean {
  const [a, b] = [parsePeriod(one), parsePeriod(other)];
  if (a === undefined || b === undefined) return false;
  const [length, longest] = [Math.min(one.length, other.length), Math.max(one.length, other.length)];
  if (longest <= DAY) return one.slice(0, length) < other.slice(0, length);
  return a.to + (length <= DAY ? WIDEST_OFFSET : 0) <= b.from;
}
