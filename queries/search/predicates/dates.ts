/**
 * Dates in searches: prefixes and implicit precision, https://hl7.org/fhir/R4/search.html#date. Dates without an offset are in
 * UTC.
 */

import { type Period, parsePeriod } from '#src/fhir/search/period.ts';
import { cut } from '#src/shared/cut.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { badParameter } from '../raw.ts';

/** Search prefixes. */
export type Prefix = 'eq' | 'ne' | 'gt' | 'lt' | 'ge' | 'le' | 'sa' | 'eb' | 'ap';

const PREFIXED = /^(eq|ne|gt|lt|ge|le|sa|eb|ap)?(?=\d)(.*)$/s;

/**
 * Splits the prefix from a date.
 * @param name the parameter, for the refusal
 * @throws Refusal `malformed` for an invalid FHIR date
 */
export function parsePrefixedDate(name: string, text: string): { prefix: Prefix; period: Period } {
  const [, prefix, date] = PREFIXED.exec(text) ?? [];
  const period = date === undefined ? undefined : parsePeriod(date);
  if (period === undefined) throw badParameter(name, notDate(text));
  return { prefix: (prefix ?? 'eq') as Prefix, period };
}

/**
 * Returns the message for text that isn't a date, with an example of a date.
 * @param text the text from the request, of any length
 */
export function notDate(text: string): string {
  return `\`${cut(text, 40)}\` is not a FHIR date or instant; write for example 2026-03-31, 2026-03 or 2026-03-31T09:30:00Z`;
}

/** The bounds [from, to) within which a time must be or, for `ne`, must not be. */
export interface Bounds {
  readonly from?: Micros;
  readonly to?: Micros;
  readonly outside?: Period;
}

/**
 * Returns the bounds of the times that match a prefixed date, for values that are points in time.
 * @param now used for `ap`: the tolerance is a tenth of the distance between now and the date
 */
export function bounds(prefix: Prefix, period: Period, now: Micros): Bounds {
  // Times are whole microseconds: if a date is finer than that, the microsecond that contains it began before the date.
  const after = period.isWithin === true ? period.to : period.from;
  switch (prefix) {
    case 'eq':
      return period;
    case 'ne':
      return { outside: period };
    case 'gt':
    case 'sa':
      return { from: period.to };
    case 'ge':
      return { from: after };
    case 'lt':
    case 'eb':
      return { to: after };
    case 'le':
      return { to: period.to };
    case 'ap': {
      const slack = Math.round(Math.abs(now - period.from) / 10);
      return { from: period.from - slack, to: period.to + slack };
    }
  }
}
