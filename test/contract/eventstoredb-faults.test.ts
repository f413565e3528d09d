/** EventStoreDB is killed, stopped and frozen under load. `docs/eventstoredb.md` describes what this needs. */
import { expect } from 'chai';
import { type EventStore, Unavailable } from '#src/events/store.ts';
import { CLUSTER, CONTROLLED, control, FAULTS } from '#test/support/event-store-control.ts';
import { eventually } from '#test/support/process.ts';
import { Audit, all, auditLog, Follower, newEvents, newStream } from './event-store/events.ts';
import { writesThrough } from './event-store/load.ts';
import { eraseContractStreams } from './eventstoredb-erase.ts';
import { openStore } from './eventstoredb-store.ts';

/** Maximum time in ms that an unresponsive server may keep a caller waiting. */
const PATIENCE = 15_000;

(CONTROLLED ? describe : describe.skip)('EventStoreDB', () => {
  let store: EventStore;

  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());
  after(eraseContractStreams);

  for (const { says, down, up } of FAULTS) {
    it(`loses and doubles nothing when it is ${says} under load, and says that it is away`, async () => {
      const after = await store.head();
      const live = new Audit();
      const follower = new Follower(store, { after }, async ({ events }) => live.take(events), 'forget');
      const written = await writesThrough(store, async () => {
        // A follower that is still reading pages would be told that the store is unavailable, and would have to start again.
        await follower.reaches(await store.head());
        await control(down);
        const began = performance.now();
        const errors = await Promise.all([
          failure(store.ping()),
          failure(store.append(newStream(), 'none', newEvents())),
          failure(all(store.read(newStream()))),
          failure(store.head()),
          failure(store.erase(newStream())),
        ]);
        for (const error of errors)
          if (!CLUSTER || error !== undefined) expect(error).to.be.instanceOf(Unavailable);
        expect(performance.now() - began).to.be.lessThan(PATIENCE);
        await control(up);
        await eventually(() =>
          store.ping().then(
            () => true,
            () => false,
          ),
        );
      });
      await follower.reaches(await store.head());
      follower.stop();
      expect(live.end()).to.deep.equal([]);
      expect(live.ids.size).to.be.at.least(written);
      const again = await auditLog(store, after);
      expect(again.end()).to.deep.equal([]);
      expect([...again.ids].join()).to.equal([...live.ids].join());
    });
  }
});

/** Returns what a promise rejects with; undefined if it doesn't. */
function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
