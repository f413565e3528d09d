import { expect } from 'chai';
import { migrate } from '#src/migrations/migrate.ts';
import { MIGRATIONS } from '#src/migrations/migrations.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';

const FIRST = {
  name: '0001-first',
  sql: `CREATE TABLE first AS SELECT '{"a":1}'::jsonb ? 'a' AS question_mark`,
};
const SECOND = { name: '0002-second', sql: 'CREATE TABLE second (); CREATE TABLE third ()' };

describe('migrations', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(() => database.drop());

  async function tables(): Promise<string[]> {
    const { rows } = await database.pool.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`,
    );
    return rows.map(({ name }) => name);
  }

  it('make the schemas of the log and of operations', async () => {
    const applied = await migrate(database.url);
    // Released steps never change; new steps are added after them.
    expect(applied.slice(0, 20)).to.deep.equal([
      '0001-log',
      '0002-operations',
      '0003-parked-events',
      '0004-answers-of-reads',
      '0005-log-identity',
      '0006-terminology',
      '0007-log-mark',
      '0008-rate-and-usage',
      '0010-identity',
      '0011-retry-secrets',
      '0013-webhooks',
      '0014-request-log-forgotten',
      '0020-documents',
      '0021-request-log-keys',
      '0024-context-manifests',
      '0025-webhook-forgotten',
      '0026-terminology-words',
      '0027-terminology-index',
      '0030-late-writes',
      '0031-snapshot-fold',
    ]);
    expect(applied).to.deep.equal(MIGRATIONS.map(({ name }) => name));
    expect(applied).to.deep.equal([...new Set(applied)].sort());
    const { rows } = await database.pool.query(`SELECT to_regclass('log.events') IS NOT NULL AS log`);
    expect(rows).to.deep.equal([{ log: true }]);
  });

  it('are refused by a server that is too old, which the error names', async () => {
    // The setting can't be changed, so a function that shadows PostgreSQL's own returns the value of an older server.
    await database.pool.query(`
      CREATE FUNCTION public.current_setting(name text) RETURNS text LANGUAGE sql AS
        $$ SELECT CASE name WHEN 'server_version_num' THEN '150004' ELSE '15.4' END $$`);
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=public,pg_catalog');
    const refused = await migrate(url.href).catch((error: unknown) => error);
    expect(refused).to.be.an('error');
    expect(String(refused)).to.equal(
      'Error: the server is PostgreSQL 15.4; Annal needs PostgreSQL 16 or later',
    );
    expect(await tables()).to.deep.equal([]);
  });

  it('are applied once, and later ones when they come', async () => {
    expect(await migrate(database.url, [FIRST])).to.deep.equal(['0001-first']);
    expect(await migrate(database.url, [FIRST])).to.deep.equal([]);
    expect(await migrate(database.url, [FIRST, SECOND])).to.deep.equal(['0002-second']);
    expect(await tables()).to.deep.equal(['first', 'second', 'third']);
    const { rows } = await database.pool.query('SELECT question_mark FROM first');
    expect(rows).to.deep.equal([{ question_mark: true }]);
  });

  it('are applied by one of several instances that start at once', async () => {
    const applied = await Promise.all(
      Array.from({ length: 4 }, () => migrate(database.url, [FIRST, SECOND])),
    );
    expect(applied.flat()).to.deep.equal(['0001-first', '0002-second']);
  });

  it('leave nothing of a step that failed, and go on when it is mended', async () => {
    const broken = { name: SECOND.name, sql: 'CREATE TABLE second (); SELECT nonsense' };
    let message = '';
    await migrate(database.url, [FIRST, broken]).catch((error: Error) => {
      message = error.message;
    });
    expect(message).to.contain('nonsense');
    expect(await tables()).not.to.include('second');
    await migrate(database.url, [FIRST, SECOND]);
    expect(await tables()).to.deep.equal(['first', 'second', 'third']);
  });

  it('are not stopped by a lock that a killed process left', async () => {
    await migrate(database.url, [FIRST]);
    await database.pool.query('UPDATE migrations.applied_lock SET is_locked = 1');
    expect(await migrate(database.url, [FIRST, SECOND])).to.deep.equal(['0002-second']);
  });

  it('refuse a database of a later version', async () => {
    await migrate(database.url, [FIRST, SECOND]);
    let message = '';
    await migrate(database.url, [FIRST]).catch((error: Error) => {
      message = error.message;
    });
    expect(message).to.contain('later version of Annal');
  });
});
