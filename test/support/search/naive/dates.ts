/** Compares dates: https://hl7.org/fhir/R4/search.html#date */
import { type Interval, prefixHolds, splitPrefix } from './interval.ts';
import type { Json } from './published.ts';

/** Returns the interval of a date's text, in milliseconds; UTC is assumed if there is no time zone. */
export function intervalOf(text: string): Interval {
  const [date = '', time] = text.split('T');
  const [year = 0, month, day] = date.split('-').map(Number);
  const utc = (y: number, m: number, d: number) => Date.UTC(y, m - 1, d);
  if (month === undefined) return { low: utc(year, 1, 1), high: utc(year + 1, 1, 1) };
  if (day === undefined) return { low: utc(year, month, 1), high: utc(year, month + 1, 1) };
  if (time === undefined) return { low: utc(year, month, day), high: utc(year, month, day + 1) };
  const [, clock = '', zone = 'Z'] = /^([\d:.]+)(Z|[+-]\d\d:\d\d)?$/.exec(time) ?? [];
  const [hour = 0, minute = 0, second = '0'] = clock
    .split(':')
    .map((part, at) => (at < 2 ? Number(part) : part));
  const sign = zone.startsWith('-') ? -1 : 1;
  const [zoneHour = 0, zoneMinute = 0] = zone === 'Z' ? [0, 0] : zone.slice(1).split(':').map(Number);
  const offset = sign * (zoneHour * 60 + zoneMinute) * 60_000;
  const [whole = '0', fraction] = String(second).split('.');
  const start = utc(year, month, day) + Number(hour) * 3_600_000 + Number(minute) * 60_000 - offset;
  const precise = start + Number(whole) * 1000;
  if (clock.split(':').length === 2) return { low: start, high: start + 60_000 };
  if (fraction === undefined) return { low: precise, high: precise + 1000 };
  const unit = 10 ** (3 - fraction.length);
  return { low: precise + Number(fraction) * unit, high: precise + (Number(fraction) + 1) * unit };
}

/** Returns the interval of an element: a text, a Period, or a Timing, in which only the earliest and latest limits count. */
function timeOf(element: unknown): Interval | undefined {
  if (typeof element === 'string') return /^\d{4}/.test(element) ? intervalOf(element) : undefined;
  const { start, end, event, repeat } = element as {
    start?: string;
    end?: string;
    event?: readonly string[];
    repeat?: { boundsPeriod?: Json };
  };
  if (event !== undefined || repeat !== undefined) {
    const bounds = repeat?.boundsPeriod === undefined ? undefined : timeOf(repeat.boundsPeriod);
    const times = [...(event ?? []).map(intervalOf), ...(bounds === undefined ? [] : [bounds])];
    if (times.length === 0) return undefined;
    return {
      low: Math.min(...times.map(({ low }) => low)),
      high: Math.max(...times.map(({ high }) => high)),
    };
  }
  if (start === undefined && end === undefined) return undefined;
  return {
    low: start === undefined ? Number.NEGATIVE_INFINITY : intervalOf(start).low,
    high: end === undefined ? Number.POSITIVE_INFINITY : intervalOf(end).high,
  };
}

/** Returns whether an element matches a date with a prefix. */
export function dateMatches(element: unknown, text: string): boolean {
  const [prefix, date] = splitPrefix(text);
  const target = timeOf(element);
  return target !== undefined && prefixHolds(prefix, intervalOf(date), target);
}
