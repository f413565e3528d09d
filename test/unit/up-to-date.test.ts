import { expect } from 'chai';
import type { Position } from '#src/events/store.ts';
import { upToDate } from '#src/freshness/up-to-date.ts';

const at = (n: number): Position => String(n).padStart(16, '0') as Position;

/**
 * Waits on a read model that reaches the next of the given positions with each wait.
 * @returns how often it waited, and what it threw
 */
async function waits(positions: readonly number[], head: number): Promise<[number, unknown]> {
  let waited = 0;
  const now = () => at(positions[Math.min(waited, positions.length - 1)] ?? 0);
  const error = await upToDate({
    head: async () => at(head),
    waitFor: async (position) => {
      waited += 1;
      return now() >= position;
    },
    projectsAt: now,
  }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return [waited, error];
}

describe('a start that needs to know the projects', () => {
  it('waits for a long log as long as the read model comes nearer', async () => {
    const slowly = Array.from({ length: 100 }, (_, n) => Math.floor(n / 5));
    expect(await waits(slowly, 19)).to.deep.equal([95, undefined]);
  });

  it('gives up on a read model that stands', async () => {
    const [waited, error] = await waits([0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2], 3);
    expect(waited).to.equal(8);
    expect(error).to.match(/projects lag behind the log/);
  });
});
