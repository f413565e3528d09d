/** A process encounters an event that it can't act on: the event is set aside, later events continue, and nothing is lost. */
import { expect } from 'chai';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { type Position, type RecordedEvent, Unavailable } from '#src/events/store.ts';
import type { ProcessDefinition } from '#src/processes/definition.ts';
import { Process } from '#src/processes/process.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/process.ts';

describe('a process', () => {
  let database: TestDatabase;
  let store: PostgresEventStore;
  const running: Process[] = [];
  beforeEach(async () => {
    database = await createMigratedDatabase();
    store = await PostgresEventStore.open({ url: database.url });
  });
  afterEach(async () => {
    for (const process of running.splice(0)) process.stop();
    await store.close();
    await database.drop();
  });

  const errors: string[] = [];
  function run(act: ProcessDefinition['act'], parkedEveryMs = 20, patienceMs = 600_000): Process {
    const log = {
      info: () => undefined,
      warn: () => undefined,
      error: (_: object, message: string) => void errors.push(message),
    };
    const definition = { name: 'work', types: ['Asked'], act };
    const deps = { store, pool: database.pool, databaseUrl: database.url, log };
    const times = { pauseMs: 20, hungMs: 3_000, firstPauseMs: 1, parkedEveryMs, patienceMs };
    const process = new Process(definition, deps, times);
    process.start();
    running.push(process);
    return process;
  }

  async function append(stream: string): Promise<Position> {
    const event = { id: newUuid(), type: 'Asked', data: '{}', metadata: '{"a":1}' };
    return (await store.append(stream, 'none', [event])).position;
  }

  it('sets aside an event that goes on failing, and acts on what is behind it', async () => {
    const tries = new Map<string, number>();
    let broken = true;
    const process = run(async ({ stream }: RecordedEvent) => {
      tries.set(stream, (tries.get(stream) ?? 0) + 1);
      if (stream === 'record-bad' && broken) throw new TypeError('no such thing');
    });
    const bad = await append('record-bad');
    const good = await append('record-good');
    expect(await process.hasDone(good, 10_000)).to.equal(true);
    expect(await process.hasPassed(bad, 0)).to.equal(true);
    expect(await process.hasDone(bad, 0)).to.equal(false);
    expect(await process.parked.isParked('work', 'record-bad')).to.equal(true);
    expect(tries.get('record-bad')).to.be.greaterThan(1);
    expect(errors.at(-1)).to.contain('parked it');
    const [parked] = await process.parked.all();
    expect([parked?.stream, parked?.revision, parked?.error]).to.deep.equal([
      'record-bad',
      0,
      'no such thing',
    ]);
    // Parked events are retried by themselves, or earlier on request.
    broken = false;
    await process.parked.hurry();
    expect(await process.hasDone(bad, 10_000)).to.equal(true);
    expect(await process.parked.all()).to.deep.equal([]);
  });

  it('counts and postpones further tries; the next start tries at once', async () => {
    let broken = true;
    const act = async (): Promise<void> => {
      if (broken) throw new TypeError('still not');
    };
    const first = run(act, 3_600_000);
    const bad = await append('record-bad');
    await eventually(() => first.parked.holds('work', bad));
    first.stop();
    running.pop();
    const second = run(act);
    await eventually(async () => ((await second.parked.all())[0]?.attempts ?? 0) === 7);
    const [parked] = await second.parked.all();
    expect(parked?.retryAt.getTime()).to.be.greaterThan(Date.now() + 60_000);
    second.stop();
    running.pop();
    broken = false;
    expect(await run(act).hasDone(bad, 10_000)).to.equal(true);
  });

  it('never sets aside an event because something is away', async () => {
    let left = 8;
    const process = run(async () => {
      left -= 1;
      if (left > 4) throw new Unavailable('the log is away');
      if (left > 0) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    });
    const position = await append('record-late');
    expect(await process.hasDone(position, 30_000)).to.equal(true);
    expect(left).to.equal(0);
    expect(await process.parked.all()).to.deep.equal([]);
  });

  it('sets aside an event whose statements time out whenever it is tried, while everything answers', async () => {
    const process = run(
      async ({ stream }) => {
        if (stream !== 'record-slow') return;
        await database.pool.query('set local statement_timeout = 1; select pg_sleep(1)');
      },
      3_600_000,
      50,
    );
    const slow = await append('record-slow');
    expect(await process.hasPassed(await append('record-next'), 20_000)).to.equal(true);
    expect(await process.parked.holds('work', slow)).to.equal(true);
    expect((await process.parked.all())[0]?.error).to.contain('57014');
  });

  it('retries parked events behind one whose statements still time out', async () => {
    let broken = true;
    const process = run(
      async ({ stream }) => {
        if (stream === 'record-slow')
          await database.pool.query('set local statement_timeout = 1; select pg_sleep(1)');
        if (broken) throw new TypeError('no such thing');
      },
      20,
      50,
    );
    const slow = await append('record-slow');
    const bad = await append('record-bad');
    await eventually(() => process.parked.holds('work', bad));
    expect(await process.parked.holds('work', slow)).to.equal(true);
    broken = false;
    await process.parked.hurry();
    expect(await process.hasDone(bad, 5_000)).to.equal(true);
    expect(await process.parked.holds('work', slow)).to.equal(true);
  });

  it('goes on trying for as long as the log is away, however long', async () => {
    const { ping } = store;
    store.ping = async () => {
      throw new Unavailable('the log is away');
    };
    let tries = 0;
    const process = run(
      async () => {
        tries += 1;
        if (tries < 6) throw new Unavailable('the log is away');
      },
      3_600_000,
      0,
    );
    expect(await process.hasDone(await append('record-late'), 30_000)).to.equal(true);
    expect(tries).to.equal(6);
    store.ping = ping;
  });

  it('forgets a parked event of a stream that was erased', async () => {
    const process = run(async () => {
      throw new TypeError('never');
    });
    const bad = await append('record-bad');
    await eventually(() => process.parked.holds('work', bad));
    await store.erase('record-bad');
    await process.parked.hurry();
    await eventually(async () => (await process.parked.all()).length === 0);
  });

  it('tells an instance that does not lead how far it is, at once', async () => {
    run(async () => undefined);
    const follower = run(async () => undefined);
    await append('record-1');
    const started = performance.now();
    for (let n = 2; n < 12; n += 1)
      expect(await follower.hasPassed(await append(`record-${n}`), 5_000)).to.equal(true);
    // Without a request, a leader saves its position only once a second.
    expect(performance.now() - started).to.be.lessThan(5_000);
  });

  it('is taken over from an instance that hangs', async () => {
    const hung = await database.pool.connect();
    hung.on('error', () => undefined);
    try {
      await hung.query("SELECT pg_advisory_lock(hashtextextended('process/work', 1))");
      const process = run(async () => undefined);
      expect(await process.hasDone(await append('record-1'), 20_000)).to.equal(true);
    } finally {
      hung.release(true);
    }
  });
});
