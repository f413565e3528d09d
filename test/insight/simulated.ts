/** Simulated daily values, the same on every machine. */
import { DAY, inOrder, type Point, type Track } from '#src/insight/track.ts';
import { Random } from '#src/sandbox/random.ts';

/** A Monday, at eight in the morning. */
const START = Date.UTC(2024, 0, 1, 8);

/** Returns a standard normal value (Box and Muller). */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

/** Returns standard normal values, each correlated with the previous one by `rho` (AR(1)). */
export function wandering(random: Random, count: number, rho: number): number[] {
  let last = normal(random);
  return Array.from({ length: count }, (_, n) => {
    if (n > 0) last = rho * last + Math.sqrt(1 - rho * rho) * normal(random);
    return last;
  });
}

/**
 * Returns a track of daily values.
 * @param perDay the number of values per day, an hour apart
 */
export function daily(code: string, values: readonly number[], perDay = 1): Track {
  const points = values.map((value, n): Point => {
    const at = START + Math.floor(n / perDay) * DAY + ((n % perDay) * DAY) / 24;
    return {
      ...{ at, date: new Date(at).toISOString(), offset: 0, value, bound: null, low: null, high: null },
      source: { fhir: `Observation/${code}-${n}`, version: 1, authorType: 'device' },
    };
  });
  return { codes: [{ system: 'http://loinc.org', code }], unit: 'kg', points: inOrder(points) };
}

/** Returns the random generator for a numbered run. */
export const run = (name: string, n: number): Random => new Random(`${name} ${n}`);
