/** The type of a row of the performance table. */
import type { Bench } from './bench.ts';

/** One promise: a ratio and its bound. */
export interface Bound {
  /** A description of the ratio. */
  readonly ratio: string;
  readonly value: number;
  readonly sense: 'at least' | 'at most';
  readonly bound: number;
}

/** An absolute figure: reported, not judged. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** The result of a row. */
export interface Finding {
  readonly bounds: readonly Bound[];
  readonly figures: readonly Figure[];
  /** Maximum memory of a measured Node process, in MB, if it differs from that of most rows. */
  readonly mostMemory?: number;
  /** How its medians were computed, if it has its own rounds instead of the run's. */
  readonly rounds?: string;
}

/** A row: measures a subject against its baseline in one run. */
export interface Measure {
  /** Its name on the command line. */
  readonly row: string;
  /** A description of the measured subject. */
  readonly subject: string;
  readonly baseline: string;
  run(bench: Bench): Promise<Finding>;
}

/** Returns true if a promise holds; NaN never does. */
export function holds({ value, sense, bound }: Bound): boolean {
  return sense === 'at least' ? value >= bound : value <= bound;
}

/**
 * Runs baseline and subject alternately, so that noise meets both, and each first every other time.
 * @returns the result of each, in order.
 */
export async function alternate<B, S>(
  runs: number,
  baseline: () => Promise<B>,
  subject: () => Promise<S>,
): Promise<{ baseline: B[]; subject: S[] }> {
  const found: { baseline: B[]; subject: S[] } = { baseline: [], subject: [] };
  for (let run = 0; run < runs; run += 1) {
    if (run % 2 === 0) found.baseline.push(await baseline());
    found.subject.push(await subject());
    if (run % 2 === 1) found.baseline.push(await baseline());
  }
  return found;
}
