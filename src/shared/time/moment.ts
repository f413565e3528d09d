/** Points in time as of which a record can be shown, and how they are written. */
import { type Micros, toMicros } from './time.ts';

/** A point in time: an event's recorded time, its revision in the record's stream, or its position in the log. */
export type Moment =
  | { readonly kind: 'time'; readonly micros: Micros }
  | { readonly kind: 'revision'; readonly revision: number }
  | { readonly kind: 'position'; readonly position: string };

/**
 * Parses a point in time: `2026-03-01` (the whole day, UTC), a date-time with an offset, `revision:12`, or `position:…` in the
 * event store's notation.
 * @returns undefined if the text is none of these
 */
export function parseMoment(text: string): Moment | undefined {
  const [, revision] = /^revision:(\d+)$/.exec(text) ?? [];
  if (revision !== undefined) return { kind: 'revision', revision: Number(revision) };
  const [, position] = /^position:(\S+)$/.exec(text) ?? [];
  if (position !== undefined) return { kind: 'position', position };
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    const day = toMicros(`${text}T00:00:00Z`);
    return isCalendarDay(text) ? { kind: 'time', micros: day + 86_400_000_000 - 1 } : undefined;
  }
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text)) return undefined;
  const micros = toMicros(text);
  return Number.isNaN(micros) || !isCalendarDay(text.slice(0, 10)) ? undefined : { kind: 'time', micros };
}

/**
 * Returns what is wrong with a text that `parseMoment` rejects, as the rest of a sentence that begins with the text; undefined
 * if that is uncertain.
 */
export function faultOfMoment(text: string): string | undefined {
  const lacksOffset = text.includes('T') && parseMoment(`${text}Z`) !== undefined;
  return lacksOffset ? `needs a time zone, for example ${text}Z or ${text}+02:00` : undefined;
}

/** JavaScript parses February 30 as March 2. */
function isCalendarDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
