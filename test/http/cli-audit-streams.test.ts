/** The command line for auditors: streams other than records, what can't be requested, and a log with a different beginning. */
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { z } from 'zod';
import { type CommandOutcome, runCommand } from '#test/support/cli.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { foundProject } from '#test/support/project.ts';
import { type Service, startService } from '#test/support/service.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

/** True if the log is in tables, which a test can tamper with. */
const inTables = (process.env.EVENTSTORE_URL ?? '') === '';

describe('the command line, for auditors of other streams', () => {
  let database: TestDatabase;
  let service: Service;
  let folder: string;
  let patient: string;

  const annal = (...args: readonly string[]): Promise<CommandOutcome> =>
    runCommand(args, { DATA_DIR: service.dataDir, DATABASE_URL: database.url });

  before(async () => {
    database = await createMigratedDatabase();
    service = await startService({ databaseUrl: database.url });
    folder = await temporaryFolder(false);
    const send = async (resource: { resourceType: string }) =>
      service.fhir(`/${resource.resourceType}`, { method: 'POST', body: JSON.stringify(resource) });
    patient = String((await send({ resourceType: 'Patient' })).json.id);
    const clinic = { resourceType: 'Organization', name: 'Clinic' };
    expect((await send(clinic)).status).to.equal(201);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
    await removeTemporaryFolders();
  });

  /** Returns the name of the service's stream of the given kind. */
  const streamOf = async (kind: string): Promise<string> => {
    const path = join(folder, `${kind}-${randomUUID()}.ndjson`);
    expect((await annal('checkpoint', '--out', path, '--json')).code).to.equal(0);
    const lines = (await readFile(path, 'utf8')).split('\n');
    const line = lines.find((each) => each.includes(`"${kind}-`)) ?? '';
    return new RegExp(`${kind}-[^"]+`).exec(line)?.[0] ?? '';
  };

  it('shows the history of a directory as that of a record', async () => {
    const stream = await streamOf('directory');
    const { code, stdout } = await annal('history', stream);
    expect(code).to.equal(0);
    expect(stdout).to.match(/Organization\/[0-9a-f-]{36}/);
    expect(JSON.parse((await annal('history', stream, '--json')).stdout)).to.include({
      stream,
      resource: stream,
    });
  });

  it('shows the events of a project', async () => {
    const stream = await streamOf('project');
    const { code, stdout } = await annal('history', stream);
    expect(code).to.equal(0);
    expect(stdout).to.contain('ProjectCreated').and.to.contain('ApiKeyCreated');
    const shown = z
      .object({
        stream: z.string(),
        chain: z.object({ holds: z.boolean() }),
        events: z.array(z.object({ type: z.string() })),
      })
      .parse(JSON.parse((await annal('history', stream, '--json')).stdout));
    expect(shown.stream).to.equal(stream);
    expect(shown.chain.holds).to.equal(true);
    expect(shown.events.at(-1)?.type).to.equal('ProjectCreated');
  });

  it('exports a stream as a file that proves itself', async () => {
    const stream = await streamOf('project');
    const path = join(folder, 'project-export.ndjson');
    const made = await annal('export', stream, '--out', path);
    expect(made.stdout).to.contain(`of ${stream} to ${path}`);
    const said = await new Promise<string>((resolve) => {
      execFile(process.execPath, ['bin/verify-export.mjs', path], (_error, stdout) => resolve(stdout));
    });
    expect(said).to.contain('is intact').and.to.contain(stream);
  });

  it('refuses a time in the future, and takes the day that it is', async () => {
    const beyond = await annal('record', patient, '--at', '2999-01-01T00:00:00Z');
    expect(beyond).to.include({ code: 1, stdout: '' });
    expect(beyond.stderr).to.contain('is in the future; it is now');
    expect((await annal('record', patient, '--at', '2999-01-01')).code).to.equal(1);
    const today = new Date().toISOString().slice(0, 10);
    expect((await annal('record', patient, '--at', today)).code).to.equal(0);
  });

  it('says what is wrong with what it was asked for', async () => {
    const unknown = '018f0000-0000-7000-8000-000000000001';
    for (const [code, said, ...args] of [
      [1, 'no patient matches "nobody" by id, name or identifier', 'history', 'nobody'],
      [1, "doesn't exist", 'history', `Observation/${unknown}`],
      [1, "doesn't exist", 'history', unknown],
      [1, 'has no record', 'export', unknown, '--out', join(folder, 'unknown.ndjson')],
      [1, 'no patient matches "nobody"', 'export', 'nobody', '--out', 'x'],
      [1, 'no patient matches "nobody"', 'record', 'nobody'],
      [2, 'is not a valid patient id', 'record', 'Patient/nobody'],
      [2, 'unknown command histroy; did you mean `history`?', 'histroy'],
      [2, 'did you mean `--checkpoint`?', 'verify', '--chekpoint', 'x'],
      [1, 'cannot be written', 'export', patient, '--out', join(folder, 'no/such/folder')],
      [2, 'expected a number, for example position:1200', 'record', patient, '--at', 'position:x'],
      [2, 'needs --out', 'export', patient],
      [2, 'unknown option `--keep`', 'export', patient, '--out', join(folder, 'kept.ndjson'), '--keep'],
      [2, 'needs either --out', 'checkpoint'],
      [2, 'leave out the options', 'takeback', 'undo', 'tb_x', '--source-system', 'Ward 3'],
      [2, 'needs either --email', 'dev-token', '--email', 'a@example.org', '--patient', '1'],
      [2, 'is not a valid public key', 'verify', '--checkpoint', 'x', '--key', 'short'],
      [2, 'needs --checkpoint', 'verify', '--key', '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'],
      [2, 'expected a date', 'record', patient, '--at', 'yesterday'],
      [2, 'expected Type/id with a UUID', 'history', 'Patient/nobody'],
      [1, "doesn't exist", 'history', 'project-none'],
      [1, 'has no events', 'export', 'directory-none-sandbox', '--out', join(folder, 'none.ndjson')],
      [2, 'use --json', 'history', 'project-none', '--html', join(folder, 'none.html')],
    ] as const) {
      const { stderr, ...outcome } = await annal(...args);
      expect(outcome, args.join(' ')).to.deep.equal({ code, stdout: '' });
      expect(stderr, args.join(' ')).to.contain(said);
    }
  });

  it('waits until the index of names has the latest patients', async () => {
    const holder = await database.pool.connect();
    const family = `Late${randomBytes(4).toString('hex')}`;
    try {
      await holder.query('begin');
      await holder.query('select from search.checkpoint for update');
      const patient = { resourceType: 'Patient', name: [{ family }] };
      const answer = await service.fhir('/Patient', { method: 'POST', body: JSON.stringify(patient) });
      const found = annal('patients', family);
      await pause(500);
      await holder.query('rollback');
      expect(await found).to.deep.include({ code: 0, stderr: '' });
      expect((await found).stdout).to.contain(String(answer.json.id));
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });

  it('finds patients by name and identifier, in all projects, and takes a unique one for its id', async () => {
    const send = async (resource: object, path: string, method = 'POST') =>
      String((await service.fhir(path, { method, body: JSON.stringify(resource) })).json.id);
    // Unique names, even in a log that other tests wrote to.
    const own = randomBytes(4)
      .toString('hex')
      .replace(/[0-9]/g, (digit) => 'ghijklmnop'[Number(digit)] ?? '');
    const [Müller, Muller, Lund, Idun] = [`Müller${own}`, `Muller${own}`, `Lund${own}`, `Idun${own}`];
    const name = (family: string, ...given: string[]) => [{ family, given }];
    const identifier = [{ system: 'urn:mrn', value: `0012-${own}` }];
    const resourceType = 'Patient';
    const ida = await send(
      { resourceType, name: name(`${Müller}-${Lund}`, 'Ida'), birthDate: '1984-05-02', identifier },
      '/Patient',
    );
    const idun = await send({ resourceType, name: name(Muller, Idun) }, '/Patient');
    await service.fhir(`/Patient/${idun}`, { method: 'DELETE' });
    const other = await foundProject(database.url);
    const elsewhere = await service.fhir('/Patient', {
      method: 'POST',
      body: JSON.stringify({ resourceType, name: name(Muller, 'Olaf') }),
      headers: { Authorization: `Bearer ${other.key}` },
    });
    const condition = {
      resourceType: 'Condition',
      subject: { reference: `Patient/${ida}` },
      clinicalStatus: {
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }],
      },
      code: { text: 'Hypertension' },
    };
    await send(condition, '/Condition');

    const live = (await annal('patients', Muller.toUpperCase())).stdout;
    expect(live).to.contain('2 patients.').and.not.to.contain(idun);
    const listed = await annal('patients', Muller.toUpperCase(), '--deleted');
    expect(listed.code).to.equal(0);
    expect(listed.stdout)
      .to.match(new RegExp(`${ida}  Ida ${Müller}-${Lund}  1984-05-02  0012-${own} `))
      .and.to.match(new RegExp(`${idun}  ${Idun} ${Muller} .* deleted`))
      .and.to.contain(`${String(elsewhere.json.id)}  Olaf ${Muller}`)
      .and.to.contain('3 patients.');
    const json = JSON.parse((await annal('patients', 'ida', Lund.toLowerCase(), '--json')).stdout);
    expect(json.total).to.equal(1);
    expect(json.data[0]).to.include({
      id: ida,
      name: `Ida ${Müller}-${Lund}`,
      deleted: false,
      environment: 'sandbox',
    });
    expect(await annal('patients', Muller.toLowerCase(), '--project', 'none')).to.include({
      code: 1,
      stdout: '',
    });
    const { rows: projects } = await database.pool.query<{ id: string; name: string }>(
      'select id, name from projects.project',
    );
    await database.pool.query(`update projects.project set name = 'Same'`);
    const alike = (await annal('patients', Muller.toLowerCase())).stdout;
    expect(alike).to.contain(`Same, ${other.project}, sandbox`);
    for (const { id, name: was } of projects)
      await database.pool.query('update projects.project set name = $2 where id = $1', [id, was]);
    const ours = JSON.parse(
      (await annal('patients', Muller.toLowerCase(), '--json', '--project', other.project)).stdout,
    );
    expect(ours.data.map((each: { id: string }) => each.id)).to.deep.equal([String(elsewhere.json.id)]);
    expect((await annal('patients', Idun.toLowerCase())).stdout)
      .to.contain(idun)
      .and.to.contain('deleted');
    expect(await annal('patients', `nobody${own}`)).to.include({ code: 1, stdout: 'No patient found.\n' });

    for (const words of [
      [`ida ${Müller}-${Lund}`.toLowerCase()],
      ['ida', Lund.toLowerCase()],
      [`0012-${own}`],
      [`urn:mrn|0012-${own}`],
    ]) {
      const history = await annal('history', ...words);
      expect(history.code, history.stderr).to.equal(0);
      expect(history.stdout).to.contain(`Patient/${ida}`);
      expect(history.stderr).to.contain(`annal: Patient/${ida}: Ida ${Müller}-${Lund}, born 1984-05-02`);
    }
    const observation = {
      ...{ resourceType: 'Observation', status: 'final', subject: { reference: `Patient/${ida}` } },
      ...{ code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] }, valueInteger: 72 },
    };
    await send(observation, '/Observation');
    // This request is answered once the bundled terminology has been loaded.
    await service.fhir(`${service.url}/v1/terminology/loinc/8867-4`);
    const record = await annal(
      'record',
      'ida',
      Lund.toLowerCase(),
      '--at',
      new Date().toISOString().slice(0, 10),
    );
    expect(record.stdout)
      .to.match(/^Condition .* Hypertension, active$/m)
      .and.to.match(/^Observation .* Heart rate, 72$/m)
      .and.to.match(new RegExp(`^Patient .* Ida ${Müller}-${Lund}$`, 'm'));
    // Auditors can also request a deleted patient's history.
    expect((await annal('history', Idun.toLowerCase())).stdout).to.contain('DELETE');
    const several = await annal('record', Muller.toLowerCase());
    expect(several).to.include({ code: 1, stdout: '' });
    expect(several.stderr)
      .to.contain('matches 2 patients; choose one by its id:')
      .and.to.contain(`Patient/${ida}: Ida`)
      .and.to.match(/\(proj_[\w-]+\), sandbox$/m);
  });

  it('finds that the event was changed by which the log is known', async function () {
    if (!inTables) this.skip();
    const text = 'update log.events set id = $1 where position = (select min(position) from log.events)';
    const { rows } = await database.pool.query<{ id: string }>(
      'select id from log.events order by position limit 1',
    );
    await database.pool.query(text, ['00000000-0000-7000-8000-000000000000']);
    try {
      const { code, stdout } = await annal('verify', '--json');
      expect(code).to.equal(3);
      const { log } = z.object({ log: z.array(z.object({ what: z.string() })) }).parse(JSON.parse(stdout));
      expect(log[0]).to.include({ what: 'identity' });
      expect(log.map(({ what }) => what)).to.include('hash');
      // Commands that would change such a log are still refused.
      expect((await annal('rebuild')).stderr).to.contain('of another installation');
    } finally {
      await database.pool.query(text, [rows[0]?.id]);
    }
  });
});
