/** What a row of the performance table is. */
import type { Bench } from './bench.ts';

/** One promise: a ratio and its bound. */
export interface Bound {
  /** What is divided by what. */
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

/** What a row found. */
export interface Finding {
  readonly bounds: readonly Bound[];
  readonly figures: readonly Figure[];
  /** How its medians came about, where it has rounds of its own instead of the run's. */
  readonly rounds?: string;
}

/** A row: measures a subject against its baseline in one run. */
export interface Measure {
  /** Its name on the command line. */
  readonly row: string;
  /** What is measured. */
  readonly subject: string;
  /** Against what. */
  readonly baseline: string;
  run(bench: Bench): Promise<Finding>;
}

/** Whether a promise holds. NaN holds nothing. */
export function holds({ value, sense, bound }: Bound): boolean {
  return sense === 'at least' ? value >= bound : value <= bound;
}

/**
 * Runs baseline and subject alternately, so that noise meets both, and each first every other time.
 * @returns what each gave, in order.
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
