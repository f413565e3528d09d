/** Waiting appends: which are written together, and which go first. */
import { expect } from 'chai';
import { Append } from '#src/events/append.ts';
import { toPosition } from '#src/events/position.ts';
import { AppendQueue } from '#src/events/postgres/append-queue.ts';
import { newUuid } from '#src/shared/ids.ts';

/** A queue that records its batches by their streams; `write` lets the database finish one batch. */
class Written {
  readonly batches: string[][] = [];
  readonly #ends: (() => void)[] = [];
  readonly queue = new AppendQueue({
    batchAppends: 500,
    batchBytes: 16_000_000,
    write: async (appends) => {
      this.batches.push(appends.map(({ stream }) => stream));
      await new Promise<void>((resolve) => this.#ends.push(resolve));
      return { previous: toPosition(0), outcomes: [] };
    },
    settle: () => undefined,
    onRetry: () => undefined,
  });

  add(stream: string, bytes: number): void {
    const event = { id: newUuid(), type: 'Made', data: 'x'.repeat(bytes), metadata: '{"made":true}' };
    this.queue.add(new Append(stream, 'none', [event]));
  }

  async write(): Promise<void> {
    this.#ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('appends that wait', () => {
  it('a small one waits for no large one but the one that is being written', async () => {
    const written = new Written();
    written.add('large-1', 600_000);
    await new Promise((resolve) => setImmediate(resolve));
    for (const n of [2, 3, 4]) written.add(`large-${n}`, 600_000);
    written.add('small-1', 100);
    await written.write();
    written.add('small-2', 100);
    written.add('small-3', 100);
    for (let n = 0; n < 5; n += 1) await written.write();
    await written.queue.idle();
    expect(written.batches).to.deep.equal([
      ...[['large-1'], ['small-1'], ['large-2'], ['small-2', 'small-3'], ['large-3'], ['large-4']],
    ]);
  });

  it('those to one stream keep their order, whatever their size', async () => {
    const written = new Written();
    written.add('first', 100);
    await new Promise((resolve) => setImmediate(resolve));
    written.add('one', 100);
    written.add('one', 600_000);
    written.add('two', 600_000);
    written.add('two', 100);
    for (let n = 0; n < 6; n += 1) await written.write();
    await written.queue.idle();
    expect(written.batches).to.deep.equal([['first'], ['one'], ['two'], ['one'], ['two']]);
  });
});
