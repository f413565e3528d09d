/** Compares requests for one path with reads by id, in alternating runs. */
import type { Bench } from './bench.ts';
import type { Length, Outcome } from './load/plan.ts';
import { alternate } from './measure.ts';
import type { Service } from './service.ts';
import { median } from './statistics.ts';

/** Runs a load in which some clients read the given paths in turn, over and over. */
export type Reading = (paths: readonly string[], length?: Length) => Promise<Outcome>;

/**
 * Creates the function that runs such loads.
 * @param seconds duration of a load that doesn't specify its length
 */
export function openReading(bench: Bench, service: Service, clients: number, seconds: number): Reading {
  return (paths, length = { seconds: bench.seconds(seconds) }) =>
    bench.load({
      target: service.target,
      clients,
      requests: { kind: 'reads', paths },
      expect: 200,
      ...length,
    });
}

/** Returns the p50 of both kinds of requests in ms, as medians of alternating runs. */
export async function againstReads(
  bench: Bench,
  load: Reading,
  reads: readonly string[],
  paths: readonly string[],
): Promise<{ readonly asked: number; readonly read: number }> {
  const runs = await alternate(
    bench.options.runs,
    () => load(reads),
    () => load(paths),
  );
  const p50 = (all: readonly Outcome[]): number => median(all.map((run) => run.p50));
  return { asked: p50(runs.subject), read: p50(runs.baseline) };
}
