/**
 * The date on which the event that a resource describes happened or began (docs/spec/decisions.md, section 4: the
 * timeline). Pure.
 */

import type { JsonObject } from '#src/shared/json/json.ts';
import { type Days, readDays } from '#src/shared/time/day.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { happened, type Meaning } from '../clinical/reading/dates.ts';
import { parsePeriod } from '../fhir/search/period.ts';

/** A date as the resource writes it, and its first microsecond for sorting; without an offset it is read as UTC. */
export interface EventDate {
  readonly date: string;
  readonly at: Micros;
  readonly means: Meaning;
  /** The days that it is written for. */
  readonly days: Days;
}

/** Returns the date of a resource, or undefined. A Period counts by its start, or its end if it has no start. */
export function readEventDate(type: string, value: JsonObject): EventDate | undefined {
  const { date, means } = happened({ type, value });
  const period = date === null ? undefined : parsePeriod(date);
  return date === null || period === undefined
    ? undefined
    : { date, at: period.from, means, days: readDays(date) };
}
