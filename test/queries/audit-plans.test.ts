/** The number of rows read by auditors' searches doesn't grow with the log. */
import { expect } from 'chai';
import { consents } from '#projections/consents/project.ts';
import { history } from '#projections/history/project.ts';
import type { Projection } from '#projections/projection.ts';
import { projects } from '#projections/projects/project.ts';
import { resources } from '#projections/resources/project.ts';
import { schemaSql } from '#projections/tables.ts';
import { type AccessAsked, openAccessSearch } from '#queries/audit/access-search.ts';
import { type EventsAsked, openEventQueries } from '#queries/audit/events.ts';
import { migrate } from '#src/migrations/migrate.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { mostRowsRead } from '#test/support/rows-read.ts';

const RECORDS = 200;
const PER_RECORD = 300;
const LOOKED = 500;
const LIMIT = 20;
/** The time of the first entry, in microseconds. */
const START = 1_764_000_000_000_000;
const SECOND = 1_000_000;

const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

describe('plans of auditors’ searches', () => {
  let database: TestDatabase;
  const tenant = { project: 'proj_a', environment: 'sandbox' as const };

  before(async () => {
    database = await createDatabase();
    await migrate(database.url);
    const { pool } = database;
    const models: readonly Projection[] = [projects, resources, history, consents];
    for (const model of models) await pool.query(schemaSql(model, model.name) + model.indexes(model.name));
    const all = `generate_series(1, ${PER_RECORD}) n, generate_series(1, ${RECORDS}) r`;
    const id = (number: string) => `('00000000-0000-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`;
    const of = `'${tenantId(tenant)}'::uuid`;
    const at = `${START} + (n * ${RECORDS} + r) * ${SECOND}::int8`;
    await pool.query(`
      insert into history.version (id, version, type, tenant, record, recorded_at, event_id, operation, metadata, body)
        select ${id(`n * ${RECORDS} + r + 1000000`)}, 1, (array['Observation', 'Condition', 'Procedure'])[1 + n % 3], ${of}, ${id('r')},
          ${at}, ${id(`n * ${RECORDS} + r + 2000000`)}, 'CREATE',
          '{"credential":{"kind":"api_key","key_id":"key_' || r || '"},"author":{"type":"import"}}', '{}' from ${all};
      insert into consents.events (event_id, tenant, record, type, recorded_at, metadata)
        select ${id(`n * ${RECORDS} + r + 3000000`)}, ${of}, ${id('r')}, 'ConsentGranted', ${at}, '{"credential":{}}' from ${all};
      insert into resources.resource (id, type, tenant, record, version, created_at, last_updated, deleted, stream, body)
        select ${id('r')}, 'Patient', ${of}, ${id('r')}, 1, 1, 1, false, 's', '{}' from generate_series(1, ${RECORDS}) r;
      insert into operations.access_head (record, entries) select ${id('r')}, ${PER_RECORD} from generate_series(1, ${RECORDS}) r;
      insert into operations.access_entry (record, seq, id, at, action, actor_kind, actor_id, status, request_id, hash)
        select ${id('r')}, n, ${id(`n * ${RECORDS} + r`)}, ${at}, 'read', 'key', 'key_' || n % 40, 'ok', 'r', '\\x00' from ${all}`);
    await pool.query('analyze');
  });
  after(() => database?.drop());

  it('read as many events as a page has, or as a search may look through', async () => {
    const read = (asked: Omit<EventsAsked, 'limit'>) =>
      mostRowsRead(database.pool, (pool) =>
        openEventQueries(pool, LOOKED).events(tenant, { limit: LIMIT, ...asked }),
      );
    // Each part of the union reads one row more than needed.
    for (const asked of [
      {},
      { patient: uuid(7) },
      { resource: { type: 'Observation' } },
      { to: START + 90 * SECOND * RECORDS },
    ])
      expect(await read(asked), JSON.stringify(asked)).to.be.lessThan(150);
    for (const asked of [
      { key: 'key_x' },
      { author: 'nobody' },
      { types: ['ResourceDeleted'] },
      { patient: uuid(7), key: 'key_x' },
      { from: START + 90 * SECOND * RECORDS, requestId: 'x' },
    ])
      expect(await read(asked), JSON.stringify(asked)).to.be.lessThan(5 * LOOKED);
  });

  it('read as many entries of the access log as a page has, or as a search may look through', async () => {
    const read = (asked: Omit<AccessAsked, 'limit'>) =>
      mostRowsRead(database.pool, (pool) =>
        openAccessSearch(pool, LOOKED).accesses(tenant, { limit: LIMIT, ...asked }),
      );
    for (const asked of [
      { patient: uuid(7) },
      { key: 'key_3' },
      { key: 'key_3', to: START + 90 * SECOND * RECORDS },
    ])
      expect(await read(asked), JSON.stringify(asked)).to.be.at.most(LOOKED);
    for (const asked of [
      { patient: uuid(7), action: 'x' },
      { key: 'key_3', action: 'x' },
    ])
      expect(await read(asked), JSON.stringify(asked)).to.be.lessThan(3 * LOOKED);
    // By time only, a step reads the table blocks for its minutes. This table has only a few blocks.
    expect(await read({})).to.be.lessThan(RECORDS * PER_RECORD + 3 * LOOKED);
  });
});
