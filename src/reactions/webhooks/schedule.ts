/** Schedules retries of failed deliveries (docs/spec/decisions.md, section 6). Pure. */

/** Time after the first attempt at which a delivery ends, whatever its count, in seconds. */
const END_SECONDS = 24 * 3_600;
/** The maximum share by which each pause is longer or shorter. */
const JITTER = 0.1;

export interface FailedAttempt {
  /** Attempts so far, this one included. */
  readonly attempts: number;
  /** Seconds since the first of them began. */
  readonly age: number;
  /** `Retry-After` of the answer, in seconds. */
  readonly retryAfter?: number | undefined;
}

/**
 * Returns the seconds until the next attempt; undefined if the delivery is exhausted.
 * @param random from 0 to 1
 */
export function nextGap(
  gaps: readonly number[],
  { attempts, age, retryAfter }: FailedAttempt,
  random: number,
): number | undefined {
  const gap = gaps[attempts - 1];
  if (gap === undefined || age >= END_SECONDS) return undefined;
  const varied = gap * (1 + JITTER * (2 * random - 1));
  const asked = Math.min(retryAfter ?? 0, 2 * gap);
  return Math.min(Math.max(varied, asked), END_SECONDS - age);
}

/** Parses `Retry-After` to seconds: a number, or a date (RFC 9110, section 10.2.3). */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - nowMs) / 1000);
}
