/** The contract of the event store port, which every adapter must meet. */
import { expect } from 'chai';
import { type EventStore, Unavailable } from '#src/events/store.ts';
import type { Adapter, LogUnderTest } from './event-store/adapter.ts';
import { appending } from './event-store/append.ts';
import { erasing } from './event-store/erase.ts';
import { Follower, newEvents, newStream, rejection } from './event-store/events.ts';
import { manyProcesses } from './event-store/processes.ts';
import { reading } from './event-store/read.ts';
import { subscribing } from './event-store/subscribe.ts';

/**
 * Describes the contract's tests for one adapter. All of them run on one log, so each part encounters the events of the other
 * parts.
 * @param adapter undefined if there is no server; the tests are then skipped
 * @param isInMemory true if no other process can open the log
 */
export function eventStoreContract(
  name: string,
  adapter: Adapter | undefined,
  { isInMemory = false } = {},
): void {
  (adapter === undefined ? describe.skip : describe)(`the event store contract: ${name}`, () => {
    let log: LogUnderTest;
    let store: EventStore;
    let other: EventStore;

    before(async function () {
      this.timeout(120_000);
      if (adapter === undefined) throw new Error('no server');
      log = await adapter();
      store = await log.open();
      other = await log.open();
    });

    after(async () => {
      await store?.close();
      await other?.close();
      await log?.drop();
    });

    appending(() => store);
    reading(() => store);
    subscribing(
      () => store,
      () => other,
    );
    erasing(
      () => store,
      () => log.open(),
    );
    if (!isInMemory)
      manyProcesses(
        () => log,
        () => store,
      );

    describe('close', () => {
      it('finishes what is in flight, completes subscriptions, and refuses what is new', async () => {
        const closing = await log.open();
        await closing.ping();
        const follower = new Follower(closing, { after: await closing.head() });
        const streams = Array.from({ length: 20 }, () => newStream());
        const appends = streams.map((stream) => closing.append(stream, 'none', newEvents()));
        await closing.close();
        for (const { head } of await Promise.all(appends)) expect(head.revision).to.equal(0);
        await follower.until(({ end }) => end !== undefined).catch(() => undefined);
        expect(follower.end).to.equal('completed');
        expect(await rejection(closing.append(newStream(), 'none', newEvents()))).to.be.instanceOf(
          Unavailable,
        );
        await closing.close();
      });
    });
  });
}
