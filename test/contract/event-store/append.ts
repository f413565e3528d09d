/** Appending: expected heads, atomicity, idempotency, limits. */
import { expect } from 'chai';
import { GENESIS } from '#src/events/chain.ts';
import { Conflict, type EventStore, type Expected, MAX_APPEND_BYTES, TooLarge } from '#src/events/store.ts';
import { all, faultsIn, newEvents, newStream, rejection, write } from './events.ts';

/**
 * Describes appending.
 * @param store the store under test, once it is open.
 */
export function appending(store: () => EventStore): void {
  describe('append', () => {
    it('starts a stream at revision 0 and continues it without gaps', async () => {
      const stream = newStream();
      const first = await store().append(stream, 'none', newEvents(2));
      expect(first.head.revision).to.equal(1);
      const second = await store().append(stream, first.head, newEvents(3));
      expect(second.head.revision).to.equal(4);
      expect(second.position > first.position).to.equal(true);
      const events = await all(store().read(stream));
      expect(events.map(({ revision }) => revision)).to.deep.equal([0, 1, 2, 3, 4]);
      expect(events.map(({ position }) => position)).to.deep.equal(
        events.map(({ position }) => position).sort(),
      );
      expect(events[1]?.position).to.equal(first.position);
      expect(events[4]?.position).to.equal(second.position);
    });

    it('refuses a start of a stream that exists, with where it is', async () => {
      const stream = newStream();
      await write(store(), stream, [1, 1]);
      const error = await rejection(store().append(stream, 'none', newEvents()));
      expect(error).to.be.instanceOf(Conflict);
      expect(error).to.include({ stream, expected: 'none', actual: 1 });
    });

    it('refuses a head that is behind, ahead, of a stream never written, or of another hash', async () => {
      const stream = newStream();
      const first = await store().append(stream, 'none', newEvents());
      const second = await store().append(stream, first.head, newEvents());
      const cases: [stream: string, expected: Expected, actual: number | 'none'][] = [
        [stream, first.head, 1],
        [stream, { revision: 2, hash: second.head.hash }, 1],
        [stream, { revision: 1, hash: GENESIS }, 1],
        [newStream(), second.head, 'none'],
      ];
      for (const [name, expected, actual] of cases) {
        const error = await rejection(store().append(name, expected, newEvents()));
        expect(error).to.be.instanceOf(Conflict);
        expect(error).to.include({ actual });
      }
      expect(await all(store().read(stream))).to.have.length(2);
    });

    it('refuses what no store can hold, before it asks the store', async () => {
      const [event] = newEvents();
      if (event === undefined) throw new Error('no event');
      const wrong = [
        [],
        [{ ...event, id: 'not a uuid' }],
        [{ ...event, data: '{"a":"\0"}' }],
        [{ ...event, data: '{"a":"\ud800"}' }],
        [{ ...event, metadata: '[]' }],
      ];
      for (const events of wrong) {
        expect(await rejection(store().append(newStream(), 'none', events))).to.be.instanceOf(TypeError);
      }
      expect(await rejection(store().append('', 'none', [event]))).to.be.instanceOf(TypeError);
      for (const revision of [-1, 0.5, Number.NaN, 2 ** 40]) {
        const expected = { revision, hash: GENESIS };
        expect(await rejection(store().append(newStream(), expected, [event]))).to.be.instanceOf(TypeError);
      }
    });

    it('takes 1,000 events at once or none of them', async () => {
      const stream = newStream();
      const { head } = await store().append(stream, 'none', newEvents(1_000));
      expect(head.revision).to.equal(999);
      expect(await rejection(store().append(stream, 'none', newEvents(1_000)))).to.be.instanceOf(Conflict);
      expect(await all(store().read(stream))).to.have.length(1_000);
    });

    it('takes up to 12 MB and refuses more, while its neighbours in time succeed', async () => {
      const fill = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;
      const [event] = newEvents();
      if (event === undefined) throw new Error('no event');
      const room = MAX_APPEND_BYTES - event.metadata.length;
      const [large, neighbour, tooLarge] = await Promise.all([
        store().append(newStream(), 'none', [{ ...event, data: fill(room) }]),
        store().append(newStream(), 'none', newEvents()),
        rejection(
          store().append(
            newStream(),
            'none',
            newEvents(1, () => fill(room + 1)),
          ),
        ),
      ]);
      expect(large.head.revision).to.equal(0);
      expect(neighbour.head.revision).to.equal(0);
      expect(tooLarge).to.be.instanceOf(TooLarge);
      expect(tooLarge).to.include({ bytes: MAX_APPEND_BYTES + 1, limit: MAX_APPEND_BYTES });
    });

    it('accepts and refuses each of many concurrent appends on its own', async () => {
      const taken = newStream();
      await write(store(), taken, [1]);
      const results = await Promise.allSettled(
        Array.from({ length: 200 }, (_, n) =>
          store().append(n % 2 === 0 ? newStream() : taken, 'none', newEvents(1 + (n % 3))),
        ),
      );
      results.forEach((result, n) => {
        expect(result.status, `append ${n}`).to.equal(n % 2 === 0 ? 'fulfilled' : 'rejected');
      });
    });

    it('takes appends to one stream that were sent without waiting, in order', async () => {
      const stream = newStream();
      const { head } = await store().append(stream, 'none', newEvents());
      const [first, second] = [newEvents(2), newEvents(2)];
      const results = await Promise.allSettled([
        store().append(stream, head, first),
        store().append(stream, head, second),
        store().append(stream, head, first),
      ]);
      expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
      expect(results[2]).to.deep.equal(results[0]);
      expect(await all(store().read(stream))).to.have.length(3);
    });
  });

  describe('the same append again', () => {
    it('gives the first result and writes nothing', async () => {
      const stream = newStream();
      const events = newEvents(3);
      const first = await store().append(stream, 'none', events);
      expect(await store().append(stream, 'none', events)).to.deep.equal(first);
      expect(await all(store().read(stream))).to.have.length(3);
    });

    it('gives the first result, with the hash of what is stored, though the bodies are others', async () => {
      const stream = newStream();
      const events = newEvents(2);
      const start = await write(store(), stream, [1]);
      const first = await store().append(stream, start.head, events);
      const others = events.map((event) => ({ ...event, data: '{"another":"body"}' }));
      expect(await store().append(stream, start.head, others)).to.deep.equal(first);
      await write(store(), stream, [1], first.head);
      const stored = await all(store().read(stream));
      expect(stored.map(({ data }) => data).slice(1, 3)).to.deep.equal(events.map(({ data }) => data));
      expect(faultsIn(stored)).to.deep.equal([]);
    });

    it('does so after later appends too, also in the middle of a stream', async () => {
      const stream = newStream();
      const events = newEvents(2);
      const start = await write(store(), stream, [2]);
      const first = await store().append(stream, start.head, events);
      await write(store(), stream, [1, 4], first.head);
      expect(await store().append(stream, start.head, events)).to.deep.equal(first);
      expect(await all(store().read(stream))).to.have.length(9);
    });

    it('is a conflict when only some ids are the same, or they follow another head', async () => {
      const stream = newStream();
      const events = newEvents(2);
      const start = await write(store(), stream, [1]);
      await write(store(), stream, [3], (await store().append(stream, start.head, events)).head);
      const [one, two] = events;
      const [other] = newEvents();
      if (one === undefined || two === undefined || other === undefined) throw new Error('no event');
      for (const overlap of [[one, other], [other, two], [two, one], [one, two, other], [two]]) {
        expect(await rejection(store().append(stream, start.head, overlap))).to.be.instanceOf(Conflict);
      }
      const wrongHash = { ...start.head, hash: GENESIS };
      expect(await rejection(store().append(stream, wrongHash, events))).to.be.instanceOf(Conflict);
      expect(await rejection(store().append(stream, 'none', events))).to.be.instanceOf(Conflict);
      expect(await all(store().read(stream))).to.have.length(6);
    });
  });

  describe('50 concurrent first appends to one stream', () => {
    it('one wins, 49 are told of the conflict', async () => {
      const stream = newStream();
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, () => store().append(stream, 'none', newEvents(2))),
      );
      const refused = results.flatMap((result) =>
        result.status === 'rejected' ? [result.reason as unknown] : [],
      );
      expect(refused).to.have.length(49);
      for (const error of refused) {
        expect(error).to.be.instanceOf(Conflict);
        expect(error).to.include({ actual: 1 });
      }
      expect(await all(store().read(stream))).to.have.length(2);
    });
  });
}
