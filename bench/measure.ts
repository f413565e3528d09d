/** The type for a row in the performance table. */
import type { Bench } from './bench.ts';

/** A promise: a ratio and the limit that it must keep. */
export interface Bound {
  /** Describes the ratio. */
  readonly ratio: string;
  readonly value: number;
  readonly sense: 'at least' | 'at most';
  readonly bound: number;
}

/** An absolute figure, which is reported but not judged. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** A row's result. */
export interface Finding {
  readonly bounds: readonly Bound[];
  readonly figures: readonly Figure[];
  /** Maximum memory of a measured Node process, in MB, if different from the usual limit. */
  readonly mostMemory?: number;
  /** How the medians were computed, if the row uses its own rounds instead of the run's. */
  readonly rounds?: string;
}

/** A row: measures a subject against its baseline in one run. */
export interface Measure {
  /** The row's name on the command line. */
  readonly row: string;
  /** Describes the measured subject. */
  readonly subject: string;
  readonly baseline: string;
  run(bench: Bench): Promise<Finding>;
}

/** Returns whether a promise holds; for NaN, it never does. */
export function holds({ value, sense, bound }: Bound): boolean {
  return sense === 'at least' ? value >= bound : value <= bound;
}

/**
 * Runs baseline and subject alternately, so that noise affects both. They take turns going first.
 * @returns the results of both, in the order of the runs.
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
