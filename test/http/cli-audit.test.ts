/** `annal checkpoint`, `verify --checkpoint`, `export` and `history` against the real service, as an auditor uses them. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { z } from 'zod';
import { exportCommand } from '#src/cli/record/export.ts';
import { type CommandOutcome, runCommand } from '#test/support/cli.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Service, startService } from '#test/support/service.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Runs a standalone program. */
function node(args: readonly string[]): Promise<CommandOutcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: tmpdir() }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** True if the log is in tables, which a test can tamper with. */
const inTables = (process.env.EVENTSTORE_URL ?? '') === '';

const signedSchema = z.object({ key_id: z.string(), public_key: z.string(), streams: z.int().optional() });

describe('the command line, for auditors', () => {
  let database: TestDatabase;
  let service: Service;
  let folder: string;
  let patient: string;
  let gone: string;
  let checkpoint: string;

  const annal = (...args: readonly string[]): Promise<CommandOutcome> =>
    runCommand(args, { DATA_DIR: service.dataDir, DATABASE_URL: database.url });
  const sql = async (text: string, ...values: unknown[]): Promise<void> => {
    await database.pool.query(text, values);
  };
  const create = async (body: object, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
    const answer = await service.fhir('/Patient', { method: 'POST', body: JSON.stringify(body), headers });
    return String(answer.json.id);
  };

  /** Where the log ends. */
  const headOf = async (): Promise<{ position: string; events: number }> => {
    const { stdout } = await annal('checkpoint', '--out', join(folder, `${randomUUID()}.ndjson`), '--json');
    return z.object({ position: z.string(), events: z.int() }).parse(JSON.parse(stdout));
  };

  before(async () => {
    database = await createMigratedDatabase();
    service = await startService({ databaseUrl: database.url });
    folder = await temporaryFolder(false);
    checkpoint = join(folder, 'checkpoint.ndjson.gz');
    const name = [{ family: '<b>Sand</b>', given: ['Mira'] }];
    patient = await create(
      { resourceType: 'Patient', name },
      {
        'X-Service-Author-Type': 'patient',
        'X-Service-Source-System': 'Clinic <1>',
        'X-Service-Origin-Id': 'o-7',
      },
    );
    const renamed = '"name":[{"family":"Aune","given":["Mira"]}]';
    const weight = '"extension":[{"url":"http://example.org/weight","valueDecimal":1.50}]';
    const body = `{"resourceType":"Patient","id":"${patient}",${weight},${renamed}}`;
    await service.fhir(`/Patient/${patient}`, { method: 'PUT', body });
    gone = await create({ resourceType: 'Patient' });
  });
  after(async () => {
    await service.stop();
    await database.drop();
    await removeTemporaryFolders();
  });

  it('shows a history with its differences, as table, JSON and page', async () => {
    const shown = await annal('history', patient);
    expect(shown.stdout).to.contain('~ name[0].family: "<b>Sand</b>" → "Aune"');
    const { stdout } = await annal('history', `Patient/${patient}`, '--json');
    const all = JSON.parse(stdout);
    expect(all).to.deep.include({ resource: `Patient/${patient}`, events: 2, chain: { holds: true } });
    expect(all.stream).to.equal(`record-${patient}`);
    expect(all.head).to.include({ revision: 1 });
    const [second, first] = all.versions;
    expect(second.differences).to.deep.include({
      path: 'name[0].family',
      before: '<b>Sand</b>',
      after: 'Aune',
    });
    expect(stdout).to.contain('"after": 1.50\n');
    expect(first).to.deep.include({
      version: 1,
      operation: 'CREATE',
      author_type: 'patient',
      source_system: 'Clinic <1>',
      origin_id: 'o-7',
      revision: 0,
    });
    expect(first.request_id).to.match(/^req_/);
    expect(first.credential.key_id).to.match(/^key_/);
    expect(first.credential).to.include({ kind: 'api_key', environment: 'sandbox' });
    expect(first.differences).to.deep.include({ path: 'name[0].given[0]', after: 'Mira' });

    const page = join(folder, 'history.html');
    expect(await annal('history', patient, '--html', page)).to.include({ code: 0 });
    const text = await readFile(page, 'utf8');
    expect(text)
      .to.contain('&lt;b&gt;Sand&lt;/b&gt;')
      .and.to.contain('Clinic &lt;1&gt;')
      .and.not.to.contain('<b>');
    expect(text)
      .to.contain('The hash chain of all 2 events is intact.')
      .and.to.contain(all.head.hash)
      .and.to.contain(`Record of Patient/${patient}`);
    expect(text).not.to.match(/<script|<img|<link|src=|href=/);
    expect((await stat(page)).mode & 0o777).to.equal(0o600);
    const again = await annal('history', patient, '--html', page);
    expect(again).to.include({ code: 1 });
    expect(again.stderr).to.contain('already exists');
  });

  it('names the key and the practitioner, and of a revoked key its name', async () => {
    const send = async (resource: object, path: string, headers: Readonly<Record<string, string>> = {}) =>
      String((await service.fhir(path, { method: 'POST', body: JSON.stringify(resource), headers })).json.id);
    const doctor = await send(
      { resourceType: 'Practitioner', name: [{ given: ['Ada'], family: 'Lee' }] },
      '/Practitioner',
    );
    const nurse = await send({ resourceType: 'Practitioner', name: [{ text: 'N. Bly' }] }, '/Practitioner');
    const subject = await send({ resourceType: 'Patient' }, '/Patient', {
      'X-Service-Author-Ref': `Practitioner/${doctor}`,
      'X-Service-Acting-As': `Practitioner/${nurse}`,
    });
    const { stdout } = await annal('history', subject);
    const last4 = service.key.slice(-4);
    expect(stdout)
      .to.contain('Ada Lee, entered by N. Bly')
      .and.to.match(new RegExp(` \\S.* \\(…${last4}\\)`));
    expect(stdout).not.to.contain(doctor);
    const [version] = JSON.parse((await annal('history', subject, '--json')).stdout).versions;
    expect(version).to.include({ author_name: 'Ada Lee', acting_as_name: 'N. Bly' });
    expect(version.credential).to.include({ key_last4: last4 });
    expect(version.credential.key_name).to.be.a('string');
  });

  it('says why, where a Provenance of a client does', async () => {
    const subject = await create({ resourceType: 'Patient' });
    const said = {
      resourceType: 'Provenance',
      target: [{ reference: `Patient/${subject}` }],
      recorded: '2026-03-01T10:00:00Z',
      reason: [{ text: 'moved here' }],
      agent: [{ who: { display: 'A. Aune' } }],
    };
    const nurse = { resourceType: 'Practitioner', name: [{ text: 'N. Bly' }] };
    const { id } = (await service.fhir('/Practitioner', { method: 'POST', body: JSON.stringify(nurse) }))
      .json;
    const role = {
      resourceType: 'PractitionerRole',
      practitioner: { reference: `Practitioner/${String(id)}` },
    };
    const made = await service.fhir('/PractitionerRole', { method: 'POST', body: JSON.stringify(role) });
    const who = { reference: `PractitionerRole/${String(made.json.id)}` };
    await service.fhir('/Provenance', {
      method: 'POST',
      body: JSON.stringify({ ...said, reason: undefined, agent: [{ who }] }),
    });
    await service.fhir('/Provenance', { method: 'POST', body: JSON.stringify(said) });
    const shown = await annal('history', `Patient/${subject}`);
    expect(shown.stdout)
      .to.contain('    why: moved here; A. Aune (Provenance/')
      .and.to.contain('    why: no reason given; N. Bly (Provenance/');
    const { stdout } = await annal('history', `Patient/${subject}`, '--json');
    const [version] = JSON.parse(stdout).versions.filter(
      (each: { resource: string }) => each.resource === `Patient/${subject}`,
    );
    expect(version.provenances[1]).to.deep.include({ reason: ['moved here'] });
    const page = join(folder, 'why.html');
    await annal('history', subject, '--html', page);
    expect(await readFile(page, 'utf8')).to.contain('<dt>Why</dt><dd>moved here; A. Aune');
  });

  it('exports a record that proves itself, also without this repository', async () => {
    const path = join(folder, 'record.ndjson');
    const { code, stdout } = await annal('export', patient, '--out', path, '--json');
    expect(code).to.equal(0);
    const { public_key: key } = signedSchema.parse(JSON.parse(stdout));
    const alone = join(folder, 'verify-export.mjs');
    await writeFile(alone, await readFile(file('bin/verify-export.mjs')));
    const packed = join(folder, 'record.packed');
    await writeFile(packed, gzipSync(await readFile(path)));
    expect(await node([alone, packed, '--key', key])).to.include({ code: 0 });
    expect(await node([alone, '--help'])).to.include({ code: 0, stderr: '' });
    const intact = await node([alone, path, '--key', key]);
    expect(intact).to.include({ code: 0, stderr: '' });
    expect(intact.stdout).to.contain(`is intact: 2 events of record-${patient}`);
    expect((await node([alone, path])).stdout).to.contain("Compare this key with the operator's public key");

    const wrong = `${key.startsWith('A') ? 'B' : 'A'}${key.slice(1)}`;
    const foreign = await node([alone, path, '--key', wrong]);
    expect(foreign).to.include({ code: 3, stdout: '' });
    expect(foreign.stderr).to.contain(key).and.to.contain(wrong);
    const altered = join(folder, 'altered.ndjson');
    await writeFile(altered, (await readFile(path, 'utf8')).replace('Aune', 'Aüne'));
    expect((await node([alone, altered])).stderr).to.contain('line 3: hash mismatch');
    expect(await node([alone, join(folder, 'none')])).to.include({ code: 1 });
    expect(await node([alone])).to.include({ code: 2 });
    expect(await node([alone, path, '--key', 'x'])).to.include({ code: 2 });
    const readme = await node([alone, file('README.md')]);
    expect(readme).to.include({ code: 1, stdout: '' });
    expect(readme.stderr).to.contain('README.md: this is not an Annal export');
    // The command that an export prints can be run as it is.
    const second = join(folder, 'second.ndjson');
    const printed = /^To check the file: node (\S+) (\S+) --key (\S+)$/m.exec(
      (await annal('export', patient, '--out', second)).stdout,
    );
    expect(await node([file(printed?.[1] ?? ''), second, '--key', printed?.[3] ?? ''])).to.include({
      code: 0,
    });
  });

  it('rebuilds the record as of a position of the log', async () => {
    const { position, events } = await headOf();
    const as = async (at: string): Promise<string> => (await annal('record', patient, '--at', at)).stdout;
    expect(await as(`position:${position}`)).to.contain('from 2 events');
    expect(await as(`position:${position.replace(/^0+/, '')}`)).to.contain('from 2 events');
    expect(events).to.be.greaterThan(2);
    expect(await as('revision:0')).to.match(/as of revision:0, last changed \d{4}-.*Z, from 1 event\n/);
    for (const [at, end] of [
      ['revision:99', `record-${patient} ends at revision:1`],
      ['position:9999999999999999', `the log ends at position:${position}`],
    ] as const) {
      const beyond = await annal('record', patient, '--at', at);
      expect(beyond, at).to.include({ code: 1, stdout: '' });
      expect(beyond.stderr).to.contain(end);
    }
    expect((await annal('record', patient, '--at', 'position:0')).stderr).to.contain('has no record as of');
  });

  it('leaves no file when an export is interrupted', async () => {
    const out = join(folder, 'interrupted.ndjson');
    const signal = AbortSignal.abort();
    const before = process.env;
    process.env = { ...before, DATA_DIR: service.dataDir, DATABASE_URL: database.url };
    try {
      const error = await exportCommand(patient, { out, signal }).catch((thrown: unknown) => thrown);
      expect(String(error)).to.contain('the export was stopped');
    } finally {
      process.env = before;
    }
    expect(await readdir(folder)).not.to.include('interrupted.ndjson');
  });

  it('signs a checkpoint, and proves that no history up to then was altered since', async () => {
    const path = checkpoint;
    const made = await annal('checkpoint', '--out', path, '--json');
    expect(made).to.include({ code: 0 });
    const { public_key: key, key_id: id, streams } = signedSchema.parse(JSON.parse(made.stdout));
    expect(
      gunzipSync(await readFile(path))
        .toString('utf8')
        .split('\n'),
    ).to.have.length((streams ?? 0) + 2);
    // Refused at once: on a large log, reading it takes hours.
    expect((await annal('checkpoint', '--out', path)).stderr).to.equal(
      `annal: ${path} already exists; choose another name\n`,
    );

    await service.fhir(`/Patient/${gone}?_purge=true`, { method: 'DELETE' });
    // A key may begin with a hyphen.
    expect((await annal('verify', '--checkpoint', path, '--key', '-4')).stderr).not.to.contain('option');
    const clean = await annal('verify', '--checkpoint', path, '--key', key);
    expect(clean, clean.stdout + clean.stderr).to.include({ code: 0 });
    for (const line of clean.stdout.split('\n')) expect(line.length, line).to.be.at.most(80);
    expect(clean.stdout.replace(/\s+/g, ' '))
      .to.contain(
        `signed with the key ${id}: the history of ${(streams ?? 0) - 1} streams up to the checkpoint is unaltered`,
      )
      .and.to.match(
        new RegExp(`Purged since: Patient/${gone}, requested at \\S+ with key_\\S+ in request req_`),
      );
    const mistaken = await node([file('bin/verify-export.mjs'), path]);
    expect(mistaken).to.include({ code: 1, stdout: '' });
    expect(mistaken.stderr).to.contain('this is a checkpoint, not an export: use `annal verify --checkpoint');
    const exported = await annal('verify', '--checkpoint', join(folder, 'record.ndjson'));
    expect(exported).to.include({ code: 1, stdout: '' });
    expect(exported.stderr).to.contain('it is an export, not a checkpoint');
    const renamed = join(folder, 'checkpoint-without-suffix');
    await writeFile(renamed, await readFile(path));
    expect(await annal('verify', '--checkpoint', renamed)).to.include({ code: 0 });

    const other = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
    const untrusted = await annal('verify', '--checkpoint', path, '--key', other);
    expect(untrusted).to.include({ code: 1, stdout: '' });
    expect(untrusted.stderr).to.contain(id).and.to.contain('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
    expect((await annal('verify', '--checkpoint', join(folder, 'none'))).stderr).to.contain('cannot be read');
    const noise = join(folder, 'noise.gz');
    await writeFile(noise, 'no checkpoint');
    expect((await annal('verify', '--checkpoint', noise)).stderr).to.contain('is not a valid checkpoint');
    await writeFile(noise, Buffer.concat([Buffer.of(0x1f, 0x8b), Buffer.from('no checkpoint')]));
    expect((await annal('verify', '--checkpoint', noise)).stderr).to.contain('cannot be read');
  });

  it('finds that the history was altered', async function () {
    if (!inTables) this.skip();
    await sql(`delete from log.events where stream = $1 and revision = 1`, `record-${patient}`);
    const found = await annal('verify', '--checkpoint', checkpoint);
    expect(found).to.include({ code: 3 });
    expect(found.stdout).to.contain(': 1 fault.\n');
    for (const line of found.stdout.split('\n')) expect(line.length, line).to.be.at.most(80);
    expect(found.stdout.replace(/\s+/g, ' '))
      .to.contain(`record-${patient} at 1`)
      .and.to.contain('annal rebuild --restored')
      .and.to.contain('the stream ends at revision 0; the checkpoint has it up to 1')
      .and.to.contain('history before the checkpoint was altered');
  });

  it('signs nothing that does not hold', async function () {
    if (!inTables) this.skip();
    await sql(
      `update log.events set data = replace(data, 'Mira', 'Mara') where stream = $1`,
      `record-${patient}`,
    );
    const faulty = join(folder, 'faulty.ndjson');
    const refused = await annal('checkpoint', '--out', faulty);
    expect(refused).to.include({ code: 3 });
    expect(refused.stdout).to.contain('Nothing was signed').and.to.contain(`record-${patient} at 0`);
    const verified = await annal('verify');
    expect(verified.stdout)
      .to.contain('hash mismatch')
      .and.to.match(/~ body\.name\[0\]\.given\[0\]: "Mira" → "Mara"/);
    const exported = await annal('export', patient, '--out', join(folder, 'faulty-record.ndjson'));
    expect(exported).to.include({ code: 3 });
    expect(exported.stderr).to.contain(
      'at revision 0: this event or the one before it was altered. Nothing was exported',
    );
    for (const name of ['faulty.ndjson', 'faulty-record.ndjson']) {
      expect(await stat(join(folder, name)).catch(() => 'none'), name).to.equal('none');
    }
    const history = await annal('history', patient);
    expect(history).to.include({ code: 3 });
    expect(history.stderr).to.contain('hash mismatch in');
  });

  it('says of a record that was purged when, and at whose request', async () => {
    for (const args of [
      ['history', gone],
      ['export', gone, '--out', join(folder, 'gone.ndjson')],
      ['record', gone],
    ]) {
      const { code, stdout, stderr } = await annal(...args);
      expect({ code, stdout }, args.join(' ')).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.match(
        /was purged: requested at \d{4}-.*Z with key_\S+ in request req_\S+, completed at \d{4}-.*Z/,
      );
    }
  });
});
