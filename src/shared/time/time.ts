/** Times as events record them: in UTC with microseconds, so that sorting their texts sorts them by time. */

/** Microseconds since 1970, a safe integer until the year 2255. */
export type Micros = number;

/** Returns the current time, as precisely as the platform provides it. */
export function nowMicros(): Micros {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000);
}

/** The second that was printed last: times that are printed in sequence are often close together. */
let known = { second: 0, text: '1970-01-01T00:00:00' };

function formatSecond(second: number): string {
  if (second !== known.second) {
    known = { second, text: new Date(second * 1000).toISOString().slice(0, -'.000Z'.length) };
  }
  return known.text;
}

/** Returns a FHIR instant: `2026-11-21T09:30:00.123456Z`. */
export function toInstant(micros: Micros): string {
  const second = Math.floor(micros / 1_000_000);
  return `${formatSecond(second)}.${String(micros - second * 1_000_000).padStart(6, '0')}Z`;
}

const OURS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** Parses an instant, which may have less precision or an offset; NaN if the instant is invalid. */
export function toMicros(instant: string): Micros {
  if (OURS.test(instant)) {
    const text = instant.slice(0, 19);
    const second = text === known.text ? known.second : Date.parse(`${text}Z`) / 1000;
    if (!Number.isNaN(second)) formatSecond(second);
    return second * 1_000_000 + Number(instant.slice(20, 26));
  }
  const fraction = /\.(\d+)/.exec(instant)?.[1] ?? '';
  const whole = Date.parse(fraction === '' ? instant : instant.replace(`.${fraction}`, ''));
  return whole * 1000 + Number(`${fraction}000000`.slice(0, 6));
}
