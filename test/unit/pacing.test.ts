/** Back-pressure on large appends: how many run at once, in which order of owners, and what ends a wait. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Position } from '#src/events/store.ts';
import { LARGE, Pacing } from '#src/freshness/pacing.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** Appends that record their owners' names as they begin; `show` lets the read models catch up with the oldest append. */
class Load {
  readonly begun: string[] = [];
  readonly #shows: (() => void)[] = [];
  time = 0;
  readonly pacing: Pacing;

  constructor(waitMs = 60_000, stopped?: string) {
    const passed = (): Promise<void> => new Promise((resolve) => this.#shows.push(resolve));
    this.pacing = new Pacing({ passed, stopped: () => stopped, now: () => this.time, waitMs });
  }

  append(owner: string, events: number): Promise<unknown> {
    return this.pacing.run(owner, events, async () => {
      this.begun.push(owner);
      return { position: '1' as Position };
    });
  }

  /** Lets the read models show the oldest append after the given number of ms. */
  async show(ms: number): Promise<void> {
    this.time += ms;
    this.#shows.shift()?.();
    await turn();
    await turn();
  }
}

describe('back-pressure on large appends', () => {
  it('lets appends wait once read models lack some thousand events, and go on as they are shown', async () => {
    const load = new Load();
    const all = Array.from({ length: 6 }, (_, n) => load.append(`a${n}`, 1_000));
    await turn();
    expect(load.begun).to.have.length(4);
    expect(load.pacing.waiting).to.equal(2);
    await load.show(1_000);
    expect(load.begun).to.have.length(5);
    await load.show(1_000);
    await Promise.all(all);
    expect(load.pacing.waiting).to.equal(0);
  });

  it('never holds up small appends', async () => {
    const load = new Load();
    await load.append('a', 5_000);
    void load.append('a', 5_000).catch(() => undefined);
    await load.append('a', LARGE - 1);
    expect(load.begun).to.have.length(2);
  });

  it('lets the project with the fewest events outstanding go first, then the one that has waited longest', async () => {
    const load = new Load();
    const all = ['loader', 'loader', 'loader', 'other'].map((owner) => load.append(owner, 3_900));
    await turn();
    await load.show(10_000);
    expect(load.begun).to.deep.equal(['loader', 'other']);
    all.push(load.append('quiet', 3_900));
    for (let n = 0; n < 4; n += 1) await load.show(10_000);
    await Promise.all(all);
    expect(load.begun).to.deep.equal(['loader', 'other', 'quiet', 'loader', 'loader']);
  });

  it('allows as much as the read models have been seen to keep up with', async () => {
    const load = new Load();
    for (let n = 0; n < 20; n += 1) {
      const one = load.append('a', 1_000);
      await load.show(100);
      await one;
    }
    const all = Array.from({ length: 50 }, () => load.append('a', 1_000));
    await turn();
    expect(load.begun.length - 20).to.be.within(30, 45);
    for (let n = 0; n < 50; n += 1) await load.show(100);
    await Promise.all(all);
  });

  it('refuses an append whose turn does not come, and forgets one that failed', async () => {
    const load = new Load(1);
    await load.append('a', 5_000);
    const error = await load.append('a', 5_000).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(Refusal).with.property('kind', 'unavailable');
    expect(error).to.have.property('headers').that.has.property('Retry-After', '5');
    expect(load.begun).to.have.length(1);
    await load.show(10);
    const failed = await load.pacing
      .run('a', 5_000, () => Promise.reject(new Error('conflict')))
      .catch((caught: unknown) => caught);
    expect(failed).to.have.property('message', 'conflict');
    await load.append('a', 5_000);
  });

  it('says why a read model has stopped, if one has', async () => {
    const load = new Load(1, 'the read model search stopped');
    await load.append('a', 5_000);
    const error = await load.append('a', 5_000).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(Refusal).with.property('kind', 'unavailable');
    expect(error)
      .to.have.property('issues')
      .that.has.nested.property(
        '[0].diagnostics',
        'the read model search stopped; until then, only requests that write fewer than 64 events are accepted',
      );
    expect(error).to.have.property('headers').that.has.property('Retry-After', '30');
  });
});
