/** Time as events record it: UTC with microseconds, so that the order of text is the order of time. */

/** Microseconds since 1970, a safe integer until the year 2255. */
export type Micros = number;

/** Now, to the microsecond as far as the platform tells. */
export function nowMicros(): Micros {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000);
}

/** `2026-11-21T09:30:00.123456Z`: a FHIR instant. */
export function toInstant(micros: Micros): string {
  const ms = Math.floor(micros / 1000);
  const rest = String(micros - ms * 1000).padStart(3, '0');
  return `${new Date(ms).toISOString().slice(0, -1)}${rest}Z`;
}

/** The inverse of `toInstant`; also takes instants of less precision or with an offset. NaN when it is none. */
export function toMicros(instant: string): Micros {
  const fraction = /\.(\d+)/.exec(instant)?.[1] ?? '';
  const whole = Date.parse(fraction === '' ? instant : instant.replace(`.${fraction}`, ''));
  return whole * 1000 + Number(`${fraction}000000`.slice(0, 6));
}
