/** Faults that only the PostgreSQL log has to handle: broken connections, restarts and missed notifications. */
import { expect } from 'chai';
import type pg from 'pg';
import { startEmbeddedPostgres } from '#src/database/embedded.ts';
import type { PostgresEventStoreOptions } from '#src/events/postgres/options.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { BEGINNING, Unavailable } from '#src/events/store.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';
import { SCALE } from './event-store/adapter.ts';
import {
  all,
  everything,
  Follower,
  faultsIn,
  newEvents,
  newStream,
  rejection,
  write,
} from './event-store/events.ts';
import { soon, writesThrough } from './event-store/load.ts';
import { Relay } from './relay.ts';

const NEVER = 3_600_000;

/**
 * Ends every connection to the test's database except its own.
 * @param name a pattern for the names in pg_stat_activity
 */
async function terminate(pool: pg.Pool, name = '%'): Promise<number> {
  const { rowCount } = await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE $1`,
    [name],
  );
  return rowCount ?? 0;
}

describe('the PostgreSQL log', () => {
  let database: TestDatabase;
  let relay: Relay;
  const stores: PostgresEventStore[] = [];

  const open = async (options: Partial<PostgresEventStoreOptions> = {}): Promise<PostgresEventStore> => {
    const store = await PostgresEventStore.open({ url: database.url, ...options });
    stores.push(store);
    return store;
  };

  beforeEach(async () => {
    database = await createDatabase();
    relay = await Relay.open(database.url);
  });

  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await relay.close();
    await database.drop();
  });

  after(() => removeTemporaryFolders());

  it('writes an append once though its answer was lost', async () => {
    const store = await open({ url: relay.url });
    const stream = newStream();
    const events = newEvents(3);
    relay.swallowAnswer();
    const result = await store.append(stream, 'none', events);
    expect(result.head.revision).to.equal(2);
    expect((await all(store.read(stream))).map(({ id }) => id)).to.deep.equal(events.map(({ id }) => id));
  });

  it('delivers what was written although its answer was lost', async () => {
    const store = await open({ url: relay.url, recheckEvery: NEVER });
    const follower = new Follower(store, { after: BEGINNING });
    const { position: first, head } = await store.append(newStream(), 'none', newEvents());
    await follower.reaches(first);
    relay.swallowAnswer();
    const { position } = await store.append(newStream(), 'none', newEvents(2));
    await follower.reaches(position);
    follower.stop();
    expect(head.revision).to.equal(0);
    expect(follower.events).to.have.length(3);
  });

  it('loses and doubles nothing while its connections are broken again and again', async function () {
    this.timeout(60_000 * Math.max(1, SCALE / 4));
    const store = await open();
    let received = 0;
    let after = await store.head();
    const reading = async (): Promise<void> => {
      // A subscriber may be told that the log is unavailable; it then continues from where it stopped.
      const follower = new Follower(store, { after });
      await follower.until(({ end }) => end !== undefined).catch(() => undefined);
      after = follower.position ?? after;
      received += follower.handled.length;
      if (follower.end !== 'completed') await reading();
    };
    const read = reading();
    await writesThrough(store, async () => {
      for (let round = 0; round < 15 * SCALE; round += 1) {
        await terminate(database.pool);
        // Waits until the store is writing again, so that each round interrupts work in progress.
        const head = await store.head();
        while ((await store.head()) === head) await soon();
      }
    });
    const events = await everything(store, { after: BEGINNING });
    expect(faultsIn(events)).to.deep.equal([]);
    const last = new Follower(store, { after });
    await last.reaches(await store.head());
    last.stop();
    await store.close();
    await read;
    expect(received).to.equal(events.length);
  });

  itAtFullSize('carries on by itself when the server was restarted', async () => {
    const dataDir = await temporaryFolder();
    let server = await startEmbeddedPostgres({ dataDir, fsync: false });
    try {
      relay.redirect(server.url);
      const store = await open({ url: relay.url });
      const follower = new Follower(store, { after: BEGINNING });
      await writesThrough(store, async () => {
        await server.stop();
        expect(await rejection(store.ping())).to.be.instanceOf(Unavailable);
        expect(await rejection(store.append(newStream(), 'none', newEvents()))).to.be.instanceOf(Unavailable);
        expect(await rejection(all(store.read(newStream())))).to.be.instanceOf(Unavailable);
        expect(await rejection(store.erase(newStream()))).to.be.instanceOf(Unavailable);
        server = await startEmbeddedPostgres({ dataDir, fsync: false });
        relay.redirect(server.url);
        await store.ping();
      });
      if (follower.end !== undefined) expect(follower.end).to.be.instanceOf(Unavailable);
      follower.stop();
      expect(faultsIn(await everything(store, { after: BEGINNING }))).to.deep.equal([]);
      await store.close();
    } finally {
      await server.stop();
    }
  });

  it('says that it is unavailable when it cannot be opened', async () => {
    const url = 'postgres://nobody@127.0.0.1:1/nowhere';
    expect(await rejection(PostgresEventStore.open({ url }))).to.be.instanceOf(Unavailable);
  });

  it('hears of other stores by notification alone', async () => {
    const [reader, writer] = [await open({ recheckEvery: NEVER }), await open()];
    const follower = new Follower(reader, { after: BEGINNING });
    for (let n = 0; n < 20; n += 1) {
      const { position } = await write(writer, newStream(), [2]);
      await follower.reaches(position);
    }
    follower.stop();
    expect(follower.events).to.have.length(40);
  });

  it('catches up on what was written while it could not listen', async () => {
    const [reader, writer] = [await open({ recheckEvery: NEVER }), await open()];
    const follower = new Follower(reader, { after: BEGINNING });
    await follower.reaches((await write(writer, newStream(), [1])).position);
    for (let n = 0; n < 5; n += 1) {
      const broken = (async () => {
        while ((await terminate(database.pool, 'annal log listener')) === 0) await soon();
      })();
      const { position } = await write(writer, newStream(), [1, 1]);
      await broken;
      await follower.reaches(position);
    }
    follower.stop();
    expect(follower.events).to.have.length(11);
  });

  it('finds what nobody was notified of', async () => {
    const store = await open({ recheckEvery: 20 });
    const follower = new Follower(store, { after: BEGINNING });
    const { position } = await write(store, newStream(), [1]);
    await follower.reaches(position);
    await database.pool.query(
      `INSERT INTO log.events SELECT nextval('log.positions'), 'record-silent', revision, id, type, data, metadata
         FROM log.events`,
    );
    await follower.until(({ events }) => events.length === 2);
    follower.stop();
    expect(follower.events[1]?.stream).to.equal('record-silent');
  });

  it('hands one and the same event to every subscriber of the process that wrote it', async () => {
    const store = await open({ recheckEvery: NEVER });
    const followers = [1, 2].map(() => new Follower(store, { after: BEGINNING }));
    // The first events may still come from the database, because subscribers must catch up before events are handed to them
    // directly.
    for (let shared = 0; shared < 20; ) {
      const { position } = await write(store, newStream(), [1]);
      const [one, two] = await Promise.all(followers.map((follower) => follower.reaches(position)));
      const last = one?.events.at(-1);
      expect(last?.position).to.equal(position);
      shared = last === two?.events.at(-1) ? shared + 1 : 0;
    }
    for (const follower of followers) follower.stop();
  });

  it('fails only the append that the database refuses, not the batch', async () => {
    const store = await open();
    await database.pool.query(`ALTER TABLE log.events ADD CHECK (data NOT LIKE '%refuse me%')`);
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, (_, n) =>
        store.append(
          newStream(),
          'none',
          newEvents(2, () => (n === 17 ? '"refuse me"' : '{}')),
        ),
      ),
    );
    expect(results.map(({ status }) => status === 'rejected')).to.deep.equal(
      Array.from({ length: 30 }, (_, n) => n === 17),
    );
  });

  it('keeps no body of an erased stream anywhere', async () => {
    const store = await open();
    const stream = newStream();
    const marker = 'marker-of-an-erased-record';
    await store.append(
      stream,
      'none',
      newEvents(2, () => `"${marker}${'x'.repeat(20_000)}"`),
    );
    await store.erase(stream);
    const { rows } = await database.pool.query<{ found: string }>(
      `SELECT count(*) AS found FROM log.events WHERE data LIKE $1 OR metadata LIKE $1`,
      [`%${marker}%`],
    );
    expect(Number(rows[0]?.found)).to.equal(0);
    const { rows: names } = await database.pool.query('SELECT * FROM log.erased');
    expect(names).to.deep.equal([{ stream }]);
  });
});
