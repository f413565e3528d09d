/** The rows that queries about one record or resource read don't grow with what the page or count leaves out. */
import { expect } from 'chai';
import type { Pool } from 'pg';
import { history } from '#projections/history/project.ts';
import { resources } from '#projections/resources/project.ts';
import { schemaSql } from '#projections/tables.ts';
import { webhooks } from '#projections/webhooks/project.ts';
import { openHistory } from '#queries/history/history.ts';
import { openSearchProvenance } from '#queries/provenance/search.ts';
import { openRecordVersions } from '#queries/rest/record-versions.ts';
import { migrate } from '#src/migrations/migrate.ts';
import { parseAccess } from '#src/oauth/tokens/access.ts';
import { type Caller, ownCaller } from '#src/shared/access/caller.ts';
import { countTold } from '#src/takeback/told.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { mostRowsRead } from '#test/support/rows-read.ts';

const [RESOURCES, VERSIONS, ENTRIES, LIMIT] = [30_000, 400, 5_000, 20];
const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

describe('plans of queries about one record', () => {
  let database: TestDatabase;
  const record = uuid(1);

  before(async () => {
    database = await createDatabase();
    await migrate(database.url);
    const { pool } = database;
    for (const model of [history, resources, webhooks])
      await pool.query(schemaSql(model, model.name) + model.indexes(model.name));
    const id = (number: string) => `('00000000-0000-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`;
    // One resource with many versions among others with one version each.
    await pool.query(`
      insert into history.version (id, version, type, tenant, record, recorded_at, event_id, operation, metadata, body)
        select ${id('2')}, n, 'Observation', gen_random_uuid(), ${id('1')}, n, gen_random_uuid(), 'UPDATE', '{"credential":{}}', '{}'
        from generate_series(1, ${VERSIONS}) n;
      insert into history.version (id, version, type, tenant, record, recorded_at, event_id, operation, metadata, body)
        select ${id('n + 10')}, 1, 'Observation', gen_random_uuid(), ${id('n + 10')}, ${VERSIONS} + n, gen_random_uuid(), 'CREATE',
          '{"credential":{}}', '{}' from generate_series(1, ${RESOURCES}) n;
      insert into operations.access_head (record, entries) select ${id('1')}, ${ENTRIES};
      insert into operations.access_entry (record, seq, id, at, action, actor_kind, actor_id, status, request_id, hash)
        select ${id('1')}, n, gen_random_uuid(), n, 'export', 'key', 'key_1', 'ok', 'r', '\\x00' from generate_series(1, ${ENTRIES}) n`);
    await pool.query('analyze');
  });
  after(() => database?.drop());

  it('a page of a resource’s versions reads each one’s predecessor by its number', async () => {
    const asked = { record, type: 'Observation', id: uuid(2), limit: LIMIT, cursor: undefined } as const;
    const { total } = await openRecordVersions(database.pool).versions(asked);
    expect(total).to.equal(VERSIONS);
    const read = await mostRowsRead(database.pool, (pool) => openRecordVersions(pool).versions(asked));
    // The total, and the page.
    expect(read).to.be.at.most(VERSIONS + 3 * (LIMIT + 1));
  });

  it('a take-back counts only the entries of the access log since its first version', async () => {
    const since = ENTRIES - 9;
    const count = ({ query }: Pick<Pool, 'query'>) =>
      countTold({ query: (text: string, values: unknown[]) => query({ text, values }) } as Pool, 'proj_a', [
        { record, since, resources: [uuid(2)], versions: [] },
      ]);
    const { pool } = database;
    expect((await count({ query: pool.query.bind(pool) })).exports).to.equal(10);
    expect(await mostRowsRead(database.pool, count)).to.be.at.most(100);
  });

  it('pages of a granted record are never planned for any values', async () => {
    const caller = ownCaller({ project: 'proj_a', environment: 'sandbox' }, { kind: 'api_key', keyId: 'k' }, [
      'read',
    ]);
    const within = { record, access: parseAccess(['patient/*.rs']) };
    const granted = { ...caller, sees: { ...caller.sees, within } } as unknown as Caller;
    const client = await database.pool.connect();
    try {
      const pool = { query: client.query.bind(client) } as unknown as Pool;
      const line = { gather: () => async () => undefined } as unknown as Parameters<typeof openHistory>[1];
      const [read, search] = [openHistory(pool, line), openSearchProvenance(pool)];
      const query = new URLSearchParams('_total=none');
      for (let n = 0; n < 8; n += 1) {
        await read(granted, { count: LIMIT });
        await read(granted, { type: 'Observation', count: LIMIT });
        await search(granted, { query, base: 'http://localhost/' });
      }
      const { rows } = await client.query(
        'select coalesce(sum(generic_plans), 0)::int as plans from pg_prepared_statements',
      );
      expect(rows[0].plans).to.equal(0);
    } finally {
      client.release(true);
    }
  });
});
