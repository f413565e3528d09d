/** Schedules retries of failed deliveries (docs/spec/decisions.md, section 6). Pure. */

/** Time after the first attempt at which a delivery is abandoned, regardless of the number of attempts, in seconds. */
const END_SECONDS = 24 * 3_600;
/** The maximum share by which each pause is lengthened or shortened. */
const JITTER = 0.1;

export interface FailedAttempt {
  /** Number of attempts so far, including this one. */
  readonly attempts: number;
  /** Seconds since the first attempt began. */
  readonly age: number;
  /** `Retry-After` from the answer, in seconds. */
  readonly retryAfter?: number | undefined;
}

/**
 * Returns the number of seconds until the next attempt; undefined if the delivery is exhausted.
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

/** Converts `Retry-After`, which is a number or a date (RFC 9110, section 10.2.3), to seconds. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  // `Date.parse` also reads numbers such as -5 and 1.5.
  const at = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, (at - nowMs) / 1000);
}
