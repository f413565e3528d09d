/** Verifications and checkpoints as jobs: operators verify everything; auditors verify their project or one of its records. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import {
  type Auditing,
  openAuditing,
  PATIENT,
  refusalsOf,
  type Written,
  weightOf,
} from '#test/support/auditing.ts';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';

interface Found {
  readonly id: string;
  readonly status: string;
  readonly error: string | null;
  readonly faults: number | null;
  readonly checkpoint?: string | null;
  readonly report: {
    readonly events: number;
    readonly causes: readonly {
      readonly where: string;
      readonly what: string;
      readonly changed: readonly string[];
    }[];
  } | null;
}

const BASE = '/operations/verifications';
const CHECKPOINTS = '/operations/checkpoints';

describe('verifications and checkpoints over HTTP', () => {
  let service: InProcess;
  let auditing: Auditing;
  let operator: AdminUser;
  let patient: Written;
  let weight: Written;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'annal-'));
    service = await startInProcess();
    // The organization created at the first start operates the installation.
    operator = await signIn(service, 'developer@example.org');
    auditing = await openAuditing(service);
    patient = await auditing.write(PATIENT);
    weight = await auditing.write(weightOf(patient.id, 61));
    await auditing.write({ ...weightOf(patient.id, 64), id: weight.id });
    await auditing.write({ resourceType: 'Practitioner', name: [{ family: 'Berg' }] });
    await auditing.auditor.done('GET', `/projects/${auditing.project}/patients`);
  });
  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true });
  });

  const ended = async (by: AdminUser, path: string): Promise<Found> => {
    let found: Found | undefined;
    await eventually(async () => {
      found = (await by.done('GET', path)) as unknown as Found;
      return !['waiting', 'running'].includes(found.status);
    }, 60_000);
    if (found === undefined) throw new Error('it did not end');
    return found;
  };
  const verify = async (by: AdminUser, scope: unknown): Promise<Found> => {
    const { id } = (await by.done('POST', BASE, { scope })) as unknown as Found;
    return ended(by, `${BASE}/${id}`);
  };

  it('verify a record and a project, which are as the log says', async () => {
    const { project, auditor } = auditing;
    for (const scope of [{ project, patient: patient.id }, { project }]) {
      const found = await verify(auditor, scope);
      expect([found.status, found.error, found.faults], JSON.stringify(found)).to.deep.equal([
        'done',
        null,
        0,
      ]);
      expect(found.report?.events).to.equal('patient' in scope ? 3 : 7);
    }
    const listed = await auditor.done('GET', `${BASE}?project=${project}`);
    expect(listed.data.map(({ scope }) => (scope as { kind: string }).kind)).to.deep.equal([
      'project',
      'record',
    ]);
  });

  it('name what was altered by cause, without its values', async () => {
    const { project, auditor } = auditing;
    const { pool } = service;
    const scope = { project, patient: patient.id };
    await pool.query(
      `update history.version set body = replace(body, '"value":61', '"value":62') where id = $1 and version = 1`,
      [weight.id],
    );
    await pool.query(`update operations.access_entry set purpose = 'x' where record = $1 and seq = 1`, [
      patient.id,
    ]);
    const found = await verify(auditor, scope);
    expect(found.report?.causes.map(({ where, what }) => `${where} ${what}`)).to.deep.equal([
      'access log hash',
      'history.version changed',
    ]);
    expect(found.report?.causes[1]?.changed).to.deep.equal(['body.valueQuantity.value']);
    expect(JSON.stringify(found.report)).to.not.match(/"before"|"after"|: ?6[12]\b/);
    await pool.query(
      `update history.version set body = replace(body, '"value":62', '"value":61') where id = $1 and version = 1`,
      [weight.id],
    );
    await pool.query(`update operations.access_entry set purpose = null where record = $1 and seq = 1`, [
      patient.id,
    ]);
  });

  it('name an event that was altered', async function () {
    if (process.env.EVENTSTORE_URL) return this.skip();
    const { project, auditor } = auditing;
    const { pool } = service;
    // An altered event is one fault, including the rows derived from it. A row without events is another fault.
    await pool.query(
      `update log.events set data = replace(data, '"value":64', '"value":65') where stream = $1`,
      [`record-${patient.id}`],
    );
    const altered = await verify(auditor, { project });
    expect(altered.report?.causes.map(({ where, what }) => `${where} ${what}`)).to.include('log hash');
    expect(altered.faults).to.be.greaterThan(0);
    await pool.query(
      `update log.events set data = replace(data, '"value":65', '"value":64') where stream = $1`,
      [`record-${patient.id}`],
    );
  });

  it('makes checkpoints that annal verify takes, and that cover events', async () => {
    expect(await refusalsOf(auditing, 'POST', CHECKPOINTS)).to.deep.equal([403, 403, 403]);
    expect((await auditing.owner.ask('POST', CHECKPOINTS)).status).to.equal(403);
    const { id } = (await operator.done('POST', CHECKPOINTS)) as unknown as Found;
    const made = await ended(operator, `${CHECKPOINTS}/jobs/${id}`);
    expect([made.status, made.error], JSON.stringify(made)).to.deep.equal(['done', null]);
    const [listed] = (await operator.done('GET', CHECKPOINTS)).data;
    expect(listed).to.deep.include({ id: made.checkpoint });
    const response = await fetch(`${service.url}/admin${CHECKPOINTS}/${made.checkpoint}`, {
      headers: { Authorization: `Bearer ${operator.token}` },
    });
    expect(response.headers.get('content-type')).to.equal('application/gzip');
    const file = join(folder, 'checkpoint.ndjson.gz');
    await writeFile(file, Buffer.from(await response.arrayBuffer()));
    const outcome = await runCommand(['verify', '--checkpoint', file, '--key', String(listed?.public_key)], {
      DATABASE_URL: service.databaseUrl,
      DATA_DIR: folder,
    });
    expect(outcome.stdout, outcome.stderr).to.match(/up to\s+the\s+checkpoint\s+is\s+unaltered/);
    expect((await readFile(file)).length).to.equal(listed?.bytes);
    // Auditors see which checkpoint covers an event, and the checkpoint's root, but nothing about other projects.
    const { project, auditor } = auditing;
    const [event] = (
      await auditor.done('GET', `/projects/${project}/events?resource=Observation/${weight.id}`)
    ).data;
    const { chain } = (await auditor.done('GET', `/projects/${project}/events/${event?.id}`)) as unknown as {
      chain: { checkpoint: { id: string; root: string; revision: number } };
    };
    expect(chain.checkpoint).to.deep.include({ id: made.checkpoint, root: listed?.root, revision: 2 });
    const [short] = (await auditor.done('GET', `${CHECKPOINTS}?project=${project}`)).data;
    expect(short).to.deep.include({ id: made.checkpoint, root: listed?.root, streams: null, events: null });
    for (const path of [CHECKPOINTS, `${CHECKPOINTS}/${made.checkpoint}`, `${CHECKPOINTS}/jobs/${id}`])
      expect((await auditor.ask('GET', path)).status, path).to.equal(403);
    expect(await refusalsOf(auditing, 'GET', `${CHECKPOINTS}?project=${project}`)).to.deep.equal([
      403, 404, 404,
    ]);
    expect((await operator.ask('GET', `${CHECKPOINTS}/chk_x`)).status).to.equal(404);
  });

  it('are for auditors of the project, and of everything for operators', async () => {
    const { project, auditor } = auditing;
    for (const scope of [{ project }, { project, patient: patient.id }])
      expect(await refusalsOf(auditing, 'POST', BASE, { scope })).to.deep.equal([403, 404, 404]);
    expect((await auditor.ask('POST', BASE, { scope: 'all' })).status).to.equal(403);
    expect((await auditor.ask('GET', BASE)).status).to.equal(403);
    expect(await refusalsOf(auditing, 'GET', `${BASE}?project=${project}`)).to.deep.equal([403, 404, 404]);
    expect((await auditor.ask('POST', BASE, { scope: { project, patient: weight.id } })).status).to.equal(
      404,
    );
    expect((await auditor.ask('POST', BASE, { scope: 'x' })).status).to.equal(422);
    const all = await verify(operator, 'all');
    expect(all.status).to.equal('done');
    const [own] = (await auditor.done('GET', `${BASE}?project=${project}`)).data;
    for (const method of ['GET', 'POST']) {
      const path = `${BASE}/${own?.id}${method === 'GET' ? '' : '/cancel'}`;
      expect(await refusalsOf(auditing, method, path), path).to.deep.equal([403, 404, 404]);
      expect((await operator.ask(method, path)).status).to.equal(200);
      expect((await auditor.ask(method, path.replace(String(own?.id), all.id))).status).to.equal(404);
      expect((await auditor.ask(method, path.replace(String(own?.id), 'job_x'))).status).to.equal(404);
    }
  });
});
