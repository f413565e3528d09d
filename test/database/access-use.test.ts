/** Counts of reads under grants: made by two instances at once, made by the migration, and removed by a purge. */
import { expect } from 'chai';
import { pino } from 'pino';
import { openGrantUse } from '#queries/access-use.ts';
import { openPool } from '#src/database/pool.ts';
import { AccessLogWriter } from '#src/operations/access-log/access-log.ts';
import { eraseAccessLog } from '#src/operations/access-log/erase.ts';
import { ACCESS_USE_SQL } from '#src/operations/access-log/use.ts';
import type { AccessEntry, AccessStatus } from '#src/shared/access/access-entry.ts';
import { newRequestId, newUuid } from '#src/shared/ids.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';

const GRANTS = ['grant_a', 'grant_b', 'grant_c'];
const TYPES = ['Observation', 'Condition', null];
const STATUSES: readonly AccessStatus[] = ['ok', 'ok', 'denied', 'not_found'];

describe('what is counted of the reads of grants', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createMigratedDatabase();
  });
  afterEach(() => database.drop());

  /** Writes entries as two instances do at the same time. */
  async function write(entries: readonly AccessEntry[]): Promise<void> {
    const pool = openPool(database.url, { max: 2, name: 'test access log' });
    const writers = [0, 1].map(() => new AccessLogWriter(pool, pino({ level: 'silent' })));
    await Promise.all(entries.map((entry, n) => writers[n % 2]?.written([entry])));
    for (const writer of writers) await writer.close();
    await pool.end();
  }

  const entry = (record: string, n: number): AccessEntry => ({
    record,
    action: 'read',
    actor: { kind: 'application', id: 'app_a', grantId: GRANTS[n % 3] ?? '' },
    resourceType: TYPES[(n * 7) % 3] ?? null,
    resourceId: null,
    purpose: null,
    status: STATUSES[n % 4] ?? 'ok',
    count: 1,
    requestId: newRequestId(),
  });

  /** Returns the counts that follow from the entries. */
  const expected = async (): Promise<unknown[]> => {
    const { rows } = await database.pool.query(
      `select record, grant_id, count(*)::int as entries, count(*) filter (where status = 'ok')::int as reads,
              max(at) filter (where status = 'ok')::float8 as last_at
         from operations.access_entry where grant_id is not null group by 1, 2 order by 1, 2`,
    );
    return rows;
  };
  const counted = async (): Promise<unknown[]> => {
    const { rows } = await database.pool.query(
      `select record, grant_id, sum(entries)::int as entries, sum(reads)::int as reads, max(last_at)::float8 as last_at
         from operations.access_use group by 1, 2 order by 1, 2`,
    );
    return rows;
  };

  it('equals the entries, whichever instance writes them', async () => {
    const records = [newUuid(), newUuid()];
    await write(Array.from({ length: 600 }, (_, n) => entry(records[(n >> 3) % 2] ?? '', n)));
    const all = await expected();
    expect(all).to.have.length(6);
    expect(await counted()).to.deep.equal(all);
  });

  it('says how many reads showed something, the last one, and what the recent ones were about', async () => {
    const record = newUuid();
    await write([0, 0, 3, 6, 0].map((n) => entry(record, n)));
    const at = Date.now() * 1_000;
    await database.pool.query(
      "insert into operations.access_use values ($1, 'grant_a', 10, 'Immunization', 4, 2, 900000000000)",
      [record],
    );
    const useOf = openGrantUse(database.pool);
    const asked = GRANTS.map((id) => ({ id, record }));
    const { lastAt, ...use } = (await useOf(asked, at - 6 * 86_400_000_000)).get('grant_a') ?? {};
    // Of the entries, the one with n = 3 (not found) and the one with n = 6 (denied) showed nothing, so five count.
    expect(use).to.deep.equal({ count: 5, recent: 3, recentTypes: ['Observation'] });
    expect(Number(lastAt)).to.be.closeTo(at, 60_000_000);
    expect((await useOf(asked)).get('grant_b')).to.deep.equal({
      count: 0,
      lastAt: null,
      recent: 0,
      recentTypes: [],
    });
    expect((await useOf([{ id: 'grant_a', record: newUuid() }])).get('grant_a')?.count).to.equal(0);
  });

  it('begins with the entries that an earlier version wrote', async () => {
    const record = newUuid();
    await database.pool.query(
      'drop table operations.access_use; drop function operations.access_count cascade',
    );
    await write(Array.from({ length: 50 }, (_, n) => entry(record, n)));
    await database.pool.query(ACCESS_USE_SQL);
    expect(await counted()).to.deep.equal(await expected());
    await write(Array.from({ length: 50 }, (_, n) => entry(record, n)));
    expect(await counted()).to.deep.equal(await expected());
  });

  it('goes with the record, and stays for others', async () => {
    const [gone, kept] = [newUuid(), newUuid()];
    await write([entry(gone, 0), entry(kept, 0), entry(gone, 1)]);
    await eraseAccessLog(database.pool, gone);
    const { rows } = await database.pool.query('select record from operations.access_use');
    expect(rows).to.deep.equal([{ record: kept }]);
  });
});
