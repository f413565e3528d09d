/** Counts rows, log volume and commits per write. Counts are the same on a busy machine. */
import type { Figure, Measure } from '../measure.ts';
import { countWrites, formatTables, type WriteCounts } from '../writes/count.ts';

/** The maximum amount that an update writes to PostgreSQL's log, in kB. */
const UPDATE_KB = 8;

export const writes: Measure = {
  row: 'writes',
  subject:
    'what PostgreSQL writes for an Observation of 1.4 kB: created, created as an entry in a transaction of 300, updated with a different value, and updated with a different value and status',
  baseline: 'nothing; the writes are counted in PostgreSQL’s log (WAL), without full-page images',
  async run(bench) {
    const counted = await countWrites(bench, await bench.service());
    for (const counts of counted) {
      bench.say(`  ${counts.kind}: inserts, updates, of them HOT, deletes, records, bytes`);
      for (const line of formatTables(counts)) bench.say(`    ${line}`);
      bench.say(
        `    µs by session: ${counts.sessions.map(([name, used]) => `${name} ${used.toFixed(0)}`).join(', ')}`,
      );
    }
    const updates = counted.filter(({ kind }) => kind.startsWith('update'));
    return {
      bounds: updates.map(({ kind, bytes }) => ({
        ratio: `log of an ${kind}, kB`,
        value: bytes / 1_000,
        sense: 'at most',
        bound: UPDATE_KB,
      })),
      figures: counted.flatMap(figures),
      rounds: 'one run, in order',
    };
  },
};

function figures(counts: WriteCounts): Figure[] {
  const { kind, bytes, disk, processor } = counts;
  const rows = (['inserts', 'updates', 'deletes', 'records', 'commits'] as const).map((name) => ({
    name: `${kind}: ${name}`,
    value: counts[name],
    unit: '',
  }));
  return [
    ...rows,
    { name: 'log', value: bytes / 1_000, unit: 'kB' },
    { name: 'grown by', value: disk / 1_000, unit: 'kB' },
    { name: 'PostgreSQL', value: processor, unit: 'µs' },
  ];
}
