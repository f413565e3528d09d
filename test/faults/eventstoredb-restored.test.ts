/**
 * An EventStoreDB whose files were restored from a backup and that has been written to since. Its log is longer than the log
 * that the data was derived from, but is refused nevertheless. Needs EVENTSTORE_CONTROL and EVENTSTORE_FILES:
 * docs/eventstoredb.md.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { scavenge } from '#src/events/eventstoredb/scavenge.ts';
import { EventStoreDbStore } from '#src/events/eventstoredb/store.ts';
import { toNumber, toPosition } from '#src/events/position.ts';
import { type EventStore, InvalidPosition, type Position } from '#src/events/store.ts';
import { migrate } from '#src/migrations/migrate.ts';
import { LogWatch } from '#src/operations/log-watch.ts';
import { assertNotBehind, LogBehind } from '#src/operations/restored-log.ts';
import { Follower, newEvents, newStream, rejection } from '#test/contract/event-store/events.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { CONTROLLED, control } from '#test/support/event-store-control.ts';
import { eventually } from '#test/support/process.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const run = promisify(execFile);
const { EVENTSTORE_URL: url = '', EVENTSTORE_FILES: files = '' } = process.env;

(CONTROLLED && files !== '' ? describe : describe.skip)('an EventStoreDB that was restored', () => {
  let database: TestDatabase;

  before(async () => {
    database = await createDatabase();
    await migrate(database.url);
  });
  after(() => database?.drop());

  const onStore = async <T>(work: (store: EventStore) => Promise<T>): Promise<T> => {
    const store = await EventStoreDbStore.open({ url });
    return work(store).finally(() => store.close());
  };
  const watchOver = (store: EventStore): LogWatch =>
    new LogWatch({ store, pool: database.pool, log: { error: () => undefined } });
  /**
   * Runs an instance that writes and exits.
   * @returns the end of the log after that
   */
  const writes = (count: number): Promise<Position> =>
    onStore(async (store) => {
      const watch = watchOver(store);
      await watch.begin();
      watch.start(() => new Map());
      const guarded = watch.guarded();
      for (let n = 0; n < count; n += 1) await guarded.append(newStream(), 'none', newEvents());
      await watch.stop();
      return store.head();
    });
  const reached = (): Promise<Position> => onStore((store) => store.reached());
  const up = async (): Promise<void> => {
    await control('start');
    await eventually(
      () =>
        reached().then(
          () => true,
          () => false,
        ),
      60_000,
    );
  };

  it('is refused, also when its own scavenge has made it longer than it was', async () => {
    await writes(1);
    await control('stop');
    const backup = await temporaryFolder();
    await run('cp', ['-a', `${files}/db/.`, backup]);
    await up();
    const followed = await writes(2);
    await control('stop');
    await run('bash', ['-c', 'rm -rf "$1"/db/* && cp -a "$2"/. "$1"/db', 'restore', files, backup]);
    await up();
    expect((await reached()) < followed).to.equal(true);
    while ((await reached()) < followed) await scavenge(url);
    await onStore(async (store) => {
      await assertNotBehind(store, new Map([['resources', followed]]));
      expect(await rejection(watchOver(store).begin())).to.be.instanceOf(LogBehind);
    });
  });

  it('says of a position that it does not have that it is another log, not that it is away', () =>
    onStore(async (store) => {
      await store.append(newStream(), 'none', newEvents(3));
      const follower = new Follower(store, { after: toPosition(toNumber(await store.head()) - 1) });
      await eventually(() => follower.end !== undefined);
      expect(follower.end).to.be.instanceOf(InvalidPosition);
    }));
});
