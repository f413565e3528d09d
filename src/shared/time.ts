/** Time as events record it: UTC with microseconds, so that the order of text is the order of time. */

/** Microseconds since 1970, a safe integer until the year 2255. */
export type Micros = number;

/** Now, to the microsecond as far as the platform tells. */
export function nowMicros(): Micros {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000);
}

/** The second that was asked for last: what happens together is written, and read, together. */
let known = { second: 0, text: '1970-01-01T00:00:00' };

function textOf(second: number): string {
  if (second !== known.second) {
    known = { second, text: new Date(second * 1000).toISOString().slice(0, -'.000Z'.length) };
  }
  return known.text;
}

/** `2026-11-21T09:30:00.123456Z`: a FHIR instant. */
export function toInstant(micros: Micros): string {
  const second = Math.floor(micros / 1_000_000);
  return `${textOf(second)}.${String(micros - second * 1_000_000).padStart(6, '0')}Z`;
}

const OURS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** The inverse of `toInstant`; also takes instants of less precision or with an offset. NaN when it is none. */
export function toMicros(instant: string): Micros {
  if (OURS.test(instant)) {
    const text = instant.slice(0, 19);
    const second = text === known.text ? known.second : Date.parse(`${text}Z`) / 1000;
    if (!Number.isNaN(second)) textOf(second);
    return second * 1_000_000 + Number(instant.slice(20, 26));
  }
  const fraction = /\.(\d+)/.exec(instant)?.[1] ?? '';
  const whole = Date.parse(fraction === '' ? instant : instant.replace(`.${fraction}`, ''));
  return whole * 1000 + Number(`${fraction}000000`.slice(0, 6));
}
