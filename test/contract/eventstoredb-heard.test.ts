/**
 * A process that answers requests has no subscribers, but is notified of everything that is written, and of a log that was
 * moved.
 */
import { expect } from 'chai';
import { EventStoreDbStore } from '#src/events/eventstoredb/store.ts';
import { Unavailable, type WrittenBatch } from '#src/events/store.ts';
import { type EventStoreServer, STARTABLE, startEventStoreDb } from '#test/support/event-store-servers.ts';
import { eventually } from '#test/support/process.ts';
import { newEvents, newStream } from './event-store/events.ts';

(STARTABLE ? describe : describe.skip)('EventStoreDB without subscribers (EVENTSTORE_START)', () => {
  let server: EventStoreServer;
  let store: EventStoreDbStore;
  const heard: WrittenBatch[] = [];
  let isClosed = false;

  before(async () => {
    server = await startEventStoreDb();
    let follows = false;
    store = await EventStoreDbStore.open({
      url: server.url,
      onHeard: (batch) => heard.push(batch),
      onFollowing: (state) => {
        follows = state;
      },
      onClosed: () => {
        isClosed = true;
      },
    });
    await eventually(() => follows);
  });
  after(async () => {
    await store?.close();
    await server?.stop();
  });

  it('brings each append once, in the order of the log, whichever process wrote it', async () => {
    const other = await EventStoreDbStore.open({ url: server.url });
    const written: string[] = [];
    try {
      for (let n = 0; n < 10; n += 1) {
        const stream = newStream();
        await (n % 2 === 0 ? other : store).append(stream, 'none', newEvents(n + 1));
        written.push(...Array.from({ length: n + 1 }, () => stream));
      }
    } finally {
      await other.close();
    }
    const streams = (): string[] => heard.flatMap(({ events }) => events.map(({ stream }) => stream));
    await eventually(() => streams().length >= written.length);
    expect(streams()).to.deep.equal(written);
    expect(heard.map(({ events }) => events.length)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(heard.slice(1).map(({ previous }) => previous)).to.deep.equal(
      heard.slice(0, -1).map(({ position }) => position),
    );
  });

  it('takes no append once another process has closed the log', async () => {
    const moving = await EventStoreDbStore.open({ url: server.url, moving: true });
    try {
      await moving.closeLog('esdb://elsewhere:2113');
    } finally {
      await moving.close();
    }
    await eventually(() => isClosed);
    const refused = await store.append(newStream(), 'none', newEvents()).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Unavailable);
  });
});
