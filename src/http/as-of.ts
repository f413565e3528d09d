/** Handles requests as of a point in time: `_asOf` in the FHIR interface, `as_of` in REST v1. */
import { setTimeout as wait } from 'node:timers/promises';
import { parsePeriod } from '#src/fhir/search/period.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { type Micros, nowMicros, toMicros } from '#src/shared/time/time.ts';

/**
 * How far a requested time may be ahead of this instance's clock, in microseconds. Another instance, whose clock differs, may
 * have stored a version at that time. The request then waits until the time has passed.
 */
const CLOCKS_DIFFER = 1_000_000;

const FORM = 'write it like 2026-11-21T09:30:00.123456Z or 2026-11-21T09:30:00+01:00';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Returns why data can't be read as of the time in a string, phrased to end a sentence; undefined if it can. */
export function faultOfPast(text: string): string | undefined {
  if (!INSTANT.test(text) || parsePeriod(text) === undefined)
    return `must be an instant with seconds and a time zone: ${FORM}`;
  return notInFuture(text) ? undefined : 'must not be in the future';
}

/** Returns whether a time has passed on this instance, or may have passed on another one. */
export function notInFuture(text: string): boolean {
  return toMicros(text) <= nowMicros() + CLOCKS_DIFFER;
}

/**
 * Waits until the given time has passed, and returns a caller who reads as of that time.
 * @param text already validated
 */
export async function moveTo(caller: Caller, text: string): Promise<Caller> {
  const asOf: Micros = toMicros(text);
  for (let ahead = asOf - nowMicros(); ahead >= 0; ahead = asOf - nowMicros()) await wait(ahead / 1000 + 1);
  return { ...caller, sees: { ...caller.sees, asOf } };
}
