/** The row of an instance that stops while its heartbeat is under way. */
import { expect } from 'chai';
import type { Pool } from 'pg';
import { Instance } from '#src/operations/instances.ts';

describe('an instance that stops', () => {
  it('removes its row after the heartbeat that is under way', async () => {
    const done: string[] = [];
    let end = (): void => undefined;
    const slow = new Promise<void>((resolve) => {
      end = resolve;
    });
    const pool = {
      async query(asked: string | { readonly name: string }) {
        if (typeof asked !== 'string') await slow;
        done.push(typeof asked === 'string' ? 'removed' : 'beat');
      },
    };
    const instance = new Instance(pool as unknown as Pool, { id: 'inst_1', pid: 1 }, '1', () => []);
    instance.start();
    const stopped = instance.stop();
    setImmediate(end);
    await stopped;
    await slow;
    expect(done).to.deep.equal(['beat', 'removed']);
  });
});
