/** Parses times in messages (DT, DTM, TS, TM): HL7 v2 chapter 2A. */

import type { Zone } from '../zones.ts';

/** A time in ISO 8601, with the precision with which it was sent. */
export interface Moment {
  /** `2026`, `2026-03`, `2026-03-31`, or a date and time with its offset. */
  readonly iso: string;
  /** True if the time was sent without an offset. The offset is then taken from the message or the zone, or is UTC. */
  readonly assumed: boolean;
  /** True if the time doesn't exist in the zone because its clocks skip it. */
  readonly skipped?: boolean;
}

const HL7 = /^(\d{4})(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:\.(\d{0,9}))?)?)?)?)?)?(Z|[+-]\d{4})?$/;
const TIME = /^(\d\d)(?:(\d\d)(?:(\d\d)(?:\.(\d{1,9}))?)?)?(?:Z|[+-]\d{4})?$/;

/**
 * Parses a time: `YYYY[MM[DD[HH[MM[SS[.S…]]]]]][±ZZZZ]`, and common forms of ISO 8601.
 * @param zone offset for times without one, such as `+02:00`, or the zone that these times are in
 * @returns undefined for an invalid text. Doesn't check that the day exists.
 */
export function readMoment(text: string, zone?: string | Zone): Moment | undefined {
  const compact = text.trim().replace(/(\d)[T ](?=\d)/, '$1');
  const plain = /^\d{4}-\d\d/.test(compact) ? dashless(compact) : compact;
  const [, year, month, day, hour, minute = '00', second = '00', fraction, offset] = HL7.exec(plain) ?? [];
  if (year === undefined) return undefined;
  if (month === undefined || month === '00') return { iso: year, assumed: false };
  if (day === undefined || day === '00') return { iso: `${year}-${month}`, assumed: false };
  const date = `${year}-${month}-${day}`;
  if (hour === undefined) return { iso: date, assumed: false };
  const seconds = fraction ? `${second}.${fraction}` : second;
  const of = formatOffset(offset);
  const local = `${date}T${hour}:${minute}:${seconds}`;
  if (of !== undefined) return { iso: `${local}${of}`, assumed: false };
  if (typeof zone !== 'function') return { iso: `${local}${zone ?? 'Z'}`, assumed: true };
  const { offset: own, skipped } = zone(`${date}T${hour}:${minute}:${second}`);
  return { iso: `${local}${own}`, assumed: true, skipped };
}

/**
 * Returns the date at the start of a text, such as `2026-03-31`; undefined if the text doesn't start with a date. Doesn't
 * check that the day exists.
 */
export function readDay(text: string): string | undefined {
  const [, year, month, day] = /^(\d{4})-?(\d\d)-?(\d\d)/.exec(text.trim()) ?? [];
  return year === undefined ? undefined : `${year}-${month}-${day}`;
}

/** Returns the offset of a time, such as `+02:00`; undefined if it has none. */
export function readZone(text: string): string | undefined {
  const [offset] = /(?:Z|[+-]\d\d:?\d\d)$/.exec(text.trim().replace(/^\d{4}-\d\d(?:-\d\d)?/, '')) ?? [];
  return formatOffset(offset?.replace(':', ''));
}

/** Returns `hh:mm:ss`; undefined if the text isn't a time of day. */
export function readClock(text: string): string | undefined {
  const [, hour, minute = '00', second = '00', fraction] = TIME.exec(text.trim().replaceAll(':', '')) ?? [];
  if (hour === undefined) return undefined;
  return `${hour}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}`;
}

/** Removes the separators that HL7 omits from a time such as `2026-03-31T09:30:00+02:00`; the sign of the offset stays. */
function dashless(text: string): string {
  const date = text.slice(0, 10).replaceAll('-', '');
  return date + text.slice(10).replaceAll(':', '');
}

function formatOffset(offset: string | undefined): string | undefined {
  if (offset === undefined || offset === 'Z') return offset;
  return `${offset.slice(0, 3)}:${offset.slice(3)}`;
}
