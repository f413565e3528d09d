/** The access log's writer: chains, concurrent batches of two instances, erased records, databases that can't be written to. */
import { expect } from 'chai';
import { pino } from 'pino';
import { openPool } from '#src/database/pool.ts';
import { AccessLogWriter } from '#src/operations/access-log/access-log.ts';
import { chainHash, digestEntry, GENESIS } from '#src/operations/access-log/chain.ts';
import { eraseAccessLog } from '#src/operations/access-log/erase.ts';
import type { AccessEntry } from '#src/shared/access/access-entry.ts';
import { newRequestId, newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';

const SILENT = pino({ level: 'silent' });

describe('the writer of the access log', () => {
  let database: TestDatabase;
  let open: { close: () => Promise<void> }[];

  before(async () => {
    database = await createMigratedDatabase();
  });
  after(() => database.drop());
  beforeEach(() => {
    open = [];
  });
  afterEach(async () => {
    for (const { close } of open) await close();
  });

  function writerOf(options = ''): AccessLogWriter {
    const pool = openPool(database.url, { max: 2, name: 'test access log', options, connectMs: 2_000 });
    const writer = new AccessLogWriter(pool, SILENT);
    const close = async (): Promise<void> => {
      await writer.close();
      await pool.end();
    };
    open.push({ close });
    return writer;
  }

  const entry = (record: string, rest: Partial<AccessEntry> = {}): AccessEntry => ({
    record,
    action: 'read',
    actor: { kind: 'application', id: 'app_a', grantId: 'grant_a' },
    resourceType: 'Patient',
    resourceId: record,
    purpose: 'Heart study',
    status: 'ok',
    count: 1,
    requestId: newRequestId(),
    ...rest,
  });

  /** Recomputes a record's chain from its rows; returns the request ids in order. */
  async function chainOf(record: string): Promise<string[]> {
    const { rows } = await database.pool.query(
      'select * from operations.access_entry where record = $1 order by seq',
      [record],
    );
    let hash: Buffer = GENESIS;
    let at = 0;
    for (const [index, row] of rows.entries()) {
      expect(row.seq).to.equal(index + 1);
      expect(row.at).to.be.at.least(at);
      hash = chainHash(hash, row.seq, row.at, digestEntry(row));
      at = row.at;
      expect(row.hash.toString('hex')).to.equal(hash.toString('hex'));
    }
    const { rows: heads } = await database.pool.query(
      'select entries, hash, at from operations.access_head where record = $1',
      [record],
    );
    if (rows.length > 0) expect(heads).to.deep.equal([{ entries: rows.length, hash, at }]);
    return rows.map(({ request_id }) => request_id);
  }

  const refusal = async (work: Promise<void>): Promise<Refusal> => {
    const thrown = await work.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(thrown instanceof Refusal)) throw new Error(`no refusal: ${String(thrown)}`);
    return thrown;
  };

  it('chains the entries of each record, whatever comes together, over two instances', async () => {
    const records = Array.from({ length: 5 }, newUuid);
    const [first, second] = [writerOf(), writerOf()];
    const asked: AccessEntry[] = [];
    await Promise.all(
      Array.from({ length: 400 }, async (_, n) => {
        const some = [0, 1, 2].slice(0, (n % 3) + 1).map((m) => entry(records[(n * 7 + m) % 5] ?? ''));
        asked.push(...some);
        await (n % 2 === 0 ? first : second).written(some);
      }),
    );
    for (const record of records) {
      const expected = asked.filter((each) => each.record === record).map(({ requestId }) => requestId);
      expect((await chainOf(record)).toSorted()).to.deep.equal(expected.toSorted());
    }
  });

  it('writes what arrives during a batch as one next batch, each with a commit that waits for the disk', async () => {
    const record = newUuid();
    const writer = writerOf('-c synchronous_commit=off');
    await writer.written([entry(record)]);
    await database.pool.query(`
      create table test_batches (n serial, waits text, rows int8);
      create function test_note() returns trigger language plpgsql as
        $$ begin insert into test_batches (waits, rows) select current_setting('synchronous_commit'), count(*) from added; return null; end $$;
      create trigger test_note after insert on operations.access_entry
        referencing new table as added for each statement execute function test_note()`);
    const lock = await database.pool.connect();
    try {
      await lock.query('begin; select from operations.access_head for update');
      const early = writer.written([entry(record)]);
      await waitsForLock();
      const late = Array.from({ length: 20 }, () => writer.written([entry(record)]));
      await new Promise(setImmediate);
      await lock.query('commit');
      await Promise.all([early, ...late]);
    } finally {
      lock.release();
    }
    const { rows } = await database.pool.query('select waits, rows from test_batches order by n');
    await database.pool.query(
      'drop trigger test_note on operations.access_entry; drop function test_note; drop table test_batches',
    );
    expect(rows).to.deep.equal([
      { waits: 'on', rows: 1 },
      { waits: 'on', rows: 20 },
    ]);
    expect(await chainOf(record)).to.have.length(22);
  });

  async function waitsForLock(): Promise<void> {
    for (;;) {
      const { rowCount } = await database.pool.query(
        "select from pg_stat_activity where application_name = 'test access log' and wait_event_type = 'Lock' and datname = current_database()",
      );
      if (rowCount === 1) return;
    }
  }

  it('writes every column, and texts that the database would refuse or a terminal obey in another form', async () => {
    const record = newUuid();
    const writer = writerOf();
    const strange = `a\u0000b\ud800"\\{},null\u001b${'x'.repeat(600)}`;
    await writer.written([
      entry(record, { resourceType: null, resourceId: strange, purpose: 'NULL', count: null }),
      entry(record, { actor: { kind: 'key', id: 'key_a' }, status: 'not_found', purpose: null, count: 0 }),
      entry(record, {
        actor: { kind: 'person', issuer: 'https://id.example', subject: 'mira', role: 'self' },
        status: 'denied',
      }),
    ]);
    await chainOf(record);
    const { rows } = await database.pool.query(
      'select * from operations.access_entry where record = $1 order by seq',
      [record],
    );
    const [first, second, third] = rows;
    expect(first).to.include({ resource_type: null, purpose: 'NULL', count: null, grant_id: 'grant_a' });
    expect(first.resource_id).to.equal(`a\ufffdb\ufffd"\\{},null\ufffd${'x'.repeat(600)}`.slice(0, 512));
    expect(second).to.include({
      actor_kind: 'key',
      actor_id: 'key_a',
      grant_id: null,
      purpose: null,
      count: 0,
    });
    expect(third).to.include({
      actor_kind: 'person',
      actor_id: 'mira',
      issuer: 'https://id.example',
      role: 'self',
    });
  });

  it('writes nothing of an erased record, and refuses its reads', async () => {
    const [kept, gone, never] = [newUuid(), newUuid(), newUuid()];
    const writer = writerOf();
    await writer.written([entry(gone), entry(kept), entry(gone)]);
    const { rows } = await database.pool.query('select hash from operations.access_head where record = $1', [
      gone,
    ]);
    const erased = { entries: 2, hash: rows[0]?.hash.toString('hex') };
    expect(await eraseAccessLog(database.pool, gone)).to.deep.equal(erased);
    expect(await eraseAccessLog(database.pool, never)).to.deep.equal({ entries: 0, hash: null });
    expect((await refusal(writer.written([entry(gone)]))).status).to.equal(503);
    expect((await refusal(writer.written([entry(kept), entry(never)]))).status).to.equal(503);
    writer.note(entry(gone, { status: 'denied' }));
    await writer.written([entry(kept)]);
    expect(await chainOf(gone)).to.have.length(0);
    expect(await chainOf(never)).to.have.length(0);
    expect(await chainOf(kept)).to.have.length(3);
    expect(await eraseAccessLog(database.pool, gone)).to.deep.equal(erased);
  });

  it('refuses reads of one record whose chain is damaged, and of no other', async () => {
    const [damaged, other] = [newUuid(), newUuid()];
    const writer = writerOf();
    await writer.written([entry(damaged), entry(other)]);
    await database.pool.query('update operations.access_head set entries = 0 where record = $1', [damaged]);
    const [first, second] = await Promise.allSettled([
      writer.written([entry(damaged)]),
      writer.written([entry(other)]),
    ]);
    expect([first?.status, second?.status]).to.deep.equal(['rejected', 'fulfilled']);
    expect(await chainOf(other)).to.have.length(2);
  });

  it('refuses reads while the database takes no writes, and writes refused reads of that time later, each once', async () => {
    const record = newUuid();
    const writer = writerOf();
    await writer.written([entry(record)]);
    const name = new URL(database.url).pathname.slice(1);
    const readOnly = async (value: string): Promise<void> => {
      await database.pool.query(`alter database "${name}" set default_transaction_read_only = ${value}`);
      await database.pool.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test access log' and datname = current_database()",
      );
    };
    await readOnly('on');
    // The first write may fail because its connection was ended.
    await refusal(writer.written([entry(record)]));
    const denied = [entry(record, { status: 'denied' }), entry(record, { status: 'denied' })];
    for (const each of denied) writer.note(each);
    const { status, headers } = await refusal(writer.written([entry(record)]));
    expect([status, headers['Retry-After']]).to.deep.equal([503, '1']);
    expect(writer.waiting).to.equal(2);
    const admin = openPool(database.url, { max: 1, options: '-c default_transaction_read_only=off' });
    await admin.query(`alter database "${name}" set default_transaction_read_only = off`);
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test access log' and datname = current_database()",
    );
    await admin.end();
    await writer.close();
    expect((await chainOf(record)).slice(1)).to.deep.equal(denied.map(({ requestId }) => requestId));
  });

  it('does not write a refused read twice whose batch was committed without an answer', async () => {
    const record = newUuid();
    const writer = writerOf();
    await writer.written([entry(record)]);
    const lost = openPool(database.url, { max: 1 });
    const real = lost.query.bind(lost);
    let answered = false;
    // The connection ends after the commit, but before the response arrives.
    const cut = Object.assign(lost, {
      query: async (...asked: Parameters<typeof real>) => {
        const result = await real(...asked);
        if (answered) return result;
        answered = true;
        throw new Error('Connection terminated unexpectedly');
      },
    });
    const second = new AccessLogWriter(cut, SILENT);
    const denied = entry(record, { status: 'denied' });
    second.note(denied);
    while (!answered) await new Promise(setImmediate);
    await second.close();
    await lost.end();
    expect((await chainOf(record)).filter((id) => id === denied.requestId)).to.have.length(1);
  });
});
