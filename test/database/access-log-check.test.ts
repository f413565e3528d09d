/** The check of the access log: what `annal verify` and a checkpoint find in its tables. */
import { expect } from 'chai';
import { pino } from 'pino';
import { openPool } from '#src/database/pool.ts';
import { AccessLogWriter } from '#src/operations/access-log/access-log.ts';
import {
  type AccessHead,
  AccessLogCheck,
  type AccessLogReport,
  type PurgeTrace,
} from '#src/operations/access-log/check.ts';
import { eraseAccessLog } from '#src/operations/access-log/erase.ts';
import { newRequestId, newUuid } from '#src/shared/ids.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';

async function* iterate<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

describe('the check of the access log', () => {
  let database: TestDatabase;
  let one: string;
  let other: string;

  const sql = async (text: string, ...values: unknown[]): Promise<void> => {
    await database.pool.query(text, values);
  };
  const write = async (...records: readonly string[]): Promise<void> => {
    const pool = openPool(database.url, { max: 1, name: 'test access log' });
    const writer = new AccessLogWriter(pool, pino({ level: 'silent' }));
    await writer.written(
      records.map((record) => ({
        record,
        action: 'read',
        actor: { kind: 'application', id: 'app_a', grantId: 'grant_a' },
        resourceType: 'Patient',
        resourceId: record,
        purpose: null,
        status: 'ok',
        count: 1,
        requestId: newRequestId(),
      })),
    );
    await writer.close();
    await pool.end();
  };

  interface Given {
    readonly heads?: readonly AccessHead[];
    readonly events?: readonly PurgeTrace[];
    /** The content of the event log at the end of the check. */
    readonly later?: ReadonlyMap<string, PurgeTrace>;
  }
  const check = async ({
    heads,
    events = [],
    later = new Map(),
  }: Given = {}): Promise<AccessLogReport & { readonly heads: readonly AccessHead[] }> => {
    const session = await database.pool.connect();
    try {
      const checking = new AccessLogCheck(session, 10);
      await checking.begin(heads === undefined ? undefined : iterate(heads));
      await checking.note(events.map((event) => ({ event })));
      const report = await checking.end(async (records) => {
        expect(records.size).to.be.greaterThan(0);
        return new Map([...later].filter(([record]) => records.has(record)));
      });
      const found: AccessHead[] = [];
      for await (const head of checking.heads()) found.push(head);
      return { ...report, heads: found };
    } finally {
      session.release(true);
    }
  };
  const faults = async (given?: Given) =>
    (await check(given)).faults.map(({ what, record, entry, message }) => [
      what,
      record === one ? 'one' : 'other',
      entry,
      message,
    ]);

  before(async () => {
    database = await createMigratedDatabase();
  });
  after(() => database.drop());
  beforeEach(async () => {
    await sql('truncate operations.access_entry, operations.access_head, operations.access_use');
    [one, other] = [newUuid(), newUuid()];
    await write(one, other, one, one, one, one);
  });

  const headsNow = async (): Promise<readonly AccessHead[]> => (await check()).heads;
  const environment = 'sandbox';
  const requested = (patient: string): PurgeTrace => ({
    type: 'RecordErasureRequested',
    data: { patient, environment },
  });
  const erased = (patient: string, access_log: { entries: number; hash: string | null }): PurgeTrace => ({
    type: 'RecordErased',
    data: { patient, environment, grants: [], access_log },
  });

  it('finds nothing wrong with what the writer wrote, and knows where it ends', async () => {
    const { heads, faults: found, records, entries } = await check();
    expect({ found, records, entries }).to.deep.equal({ found: [], records: 2, entries: 6 });
    expect(heads.map(({ record, entries: number }) => [record, number])).to.deep.equal(
      [
        [one, 5],
        [other, 1],
      ].sort(),
    );
    await write(one);
    expect(await faults({ heads }), 'after later reads').to.deep.equal([]);
    await sql('truncate operations.access_entry, operations.access_head, operations.access_use');
    expect(await check()).to.deep.equal({ heads: [], faults: [], records: 0, entries: 0 });
  });

  it('finds an altered entry, in each of its columns', async () => {
    const altered = 'hash mismatch: this entry or the one before it was altered';
    for (const change of [
      "id = 'd0000000-0000-4000-8000-000000000001'",
      "action = 'vread'",
      "actor_kind = 'key'",
      "actor_id = 'app_b'",
      "issuer = 'https://issuer.example'",
      "role = 'member'",
      'grant_id = null',
      "resource_type = 'Condition'",
      'resource_id = null',
      "purpose = ''",
      "status = 'denied'",
      'count = 2',
      "request_id = 'req_other'",
      'at = at + 1',
    ]) {
      await sql('drop table if exists public.kept_entry');
      await sql('create table public.kept_entry as select * from operations.access_entry');
      await sql(`update operations.access_entry set ${change} where record = $1 and seq = 3`, one);
      expect(await faults(), change).to.deep.equal([['hash', 'one', 3, altered]]);
      await sql('truncate operations.access_entry, operations.access_use');
      await sql('insert into operations.access_entry select * from public.kept_entry');
    }
  });

  it('finds entries that changed places, and one that belongs to another record', async () => {
    await sql('update operations.access_entry set seq = -2 where record = $1 and seq = 2', one);
    await sql('update operations.access_entry set seq = 2 where record = $1 and seq = 3', one);
    await sql('update operations.access_entry set seq = 3 where record = $1 and seq = -2', one);
    expect((await check()).faults.map(({ what, entry }) => [what, entry])).to.deep.equal([
      ['hash', 2],
      ['hash', 3],
      ['hash', 4],
    ]);
    await sql(
      'update operations.access_entry set record = $1, seq = 2 where record = $2 and seq = 5',
      other,
      one,
    );
    const found = (await check()).faults.filter(({ record }) => record === other);
    expect(found.map(({ what, entry }) => [what, entry])).to.deep.equal([
      ['hash', 2],
      ['head', null],
    ]);
  });

  it('finds entries that were removed from the beginning, the middle and the end', async () => {
    await sql('delete from operations.access_entry where record = $1 and seq in (1, 3, 5)', one);
    expect(await faults()).to.deep.equal([
      ['sequence', 'one', 2, 'the first entry has the number 2'],
      ['sequence', 'one', 4, 'entry 4 follows 2'],
      ['head', 'one', null, 'the entries end at 4, but the head counts 5'],
    ]);
    await sql('delete from operations.access_entry where record = $1', one);
    expect(await faults()).to.deep.equal([
      ['head', 'one', null, 'the entries end at 0, but the head counts 5'],
    ]);
  });

  it('finds a head that is missing or was altered', async () => {
    await sql("update operations.access_head set hash = sha256('x') where record = $1", one);
    await sql('delete from operations.access_head where record = $1', other);
    expect(await faults()).to.have.deep.members([
      ['head', 'one', null, 'the hash of the head differs from that of the last entry'],
      ['head', 'other', null, 'there are 1 entries, but the record has no head'],
    ]);
  });

  it('finds an end that was removed with its head by a checkpoint alone', async () => {
    const heads = await headsNow();
    await sql('delete from operations.access_entry where record = $1 and seq > 3', one);
    await sql(
      `update operations.access_head h set entries = 3, hash = e.hash, at = e.at
         from operations.access_entry e where h.record = e.record and e.record = $1 and e.seq = 3`,
      one,
    );
    await sql('delete from operations.access_entry where record = $1', other);
    await sql('delete from operations.access_head where record = $1', other);
    const counted = "the counts of its grants' reads differ from the entries";
    expect(await faults(), 'without the checkpoint').to.have.deep.members([
      ['count', 'one', null, `${counted}: 5 instead of 3`],
      ['count', 'other', null, `${counted}: 1 instead of 0`],
    ]);
    await sql(
      'update operations.access_use set entries = 3, reads = 3, last_at = e.at from operations.access_entry e where e.record = access_use.record and e.seq = 3',
    );
    await sql('delete from operations.access_use where record = $1', other);
    expect(await faults(), 'with the counts altered, too').to.deep.equal([]);
    expect(await faults({ heads })).to.have.deep.members([
      ['checkpoint', 'one', 4, 'the access log ends at entry 3; the checkpoint has it up to 5'],
      ['checkpoint', 'other', 1, 'the access log is missing; the checkpoint has it up to entry 1'],
    ]);
    await write(one, one, other);
    expect(await faults({ heads }), 'written again').to.have.deep.members([
      ['checkpoint', 'one', 5, 'the entries up to 5 differ from those signed in the checkpoint'],
      ['checkpoint', 'other', 1, 'the entries up to 1 differ from those signed in the checkpoint'],
    ]);
  });

  it('takes the absence of a purged record as lawful, with what RecordErased says of it', async () => {
    const heads = await headsNow();
    const kept = await eraseAccessLog(database.pool, one);
    const events = [requested(one), erased(one, kept)];
    const { heads: left, ...report } = await check({ heads, events });
    expect(report).to.deep.equal({ faults: [], records: 1, entries: 1 });
    expect(left.map(({ record }) => record)).to.deep.equal([other]);
    expect(await faults({ heads, events: [requested(one)] }), 'under way').to.deep.equal([]);
    const later = new Map([[one, erased(one, kept)]]);
    expect(await faults({ heads, later }), 'a younger purge').to.deep.equal([]);
    // A second request for a purge doesn't hide what the first purge recorded.
    expect(await faults({ heads, events: [...events, requested(one)] })).to.deep.equal([]);
    expect(
      await faults({ heads, events: [erased(one, { ...kept, entries: 4 }), requested(one)] }),
    ).to.deep.equal([
      ['erasure', 'one', null, '5 entries were removed, but the log of events has no purge that explains it'],
      ['checkpoint', 'one', 1, 'the access log is missing; the checkpoint has it up to entry 5'],
    ]);
    expect(await faults({ events: [erased(one, { ...kept, hash: 'a'.repeat(64) })] })).to.have.length(1);
    // PostgreSQL was restored to a time before some reads, and the purge was repeated.
    expect(
      await faults({ heads, events: [erased(one, { entries: 6, hash: 'a'.repeat(64) })] }),
    ).to.deep.equal([]);
  });

  it('finds a log that was marked as removed without a purge', async () => {
    const heads = await headsNow();
    await eraseAccessLog(database.pool, one);
    expect(await faults()).to.deep.equal([
      ['erasure', 'one', null, '5 entries were removed, but the log of events has no purge that explains it'],
    ]);
    expect((await check({ heads })).faults.map(({ what }) => what)).to.deep.equal(['erasure', 'checkpoint']);
  });

  it('finds entries that are left after a purge, and a log that could be written again', async () => {
    const { rows } = await database.pool.query('select * from operations.access_head where record = $1', [
      one,
    ]);
    const access_log = { entries: rows[0].entries, hash: rows[0].hash.toString('hex') };
    expect(await faults({ events: [erased(one, access_log)] })).to.deep.equal([
      ['erasure', 'one', null, 'the record was purged but still has entries'],
    ]);
    await sql('delete from operations.access_entry where record = $1', one);
    await sql('delete from operations.access_head where record = $1', one);
    expect(await faults({ events: [erased(one, access_log)] })).to.deep.equal([
      [
        'erasure',
        'one',
        null,
        'the record was purged, but its access log can still be written, or counts of its reads remain',
      ],
    ]);
    await sql('delete from operations.access_use where record = $1', one);
    expect(await faults({ events: [erased(one, { entries: 0, hash: null })] }), 'never read').to.deep.equal(
      [],
    );
  });

  it('finds counts of reads that differ from the entries, or that a purge left', async () => {
    const counted = "the counts of its grants' reads differ from the entries";
    await sql('update operations.access_use set reads = reads + 1 where record = $1', one);
    expect(await faults()).to.deep.equal([['count', 'one', null, `${counted}: 5 instead of 5`]]);
    await sql('delete from operations.access_use where record = $1', one);
    expect(await faults()).to.deep.equal([['count', 'one', null, `${counted}: 0 instead of 5`]]);
    const kept = await eraseAccessLog(database.pool, other);
    const events = [erased(other, kept)];
    expect((await faults({ events })).filter(([, record]) => record === 'other')).to.deep.equal([]);
    await sql("insert into operations.access_use values ($1, 'grant_a', 20000, 'Patient', 1, 1, 1)", other);
    expect((await faults({ events })).filter(([, record]) => record === 'other')).to.deep.equal([
      [
        'erasure',
        'other',
        null,
        'the record was purged, but its access log can still be written, or counts of its reads remain',
      ],
    ]);
  });

  it('names some faults of many, and sees one moment while others write', async () => {
    await Promise.all(Array.from({ length: 12 }, () => write(newUuid())));
    await sql("update operations.access_entry set action = 'x'");
    expect((await check()).faults).to.have.length(10);
    await sql('truncate operations.access_entry, operations.access_head, operations.access_use');
    const records = Array.from({ length: 8 }, newUuid);
    await write(...records);
    let writing = true;
    const busy = (async () => {
      while (writing) await write(...records);
    })();
    try {
      for (let n = 0; n < 5; n += 1) expect((await check()).faults).to.deep.equal([]);
    } finally {
      writing = false;
      await busy;
    }
  });
});
