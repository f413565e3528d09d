/** Subscribing to the total order. */
import { expect } from 'chai';
import { placeInAppend } from '#src/events/batches.ts';
import { BEGINNING, type EventBatch, type EventStore, type Position } from '#src/events/store.ts';
import { all, everything, Follower, faultsIn, newEvents, newStream, write } from './events.ts';

const endsWhole = ({ events }: EventBatch): boolean => {
  const last = events.at(-1);
  if (last === undefined) return true;
  const { index, count } = placeInAppend(last);
  return index === count - 1;
};

/**
 * Describes subscribing.
 * @param store the store under test, once it is open.
 * @param other a second store on the same log.
 */
export function subscribing(store: () => EventStore, other: () => EventStore): void {
  describe('subscribe', () => {
    it('delivers what was there and what comes, from whichever store, as it is read', async () => {
      const stream = newStream();
      const follower = new Follower(store(), { after: await store().head() });
      const first = await write(store(), stream, [1, 3]);
      await follower.reaches(first.position);
      const second = await write(other(), stream, [2], first.head);
      await follower.reaches(second.position);
      const third = await write(store(), stream, [1], second.head);
      await follower.reaches(third.position);
      follower.stop();
      expect(follower.events).to.deep.equal(await all(store().read(stream)));
    });

    it('keeps the total order while two stores write', async () => {
      const after = await store().head();
      const followers = [new Follower(store(), { after }), new Follower(other(), { after })];
      const writers = [store(), other(), store(), other()].map((writer) =>
        write(
          writer,
          newStream(),
          Array.from({ length: 100 }, (_, n) => 1 + (n % 3)),
        ),
      );
      await Promise.all(writers);
      const head = await store().head();
      for (const follower of followers) {
        await follower.reaches(head);
        follower.stop();
        expect(follower.events).to.have.length(4 * (34 + 2 * 33 + 3 * 33));
        expect(follower.batches.every(endsWhole)).to.equal(true);
      }
      const again = await everything(store(), { after });
      expect(faultsIn(again)).to.deep.equal([]);
      for (const follower of followers) expect(follower.events).to.deep.equal(again);
    });

    it('starts only when it is subscribed to, and after any position it ever emitted', async () => {
      const start = await store().head();
      await write(store(), newStream(), [2, 1, 5, 1]);
      const whole = new Follower(store(), { after: start, batchSize: 1 });
      await whole.reaches(await store().head());
      whole.stop();
      expect(whole.batches.map(({ events }) => events.length)).to.deep.equal([2, 1, 5, 1]);
      for (const [index, position] of whole.positions.entries()) {
        const rest = whole.batches.slice(index + 1).flatMap(({ events }) => events);
        if (rest.length > 0) expect(await everything(store(), { after: position })).to.deep.equal(rest);
      }
    });

    it('passes only the streams asked for, and moves on past the others', async () => {
      const after = await store().head();
      const follower = new Follower(store(), { after, prefixes: ['contract-grant-', 'contract-project-'] });
      const wanted = [newStream('contract-grant-'), newStream('contract-project-')];
      for (const stream of [newStream(), ...wanted, newStream('contract-projects'), newStream()]) {
        await write(store(), stream, [2]);
      }
      const { position } = await write(other(), newStream(), [1_200]);
      await follower.reaches(position);
      follower.stop();
      expect(follower.events.map(({ stream }) => stream)).to.deep.equal(
        wanted.flatMap((name) => [name, name]),
      );

      const later = new Follower(store(), { after, prefixes: ['contract-grant-', 'contract-project-'] });
      await later.reaches(position);
      later.stop();
      expect(later.events).to.deep.equal(follower.events);
    });

    for (const batchSize of [1, 7, 100]) {
      it(`never splits an append; batches of ${batchSize} are exceeded by larger appends only`, async () => {
        const after = await store().head();
        const sizes = [3, 250, 1, 1, 40, 6, 7, 8, 1, 120, 2, 2];
        await write(store(), newStream(), sizes);
        const follower = new Follower(store(), { after, batchSize });
        await follower.reaches(await store().head());
        const live = await write(store(), newStream(), sizes);
        await follower.reaches(live.position);
        follower.stop();
        expect(follower.events).to.have.length(2 * sizes.reduce((sum, size) => sum + size));
        for (const batch of follower.batches) {
          expect(endsWhole(batch)).to.equal(true);
          const oneAppend =
            batch.events.length === placeInAppend(batch.events.at(-1) ?? { metadata: '' }).count;
          expect(batch.events.length <= batchSize || oneAppend).to.equal(true);
        }
      });
    }

    it('waits for a slow handler, hands over one batch at a time, and loses nothing', async () => {
      let running = 0;
      let most = 0;
      let go: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        go = resolve;
      });
      const after = await store().head();
      const follower = new Follower(store(), { after, batchSize: 50 }, async () => {
        running += 1;
        most = Math.max(most, running);
        await gate;
        for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      });
      const sizes = Array.from({ length: 60 }, (_, n) => 1 + (n % 5));
      await Promise.all([1, 2, 3, 4].map(() => write(store(), newStream(), sizes)));
      await follower.until(({ batches }) => batches.length > 0);
      expect(follower.batches).to.have.length(1);
      go();
      await follower.reaches(await store().head());
      follower.stop();
      expect(most).to.equal(1);
      expect(follower.events).to.have.length(4 * 180);
      expect(faultsIn(follower.events)).to.deep.equal([]);
    });

    it('delivers large events in batches of bounded size', async () => {
      const after = await store().head();
      const body = `"${'x'.repeat(3_000_000)}"`;
      for (let n = 0; n < 12; n += 1)
        await store().append(
          newStream(),
          'none',
          newEvents(1, () => body),
        );
      const follower = new Follower(store(), { after });
      await follower.reaches(await store().head());
      follower.stop();
      expect(follower.events).to.have.length(12);
      expect(Math.max(...follower.batches.map(({ events }) => events.length))).to.be.lessThan(7);
    });

    it('resumes from where it was unsubscribed, without loss or repetition', async () => {
      const after = await store().head();
      const received: string[] = [];
      let position: Position = after;
      const writing = [1, 2].map(() => write(store(), newStream(), Array<number>(150).fill(2)));
      while (received.length < 600) {
        const follower = new Follower(store(), { after: position, batchSize: 20 });
        await follower.until(
          ({ positions, handled }) => positions.length >= 3 || received.length + handled.length >= 600,
        );
        follower.stop();
        position = follower.position ?? position;
        received.push(...follower.handled.map(({ id }) => id));
      }
      await Promise.all(writing);
      expect(received).to.deep.equal((await everything(store(), { after })).map(({ id }) => id));
    });

    it('delivers nothing more once it is unsubscribed from', async () => {
      const follower = new Follower(store(), { after: await store().head() });
      const first = await write(store(), newStream(), [1]);
      await follower.reaches(first.position);
      follower.stop();
      const witness = new Follower(store(), { after: first.position });
      const second = await write(store(), newStream(), [1]);
      await witness.reaches(second.position);
      witness.stop();
      expect(follower.events).to.have.length(1);
    });

    it('fails with what the handler threw, and then delivers no more', async () => {
      const error = new Error('the handler cannot go on');
      const after = await store().head();
      const follower = new Follower(store(), { after }, () => Promise.reject(error));
      await write(store(), newStream(), [1]);
      await follower.until(({ end }) => end !== undefined).catch(() => undefined);
      expect(follower.end).to.equal(error);
      const witness = new Follower(store(), { after });
      const { position } = await write(store(), newStream(), [1]);
      await witness.reaches(position);
      witness.stop();
      expect(follower.batches).to.have.length(1);
      expect(follower.positions).to.deep.equal([]);
    });

    it('emits a position only after its batch was handled', async () => {
      const order: string[] = [];
      const after = await store().head();
      const follower = new Follower(store(), { after }, async ({ position }) => {
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`handled ${position}`);
      });
      const { position } = await write(store(), newStream(), [1, 1, 1]);
      await follower.reaches(position);
      follower.stop();
      expect(follower.positions.map((emitted) => `handled ${emitted}`)).to.deep.equal(order);
    });
  });

  describe('head', () => {
    it('is the position of the newest event', async () => {
      const { position } = await write(other(), newStream(), [3]);
      expect(await store().head()).to.equal(position);
      expect(position > BEGINNING).to.equal(true);
    });
  });
}
