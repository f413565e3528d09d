/** The quickstart project: there is one per installation, however many instances with their own DATA_DIR start on it. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { type App, startApp } from '#src/app.ts';
import { loadConfig } from '#src/config.ts';
import { type Quickstart, writeQuickstart } from '#src/data-dir.ts';
import { makeSubject } from '#src/dev-issuer/people.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

describe('quickstart', () => {
  let database: TestDatabase;
  const apps: App[] = [];
  const lines: string[] = [];
  beforeEach(async () => {
    database = await createMigratedDatabase();
  });
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    await database.drop();
  });

  async function start(
    dataDir: string,
    mode = 'development',
    more: Record<string, string> = {},
  ): Promise<Quickstart | undefined> {
    const config = loadConfig({ DATA_DIR: dataDir, MODE: mode, SANDBOX_PATIENTS: '0', ...more });
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const app = await startApp({ config, databaseUrl: database.url, log });
    apps.push(app);
    return app.quickstart();
  }

  it('gives each DATA_DIR a key of the same project, also when they start at once', async () => {
    const folders = await Promise.all([1, 2, 3].map(() => temporaryFolder()));
    const given = await Promise.all(folders.map((folder) => start(folder)));
    expect(new Set(given.map((one) => one?.project_id)).size).to.equal(1);
    expect(new Set(given.map((one) => one?.organization_id)).size).to.equal(1);
    expect(new Set(given.map((one) => one?.sandbox_key)).size).to.equal(3);
    const { rows } = await database.pool.query('select 1 from projects.project');
    expect(rows).to.have.length(1);
    const { rows: keys } = await database.pool.query(
      'select 1 from projects.api_key where project = $1 and revoked_at is null',
      [given[0]?.project_id],
    );
    expect(keys).to.have.length(3);
  });

  itAtFullSize(
    'warns that a development issuer at another port does not know the first project’s owner',
    async () => {
      lines.length = 0;
      await start(await temporaryFolder());
      await start(await temporaryFolder());
      expect(lines.join()).to.not.include('signed in at');
      await start(await temporaryFolder(), 'development', { PORT: '8080' });
      expect(lines.join()).to.match(
        /members that signed in at http:\/\/localhost:3000\/dev\. .* now http:\/\/localhost:8080\/dev/,
      );
    },
  );

  itAtFullSize(
    'finds the project again when quickstart.json was deleted, and keeps the key while it is there',
    async () => {
      const folder = await temporaryFolder();
      const first = await start(folder);
      if (first === undefined) throw new Error('no quickstart');
      const file = await writeQuickstart(folder, first);
      expect((await start(folder))?.sandbox_key).to.equal(first.sandbox_key);
      expect(await readFile(join(folder, 'quickstart.json'), 'utf8')).to.contain(first.sandbox_key);
      await rm(file);
      const again = await start(folder);
      expect(again?.project_id).to.equal(first.project_id);
      expect(again?.sandbox_key).not.to.equal(first.sandbox_key);
    },
  );

  const members = async (): Promise<unknown[]> =>
    (await database.pool.query('select issuer, subject, email, role from projects.member')).rows;

  it('founds an organization that Dana of the development issuer owns', async () => {
    await start(await temporaryFolder());
    expect(await members()).to.deep.equal([
      {
        issuer: 'http://localhost:3000/dev',
        subject: makeSubject('developer@example.org'),
        email: 'developer@example.org',
        role: 'owner',
      },
    ]);
  });

  itAtFullSize('founds one without members where another issuer is configured', async () => {
    await start(await temporaryFolder(), 'development', { OIDC_ISSUERS: 'https://login.example.org annal' });
    expect(await members()).to.deep.equal([]);
  });

  it('hands out nothing in production once there is a project', async () => {
    expect(await start(await temporaryFolder(), 'production')).not.to.equal(undefined);
    expect(await members()).to.deep.equal([]);
    expect(await start(await temporaryFolder(), 'production')).to.equal(undefined);
  });
});
