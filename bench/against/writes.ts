/** The row `writes` for two checkouts: counts, which are exact, and PostgreSQL's CPU time. */
import type { Bench } from '../bench.ts';
import { countWrites } from '../writes/count.ts';

/** How much more this checkout may write to PostgreSQL's log than the other checkout, as a factor. */
const MOST = 1.03;

/**
 * Counts the writes of a new service for each checkout.
 * @returns whether this checkout writes no more than is allowed
 */
export async function compareWrites(
  theirs: Bench,
  ours: Bench,
  say: (text: string) => void,
): Promise<boolean> {
  const [before, now] = [
    await countWrites(theirs, await theirs.service()),
    await countWrites(ours, await ours.service()),
  ];
  let holds = true;
  for (const [i, counts] of now.entries()) {
    const other = before[i];
    if (other === undefined) throw new Error('both count the same kinds');
    const change = (
      name: 'inserts' | 'updates' | 'deletes' | 'commits' | 'records' | 'bytes' | 'disk' | 'processor',
    ): string => `${other[name].toPrecision(4)} → ${counts[name].toPrecision(4)}`;
    const ratio = counts.bytes / other.bytes;
    if (ratio > MOST) holds = false;
    say(
      `writes       ${counts.kind}: inserts ${change('inserts')}, updates ${change('updates')}, deletes ${change('deletes')}, commits ${change('commits')}, records ${change('records')}, log ${change('bytes')} bytes (${ratio.toFixed(3)}), tables ${change('disk')} bytes (${(counts.disk / other.disk).toFixed(3)}), PostgreSQL ${change('processor')} µs`,
    );
  }
  return holds;
}
