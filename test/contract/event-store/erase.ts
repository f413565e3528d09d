/** Erasing a stream. */
import { expect } from 'chai';
import { BEGINNING, type EventStore, StreamDeleted } from '#src/events/store.ts';
import { all, everything, Follower, faultsIn, newEvents, newStream, rejection, write } from './events.ts';

/**
 * Describes erasing.
 * @param store the store under test, once it is open
 * @param another opens the store again, as another process would
 */
export function erasing(store: () => EventStore, another: () => Promise<EventStore>): void {
  describe('erase', () => {
    it('removes a stream for ever: it is neither read, nor appended to, nor delivered', async () => {
      const [erased, kept] = [newStream(), newStream()];
      const events = newEvents(3);
      const { head } = await store().append(erased, 'none', events);
      await write(store(), kept, [2]);
      await store().erase(erased);

      for (const direction of ['forwards', 'backwards'] as const) {
        expect(await rejection(all(store().read(erased, { direction })))).to.be.instanceOf(StreamDeleted);
      }
      for (const expected of [head, 'none'] as const) {
        const error = await rejection(store().append(erased, expected, newEvents()));
        expect(error).to.be.instanceOf(StreamDeleted);
        expect(error).to.include({ stream: erased });
      }
      expect(await rejection(store().append(erased, 'none', events))).to.be.instanceOf(StreamDeleted);
      const left = await everything(store(), { after: BEGINNING });
      expect(left.some(({ stream }) => stream === erased)).to.equal(false);
      expect(left.filter(({ stream }) => stream === kept)).to.have.length(2);
      expect(faultsIn(left)).to.deep.equal([]);
    });

    it('is known to a process that starts later, though the one that erases follows the log', async () => {
      const after = await store().head();
      const follower = new Follower(store(), { after });
      const erased = new Set<string>();
      for (let n = 0; n < 10; n += 1) {
        const stream = newStream();
        erased.add(stream);
        const { position } = await write(store(), stream, [2]);
        await follower.reaches(position);
        await store().erase(stream);
      }
      follower.stop();
      await write(store(), newStream(), [1]);
      const later = await another();
      const left = await everything(later, { after });
      await later.close();
      expect(left.filter(({ stream }) => erased.has(stream))).to.deep.equal([]);
    });

    it('may be asked for again, and for a stream that was never written', async () => {
      const stream = newStream();
      await store().erase(stream);
      await store().erase(stream);
      expect(await rejection(store().append(stream, 'none', newEvents()))).to.be.instanceOf(StreamDeleted);
      expect(await rejection(all(store().read(stream)))).to.be.instanceOf(StreamDeleted);
    });

    it('never lets a position be used again, though the newest events are gone', async () => {
      const stream = newStream();
      const { position } = await write(store(), stream, [5]);
      await store().erase(stream);
      const follower = new Follower(store(), { after: position });
      const next = await write(store(), newStream(), [1]);
      expect(next.position > position).to.equal(true);
      await follower.reaches(next.position);
      follower.stop();
      expect(follower.events.map((event) => event.position)).to.deep.equal([next.position]);
    });

    it('loses to no append that was sent at the same time', async () => {
      const stream = newStream();
      const { head } = await write(store(), stream, [1]);
      const [append] = await Promise.allSettled([
        store().append(stream, head, newEvents(2)),
        store().erase(stream),
      ]);
      if (append.status === 'rejected') expect(append.reason).to.be.instanceOf(StreamDeleted);
      expect(await rejection(all(store().read(stream)))).to.be.instanceOf(StreamDeleted);
      const left = await everything(store(), { after: BEGINNING });
      expect(left.some((event) => event.stream === stream)).to.equal(false);
    });
  });
}
