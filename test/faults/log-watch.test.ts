/**
 * A log that is truncated and grows again under a running instance: nothing more is acknowledged, even if the log has become
 * longer than before.
 */
import { expect } from 'chai';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { type EventStore, Unavailable } from '#src/events/store.ts';
import { readMark } from '#src/operations/log-mark.ts';
import { LogWatch } from '#src/operations/log-watch.ts';
import { LogBehind } from '#src/operations/restored-log.ts';
import { newEvents, newStream, rejection, write } from '#test/contract/event-store/events.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';

describe('the watch over the log', () => {
  let database: TestDatabase;
  let store: PostgresEventStore;
  let errors: string[];
  const watches: LogWatch[] = [];

  beforeEach(async () => {
    database = await createMigratedDatabase();
    store = await PostgresEventStore.open({ url: database.url });
    errors = [];
  });
  afterEach(async () => {
    for (const watch of watches.splice(0)) await watch.stop();
    await store.close();
    await database.drop();
  });

  function watched(of: EventStore = store): { watch: LogWatch; guarded: EventStore } {
    const log = { error: (_: object, message: string) => void errors.push(message) };
    const watch = new LogWatch({ store: of, pool: database.pool, log });
    watches.push(watch);
    return { watch, guarded: watch.guarded() };
  }
  /** Truncates the log as a restore does: events after a position are gone, and their positions are assigned again. */
  async function cut(position: number): Promise<void> {
    await database.pool.query('delete from log.events where position > $1', [position]);
    await database.pool.query("select setval('log.positions', $1)", [position]);
  }
  const append = (to: EventStore) => to.append(newStream(), 'none', newEvents());
  const nobody = new Map();

  it('refuses an append that is not beyond what was passed, and all that are written with it', async () => {
    const { watch, guarded } = watched();
    for (let n = 0; n < 10; n += 1) await append(guarded);
    await cut(5);
    // These appends are written to the log together: when the first of them is checked, the log is as long as it ever was.
    const settled = await Promise.allSettled(Array.from({ length: 8 }, () => append(guarded)));
    expect(Number(await store.reached())).to.be.at.least(10);
    for (const each of settled) {
      expect(each.status).to.equal('rejected');
      if (each.status === 'rejected') expect(each.reason).to.be.instanceOf(Unavailable);
    }
    expect(errors).to.have.length(1);
    expect(await rejection(watch.check(nobody))).to.be.instanceOf(LogBehind);
    expect(await rejection(append(guarded))).to.be.instanceOf(Unavailable);
    expect(await rejection(guarded.erase(newStream()))).to.be.instanceOf(Unavailable);
  });

  it('finds a log that others have grown beyond what was followed', async () => {
    const { watch, guarded } = watched();
    for (let n = 0; n < 10; n += 1) await append(guarded);
    await watch.check(nobody);
    await cut(5);
    await write(store, newStream(), [50]);
    const found = await rejection(watch.check(nobody));
    expect(found).to.be.instanceOf(LogBehind);
    expect(String(found)).to.contain('lacks event').and.to.contain('annal rebuild --restored');
  });

  it('takes an append that is sent again, also after later ones', async () => {
    const { guarded } = watched();
    const [stream, events] = [newStream(), newEvents(2)];
    const first = await guarded.append(stream, 'none', events);
    await append(guarded);
    expect(await guarded.append(stream, 'none', events)).to.deep.equal(first);
    expect(errors).to.deep.equal([]);
  });

  it('does not acknowledge what it cannot look into', async () => {
    let away = false;
    const failing = Object.assign(Object.create(store) as EventStore, {
      append: (...args: Parameters<EventStore['append']>) => store.append(...args),
      reached: async () => {
        if (away) throw new Unavailable('gone');
        return store.reached();
      },
      read: (...args: Parameters<EventStore['read']>) => store.read(...args),
    });
    const { guarded } = watched(failing);
    const [stream, events] = [newStream(), newEvents()];
    await guarded.append(stream, 'none', events);
    away = true;
    expect(await rejection(guarded.append(stream, 'none', events))).to.be.instanceOf(Unavailable);
    away = false;
    expect(await guarded.append(stream, 'none', events)).to.have.property('position');
  });

  it('notes the newest event, for the next start to look for', async () => {
    const first = watched();
    first.watch.start(() => nobody);
    await append(first.guarded);
    const { position, head } = await append(first.guarded);
    await first.watch.stop();
    expect(await readMark(database.pool)).to.include({ position, revision: head.revision });
    await watched().watch.begin();
    await cut(1);
    await write(store, newStream(), [5]);
    expect(await rejection(watched().watch.begin())).to.be.instanceOf(LogBehind);
  });

  it('takes an erased event for one that is there', async () => {
    const { watch, guarded } = watched();
    watch.start(() => nobody);
    const stream = newStream();
    await guarded.append(stream, 'none', newEvents());
    await guarded.erase(stream);
    await watch.check(nobody);
    await watch.stop();
    await watched().watch.begin();
  });
});
