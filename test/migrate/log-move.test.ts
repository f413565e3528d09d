/** A log moved to another store: the same events in the same order, whatever happens along the way. */
import { expect } from 'chai';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import {
  type AppendResult,
  BEGINNING,
  type EventStore,
  type NewEvent,
  type Position,
  type RecordedEvent,
  StreamDeleted,
  Unavailable,
} from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { LogsDiffer } from '#src/migrate-log/difference.ts';
import { LogMove } from '#src/migrate-log/log-move.ts';
import { events } from '#src/migrate-log/pull.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { created, erased, erasureRequested, Streams } from '../projections/made.ts';

describe('moving a log', () => {
  let databases: TestDatabase[];
  let source: PostgresEventStore;
  let target: PostgresEventStore;
  let streams: Streams;

  beforeEach(async () => {
    databases = [await createDatabase(), await createDatabase()];
    [source, target] = (await Promise.all(databases.map(({ url }) => PostgresEventStore.open({ url })))) as [
      PostgresEventStore,
      PostgresEventStore,
    ];
    streams = new Streams(source);
  });
  afterEach(async () => {
    await Promise.all([source.close(), target.close()]);
    for (const database of databases) await database.drop();
  });

  /** Returns the events of one append, marked as the service marks them. */
  const whole = (count: number): NewEvent[] =>
    Array.from({ length: count }, (_, n) => created('Observation', newUuid(), {}, { append: [n, count] }));
  const read = async (store: EventStore, until?: Position): Promise<RecordedEvent[]> => {
    const all: RecordedEvent[] = [];
    for await (const event of events(store, BEGINNING, until ?? (await store.head()))) all.push(event);
    return all;
  };
  const withoutPositions = (all: readonly RecordedEvent[]) =>
    all.map(({ position: _position, ...event }) => event);
  const move = (to: EventStore = target, window = 50) => new LogMove({ source, target: to, window });
  const expectSame = async (): Promise<void> => {
    expect(withoutPositions(await read(target))).to.deep.equal(withoutPositions(await read(source)));
  };
  const record = async (patient: string): Promise<RecordedEvent[]> => {
    const all: RecordedEvent[] = [];
    for await (const event of target.read(recordStream(patient))) all.push(event);
    return all;
  };

  /** Appends one to nine events at a time, to a few records in rotation, with gaps in the positions. */
  async function fill(appends: number): Promise<string[]> {
    const patients = Array.from({ length: 7 }, () => newUuid());
    for (let n = 0; n < appends; n += 1) {
      await streams.record(patients[(n * 5) % 7] ?? '', ...whole(1 + (n % 9)));
      if (n % 10 === 3) await databases[0]?.pool.query("select nextval('log.positions')");
    }
    return patients;
  }

  it('keeps streams, revisions, ids, bytes, hashes and the order across streams', async () => {
    await fill(120);
    const moving = move();
    await moving.catchUp(0);
    await expectSame();
    expect(moving).to.include({ streams: 7, events: (await read(source)).length });
  });

  it('appends wholes: what one append wrote is one append again', async () => {
    await fill(60);
    const appends: number[] = [];
    const watched = watch(target, (all, append) => {
      appends.push(all.length);
      return append();
    });
    await move(watched).catchUp(0);
    expect(appends).to.deep.equal(Array.from({ length: 60 }, (_, n) => 1 + (n % 9)));
  });

  it('goes on after it was killed at any append, whether that was written or not', async () => {
    await fill(60);
    for (let kills = 0; ; kills += 1) {
      let left = 7;
      // After a process dies, it does nothing more: its next append is either not sent, or sent without the response being
      // received.
      const dying = watch(target, async (_all, append) => {
        left -= 1;
        if (left > 0) return append();
        return kills % 2 === 0 ? killed() : append().then(killed);
      });
      const end = await move(dying)
        .catchUp(0)
        .catch((error: unknown) => error);
      if (end === undefined) break;
      expect(end).to.be.instanceOf(Unavailable);
      expect(kills).to.be.below(60);
    }
    await expectSame();
  });

  it('follows a source that goes on, and sees its end', async () => {
    await fill(30);
    const moving = move();
    await moving.catchUp(0);
    await fill(10);
    await moving.catchUp(0);
    await expectSame();
    expect(moving).to.include({ streams: 14, events: (await read(source)).length });
  });

  it('carries erasures over: what is erased before, meanwhile or after', async () => {
    const [before = '', meanwhile = '', after = '', kept = ''] = await fill(40);
    const erase = async (patient: string): Promise<void> => {
      await streams.project(erasureRequested(patient));
      await source.erase(recordStream(patient));
      await streams.project(erased(patient));
    };
    await erase(before);
    let appends = 0;
    const busy = watch(target, async (_all, append) => {
      appends += 1;
      if (appends === 20) await erase(meanwhile);
      return append();
    });
    const moving = move(busy, 1);
    await moving.catchUp(0);
    await erase(after);
    await moving.catchUp(0);
    await expectSame();
    for (const patient of [before, meanwhile, after]) {
      const ended = await record(patient).catch((error: unknown) => error);
      expect(ended, patient).to.be.instanceOf(StreamDeleted);
    }
    expect(await record(kept)).to.not.have.length(0);
  });

  it('translates every position to the same place', async () => {
    await fill(80);
    const moving = move();
    await moving.catchUp(0);
    const originals = await read(source);
    const copies = await read(target);
    expect(await moving.translate(BEGINNING)).to.equal(BEGINNING);
    for (const [n, { position }] of originals.entries()) {
      if (n % 17 !== 0 && n !== originals.length - 1) continue;
      expect(await moving.translate(position), `event ${n}`).to.equal(copies[n]?.position);
    }
    // The position of an event that has since been erased, and a position beyond the end.
    const [first] = originals;
    expect(await moving.translate(`${first?.position}0` as Position)).to.equal(copies[0]?.position);
    expect(await moving.translate('9999999999999999' as Position)).to.equal(await target.head());
  });

  it('refuses a target with another history, and a source that was altered', async () => {
    await fill(10);
    await new Streams(target).record(newUuid(), ...whole(1));
    expect(await move().catchUp(0).catch(String)).to.contain('LogsDiffer: the logs differ');
    await databases[1]?.pool.query('truncate log.events');
    await databases[0]?.pool.query(
      `update log.events set data = replace(data, 'Observation', 'Condition') where position = (select max(position) from log.events)`,
    );
    const altered = await move()
      .catchUp(0)
      .catch((error: unknown) => error);
    expect(altered).to.be.instanceOf(LogsDiffer);
    expect(String(altered)).to.contain('hash mismatch in the source');
  });
});

/** Returns the store with its appends replaced by the given function. */
function watch(
  store: EventStore,
  append: (events: readonly NewEvent[], plain: () => Promise<AppendResult>) => Promise<AppendResult>,
): EventStore {
  return new Proxy(store, {
    get(of, name) {
      const member: unknown = Reflect.get(of, name);
      if (name === 'append') {
        return (...args: Parameters<EventStore['append']>) => append(args[2], () => of.append(...args));
      }
      return typeof member === 'function' ? member.bind(of) : member;
    },
  });
}

function killed(): never {
  throw new Unavailable('killed');
}
