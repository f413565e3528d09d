/** Filling and resetting a sandbox: the service is killed at every kind of append, and the next start continues the work. */
import { expect } from 'chai';
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson, makeSubject } from '#src/dev-issuer/people.ts';
import { type AdminUser, withToken } from '#test/support/admin.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { describeAtFullSize, scaled } from '#test/support/scale.ts';
import { annal, type Service, startService } from '#test/support/service.ts';
import { tell } from '#test/support/tell.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

const PATIENTS = 4;
const EMAIL = 'dev@clinic.example';
/** The same for every start, whatever the port, because members are identified by this issuer. */
const BASE_URL = 'http://annal.test';
/** Where the service dies during a reset: a stream prefix, and which append to such a stream. */
const DEATHS = [
  ['record-', 8], // the synthetic patients are half made
  ['project-', 2], // purges are asked for
  ['project-', 4], // some are purged
  ['directory-', 1], // the directory is deleted
  ['directory-', 2], // its new entries are there
  ['record-', 2], // a Patient is deleted, its record not yet erased
] as const;

describeAtFullSize('a sandbox whose service is killed', () => {
  let database: TestDatabase;
  let service: Service | undefined;
  /** The same folder for every start, because it stores the bytes of documents. */
  let dataDir: string;

  before(async function () {
    if (EVENTSTORE_URL !== '') this.skip(); // it looks into the log in PostgreSQL
    dataDir = await temporaryFolder();
    database = await createMigratedDatabase();
  });
  afterEach(async () => {
    await service?.stop();
    service = undefined;
  });
  after(async () => {
    await database?.drop();
    await removeTemporaryFolders();
  });

  async function start(dies?: string): Promise<{ service: Service; user: AdminUser }> {
    const settings = { SANDBOX_PATIENTS: String(PATIENTS), BASE_URL, DEV_ISSUER: 'allow' };
    const started = await startService(
      dies === undefined
        ? { databaseUrl: database.url, dataDir, env: settings }
        : {
            databaseUrl: database.url,
            dataDir,
            program: 'test/faults/dying-service.ts',
            env: { ...settings, DATABASE_URL: database.url, DIES_AFTER: dies },
          },
    );
    service = started;
    const issuer = devIssuerUrl(BASE_URL);
    const token = await new DevIssuer(database.pool, issuer).idToken(findPerson(EMAIL));
    return {
      service: started,
      user: withToken(started.url, token, { email: EMAIL, issuer, subject: makeSubject(EMAIL) }),
    };
  }

  /** Returns the newest event about a project's sandbox. */
  async function newest(project: string): Promise<{ type: string; data: string } | undefined> {
    const { rows } = await database.pool.query<{ type: string; data: string }>(
      `select type, data from log.events where stream = $1 and type like 'Sandbox%' order by revision desc limit 1`,
      [`project-${project}`],
    );
    return rows[0];
  }

  const filled = (project: string): Promise<void> =>
    eventually(async () => (await newest(project))?.type === 'SandboxProvisioned');

  /** Returns a project's current resources, each with its version. */
  async function live(project: string): Promise<{ type: string; id: string; version: number }[]> {
    const { rows } = await database.pool.query(
      `select r.type, r.id, r.version from resources.resource r join history.version v on v.id = r.id and v.version = 1
       where not r.deleted and v.metadata::json -> 'owner' ->> 'project' = $1`,
      [project],
    );
    return rows;
  }

  /**
   * Checks that the sandbox contains what the event says, with each resource once.
   * @returns the Patients' ids
   */
  async function whole(project: string): Promise<string[]> {
    const there = await live(project);
    const { resources, patients } = JSON.parse((await newest(project))?.data ?? '{}');
    expect(there).to.have.length(resources);
    expect(new Set(there.map(({ version }) => version))).to.deep.equal(new Set([1]));
    const found = there.filter(({ type }) => type === 'Patient');
    expect(found).to.have.length(patients);
    return found.map(({ id }) => id);
  }

  it('is filled to its end by the next start', async () => {
    const dying = await start('record- 6');
    // This instance fills the quickstart project's sandbox, and may die before it can answer a request.
    await eventually(() =>
      dying.service.fhir('/metadata').then(
        () => false,
        () => true,
      ),
    );
    await dying.service.stop();
    await start();
    const { rows } = await database.pool.query<{ id: string }>('select id from projects.project');
    const project = rows[0]?.id ?? '';
    await filled(project);
    await whole(project);
  });

  it('is reset once, to its end, wherever the reset was stopped', async () => {
    let { user } = await start();
    const { id: organization } = await user.done('POST', '/organizations', { name: 'Clinic' });
    const { id: project } = await user.done('POST', `/organizations/${organization}/projects`, {
      name: 'Pilot',
    });
    await filled(project);
    let before = await whole(project);
    const { key } = await user.done('POST', `/projects/${project}/keys`, {
      name: 'k',
      environment: 'sandbox',
      scopes: ['read', 'write'],
    });
    for (const [index, [prefix, count]] of DEATHS.slice(0, scaled(DEATHS.length, 1)).entries()) {
      const own = await service?.fhir('/Patient', {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}` },
        body: JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Own' }] }),
      });
      expect(own?.status).to.equal(201);
      await service?.stop();
      const dying = await start(`${prefix} ${count}`);
      const asked = await dying.user.ask('POST', `/projects/${project}/sandbox/reset`).catch(() => undefined);
      expect(asked, `it did not die at ${prefix} ${count}`).to.equal(undefined);
      await dying.service.stop();
      ({ user } = await start());
      await filled(project);
      const after = await whole(project);
      expect(after.filter((id) => before.includes(id))).to.deep.equal([]);
      expect(await user.done('GET', `/projects/${project}/sandbox`)).to.include({
        synthetic_patients: PATIENTS,
        own_patients: 0,
        resets: index + 1,
      });
      before = after;
    }
    const verified = await annal({ dataDir }, ['verify'], {
      DATABASE_URL: database.url,
    });
    expect(verified.code, verified.output).to.equal(0);
    tell(`${scaled(DEATHS.length, 1)} resets killed`);
  });
});
