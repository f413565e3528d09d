/** The access log in `annal verify` and `annal checkpoint`, against the real service. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { z } from 'zod';
import { openPool } from '#src/database/pool.ts';
import { AccessLogWriter } from '#src/operations/access-log/access-log.ts';
import { newRequestId } from '#src/shared/ids.ts';
import { type CommandOutcome, runCommand } from '#test/support/cli.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { type Service, startService } from '#test/support/service.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

const causeSchema = z.object({ where: z.string(), what: z.string(), which: z.string() });

describe('the access log, for auditors', () => {
  let database: TestDatabase;
  let service: Service;
  let folder: string;
  let patient: string;
  let gone: string;
  let checkpoint: string;

  const annal = (...args: readonly string[]): Promise<CommandOutcome> =>
    runCommand(args, { DATA_DIR: service.dataDir, DATABASE_URL: database.url });
  const create = async (): Promise<string> =>
    String((await service.fhir('/Patient', { method: 'POST', body: '{"resourceType":"Patient"}' })).json.id);
  const causesIn = ({ stdout }: CommandOutcome): string[] =>
    z
      .object({ causes: z.array(causeSchema) })
      .parse(JSON.parse(stdout))
      .causes.map(({ where, what, which }) => `${where} ${what} ${which}`);

  before(async () => {
    database = await createMigratedDatabase();
    service = await startService({ databaseUrl: database.url });
    folder = await temporaryFolder(false);
    checkpoint = join(folder, 'checkpoint.ndjson');
    [patient, gone] = [await create(), await create()];
    const pool = openPool(database.url, { max: 1, name: 'test access log' });
    const writer = new AccessLogWriter(pool, pino({ level: 'silent' }));
    const entry = {
      action: 'read',
      actor: { kind: 'application', id: 'app_a', grantId: 'grant_a' },
      resourceType: 'Patient',
      purpose: null,
      status: 'ok',
      count: 1,
    } as const;
    const reads = [patient, patient, gone, patient].map((record) => ({ record, resourceId: record }));
    await writer.written(reads.map((read) => ({ ...entry, ...read, requestId: newRequestId() })));
    await writer.close();
    await pool.end();
  });
  after(async () => {
    await service.stop();
    await database.drop();
    await removeTemporaryFolders();
  });

  it('is in a checkpoint with the head of every record, and verified', async () => {
    const made = await annal('checkpoint', '--out', checkpoint);
    expect(made, made.stderr).to.include({ code: 0 });
    expect(made.stdout).to.match(/Signed \d+ events in \d+ streams and 2 access logs in /);
    const lines = (await readFile(checkpoint, 'utf8')).split('\n');
    const names = [`access-${patient}`, `access-${gone}`].sort();
    expect(lines.slice(0, 2).map((line) => JSON.parse(line).stream)).to.deep.equal(names);
    expect(lines.join()).to.contain(`{"stream":"access-${patient}","revision":3,"hash":"`);
    const verified = await annal('verify');
    expect(verified, verified.stdout).to.include({ code: 0 });
    expect(verified.stdout.replace(/\s+/g, ' ')).to.contain(
      'The access log is unaltered: 4 entries of 2 records.',
    );
  });

  it('is explained by the purge of a record', async () => {
    await service.fhir(`/Patient/${gone}?_purge=true`, { method: 'DELETE' });
    const verified = await annal('verify', '--checkpoint', checkpoint);
    expect(verified, verified.stdout).to.include({ code: 0 });
    expect(verified.stdout.replace(/\s+/g, ' '))
      .to.contain('up to the checkpoint is unaltered, and so is the access log.')
      .and.to.contain(`Purged since: Patient/${gone}`);
  });

  itAtFullSize('betrays the head of a purged record that was marked by hand', async () => {
    await database.pool.query(`delete from operations.access_entry where record = $1`, [patient]);
    await database.pool.query(`update operations.access_head set erased = true where record = $1`, [patient]);
    const found = await annal('verify', '--checkpoint', checkpoint, '--json');
    expect(found).to.include({ code: 3 });
    expect(causesIn(found)).to.deep.equal([`access log erasure Patient/${patient}`]);
    const shown = await annal('verify', '--checkpoint', checkpoint);
    expect(shown.stdout.replace(/\s+/g, ' '))
      .to.contain(`access log erasure: 3 entries were removed`)
      .and.to.contain('the access log is missing; the checkpoint has it up to entry 3')
      .and.to.contain('history before the checkpoint was altered')
      .and.to.contain('Nothing can rebuild it');
  });

  itAtFullSize('is not signed while it has faults', async () => {
    const out = join(folder, 'faulty.ndjson');
    const refused = await annal('checkpoint', '--out', out);
    expect(refused).to.include({ code: 3 });
    expect(refused.stdout).to.contain('Nothing was signed: the access log has 1 fault.');
    expect(await stat(out).catch(() => 'none')).to.equal('none');
  });
});
