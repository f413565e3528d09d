/** Errors in a project's usage. Days recorded by an earlier version still say that errors weren't recorded. */
import { expect } from 'chai';
import { openTraffic } from '#queries/admin/traffic.ts';
import { migrate } from '#src/migrations/migrate.ts';
import { MIGRATIONS } from '#src/migrations/migrations.ts';
import { Usage } from '#src/operations/usage.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';

describe('errors of usage', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
  });
  after(() => database.drop());

  it('are null on days of an earlier version, also on the one of the upgrade, and counted afterwards', async () => {
    const { pool } = database;
    const added = MIGRATIONS.findIndex(({ name }) => name.endsWith('-usage-errors'));
    await migrate(database.url, MIGRATIONS.slice(0, added));
    await pool.query(`
      insert into operations.usage (project, environment, day, requests, reads, writes, stored)
        values ('proj_x', 'sandbox', '2026-01-01', 9, 9, 0, 0),
               ('proj_x', 'sandbox', (now() at time zone 'utc')::date, 4, 4, 0, 0)`);
    // Every start of the service runs the migration.
    await migrate(database.url);
    const usage = new Usage(pool);
    for (const environment of ['sandbox', 'production'] as const)
      for (const status of [200, 404, 429, 500])
        usage.request({ project: 'proj_x', environment }, false, status);
    await usage.flush();
    const days = await openTraffic(pool).usage('proj_x', '2026-01-01', '2100-01-01');
    expect(
      days.map((day) => [day.environment, day.requests, day.client_errors, day.server_errors]),
    ).to.deep.equal([
      ['sandbox', 9, null, null],
      ['production', 4, 2, 1],
      ['sandbox', 8, null, null],
    ]);
  });
});
