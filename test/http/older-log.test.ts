/** A log written by an earlier version can be opened, passes verification, and means the same as before. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { CATALOG } from '#src/events/catalog.ts';
import { signIn, withToken } from '#test/support/admin.ts';
import { type CommandOutcome, runCommand } from '#test/support/cli.ts';
import { createMigratedDatabase } from '#test/support/database.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { type OlderLog, olderLog, putDocuments, putLog } from '#test/support/older-log.ts';
import { eventually, ROOT } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

/** The label that reads add to versions written by an AI, which the earlier version of Annal didn't add. */
const ADDED_LABEL =
  ',"security":[{"system":"http://terminology.hl7.org/CodeSystem/v3-ObservationValue","code":"AIAST","display":"Artificial Intelligence asserted"}]';

describe('a log of commit 2a2c921', () => {
  let log: OlderLog;
  let service: InProcess;
  let dataDir: string;
  let base: string;
  const annal = (...args: readonly string[]): Promise<CommandOutcome> =>
    runCommand(args, { DATA_DIR: dataDir, DATABASE_URL: service.databaseUrl });
  /** Writes a recorded file to a folder of its own. */
  const recorded = async (name: string, content: string | Buffer): Promise<string> => {
    const file = join(await temporaryFolder(false), name);
    await writeFile(file, content);
    return file;
  };

  before(async function () {
    if (EVENTSTORE_URL !== '') this.skip();
    log = await olderLog();
    dataDir = await temporaryFolder();
    await putDocuments(dataDir, log);
    // The people in the log signed in at the development issuer of the service that wrote it.
    base = log.base.replace('/fhir/R4', '');
    const settings = { DATA_DIR: dataDir, BASE_URL: base, PRODUCTION_ACCESS: 'request' };
    service = await startInProcess({}, settings, log);
  });
  after(async () => {
    await service?.stop();
    await removeTemporaryFolders();
  });

  it('has every type of event that there was, each of which is known', () => {
    const types = [...new Set(log.events.map(({ type }) => type))];
    expect(types).to.have.length(29);
    expect(Object.keys(CATALOG)).to.include.members(types);
  });

  it('ends the trust that an owner gave, once, and says why', async () => {
    const given = log.events.filter(({ type }) => type === 'ApplicationTrusted');
    expect(given.map(({ data, metadata }) => [data, JSON.parse(metadata).credential.kind])).to.deep.equal([
      ['{"trusted":true}', 'id_token'],
    ]);
    const [{ stream } = { stream: '' }] = given;
    const id = stream.slice('application-'.length);
    const trusted = async () =>
      (await service.pool.query('select trusted from projects.application where id = $1', [id])).rows[0]
        .trusted;
    const written = async () => {
      const { rows } = await service.pool.query(
        "select data, metadata from log.events where stream = $1 and type = 'ApplicationTrusted' order by revision",
        [stream],
      );
      return rows.map(({ data, metadata }) => {
        const { credential, cause } = JSON.parse(metadata);
        return [JSON.parse(data).trusted, credential.kind, cause];
      });
    };
    // The trust had stopped counting before an event for that existed.
    expect(await trusted()).to.equal(false);
    await eventually(async () => {
      const { rows } = await service.pool.query(
        'select from projects.application where trusted_by_others and deleted_at is null',
      );
      return rows.length === 0;
    });
    expect(await written()).to.deep.equal([
      [true, 'id_token', undefined],
      [false, 'system', 'not_given_by_operator'],
    ]);
    await service.logged('no longer trusted');
    const lines = service.log.filter((line) => line.includes('no longer trusted'));
    expect(lines).to.have.length(1);
    expect(JSON.parse(lines[0] ?? '')).to.include({ application: id, cause: 'not_given_by_operator' });
  });

  it('lets a project that had production go on with it, until the operator withdraws it', async () => {
    const of = (type: string) => log.events.filter((event) => event.type === type);
    const made = of('ApiKeyCreated').filter(({ data }) => JSON.parse(data).environment === 'production');
    // The operator had withdrawn production while access was by request; later, production was open.
    expect(made.map(({ stream }) => stream)).to.deep.equal(
      of('ProductionAccessWithdrawn').map(({ stream }) => stream),
    );
    const id = made[0]?.stream.slice('project-'.length) ?? '';
    const { token, ...who } = await signIn({ url: base, pool: service.pool }, 'owner@clinic.example');
    const owner = withToken(service.url, token, who);
    const newKey = () => owner.ask('POST', `/projects/${id}/keys`, { name: 'k', environment: 'production' });
    expect((await newKey()).status).to.equal(201);
    expect((await annal('production', 'withdraw', id)).code).to.equal(0);
    expect((await newKey()).status).to.equal(403);
    expect((await owner.done('GET', `/projects/${id}/production-requests`)).data).to.deep.equal([]);
  });

  it('opens, and verify finds nothing, also against the checkpoint of that day', async () => {
    const file = await recorded('checkpoint.ndjson.gz', Buffer.from(log.checkpoint, 'base64'));
    const { code, stdout } = await annal('verify', '--checkpoint', file, '--key', log.publicKey, '--json');
    const report = JSON.parse(stdout);
    expect(report, stdout).to.deep.include({ clean: true, log: [], readModels: [], documents: [] });
    expect(report.events).to.be.at.least(log.events.length);
    expect(code).to.equal(0);
  });

  it('gives fifty records as of moments as that version gave them, also before a service has started on it', async () => {
    expect(log.records).to.have.length.of.at.least(50);
    const database = await createMigratedDatabase();
    try {
      await putLog(database.pool, log);
      const env = { DATABASE_URL: database.url, BASE_URL: log.base.replace('/fhir/R4', '') };
      for (const { patient, at, sha256 } of log.records) {
        const { stdout, stderr } = await runCommand(['record', patient, '--at', at, '--json'], env);
        const hash = createHash('sha256').update(stdout.trimEnd().replaceAll(ADDED_LABEL, '')).digest('hex');
        expect(hash, `${patient} ${at}: ${stderr}`).to.equal(sha256);
      }
      const shown = await runCommand(['record', log.patients.long], env);
      expect(shown.stdout).to.match(/^Observation .* 8867-4, \d+ u$/m);
    } finally {
      await database.drop();
    }
  });

  it('has an export that still proves itself', async () => {
    const file = await recorded('export.ndjson', log.export);
    const program = join(ROOT, 'bin/verify-export.mjs');
    const { stdout } = await promisify(execFile)(process.execPath, [program, file, '--key', log.publicKey]);
    expect(stdout).to.contain('as expected');
  });

  it('is written on: from a snapshot, and not where a record was purged', async () => {
    const { long, purged } = log.patients;
    const write = (patient: string) =>
      service.fhir('/Observation', {
        method: 'POST',
        body: JSON.stringify({
          ...{ resourceType: 'Observation', status: 'final', code: { text: 'new' } },
          ...{ subject: { reference: `Patient/${patient}` }, valueInteger: 1 },
        }),
      });
    expect((await write(long)).status).to.equal(201);
    expect((await write(purged)).status).to.equal(422);
    const { rows } = await service.pool.query<{ count: string }>(
      'select count(*) from log.events where stream = $1',
      [`record-${long}`],
    );
    const before = log.events.filter(({ stream }) => stream === `record-${long}`).length;
    expect(Number(rows[0]?.count)).to.equal(before + 1);
    expect((await annal('verify')).code).to.equal(0);
  });
});
