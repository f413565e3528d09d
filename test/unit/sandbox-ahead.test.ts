/** How far a filling goes ahead of the read models. */
import { expect } from 'chai';
import { Ahead, MOST_AHEAD } from '#commands/sandbox/ahead.ts';
import type { Position } from '#src/events/store.ts';
import { unavailable } from '#src/shared/refusal.ts';

const HALF = MOST_AHEAD / 2;

describe('a filling ahead of the read models', () => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const visible = (position: Position): Promise<void> =>
    new Promise((resolve) => {
      asked.push(position);
      answers.push(resolve);
    });
  const at = (text: string): Position => text as Position;
  beforeEach(() => {
    asked.length = 0;
    answers.length = 0;
  });

  it('goes on without waiting while few events are not visible', async () => {
    const ahead = new Ahead(visible);
    ahead.add(at('1'), HALF);
    await ahead.room(HALF);
    expect(asked).to.deep.equal([]);
  });

  it('waits for the oldest append when the next would be too many', async () => {
    const ahead = new Ahead(visible);
    ahead.add(at('1'), HALF);
    ahead.add(at('2'), HALF);
    let free = false;
    const room = ahead.room(HALF).then(() => {
      free = true;
    });
    await Promise.resolve();
    expect(asked).to.deep.equal(['1']);
    expect(free).to.equal(false);
    answers[0]?.();
    await room;
    expect(asked).to.deep.equal(['1']);
  });

  it('lets one that is larger than the bound follow on none', async () => {
    const ahead = new Ahead(visible);
    await ahead.room(MOST_AHEAD + 1);
    expect(asked).to.deep.equal([]);
  });

  it('is drained when the last append is visible', async () => {
    const ahead = new Ahead(visible);
    ahead.add(at('1'), 1);
    ahead.add(at('2'), 1);
    const drained = ahead.drain();
    answers[0]?.();
    await new Promise(setImmediate);
    expect(asked).to.deep.equal(['1', '2']);
    answers[1]?.();
    await drained;
  });

  it('fails when the read models do', async () => {
    const ahead = new Ahead(() => Promise.reject(unavailable('the read models lag')));
    ahead.add(at('1'), 1);
    expect(await ahead.drain().catch((error: unknown) => String(error))).to.include('the read models lag');
  });
});
