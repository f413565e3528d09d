/** Audit commands and `annal sql` on an embedded database, while its service is running and while it is stopped. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { withStoppedService } from '#src/cli/stopped.ts';
import { findDatabase, lockDataDir } from '#src/data-dir.ts';
import { openPool } from '#src/database/pool.ts';
import { type CommandOutcome, runCommand } from '#test/support/cli.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { type Service, startedDataDir, startService } from '#test/support/service.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

describe('the command line on an embedded database', () => {
  let service: Service;
  let dataDir: string;
  let patient: string;

  const annal = (...args: readonly string[]): Promise<CommandOutcome> =>
    runCommand(args, { DATA_DIR: dataDir, DATABASE_URL: '' });

  before(async function () {
    if ((process.env.EVENTSTORE_URL ?? '') !== '') this.skip();
    dataDir = await startedDataDir();
    service = await startService({ dataDir });
    const body = JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Offline' }] });
    patient = String((await service.fhir('/Patient', { method: 'POST', body })).json.id);
  });
  after(async () => {
    await service?.stop();
    await removeTemporaryFolders();
  });

  it('reads in SQL, and writes nothing', async () => {
    const sql = (command: string, ...more: readonly string[]) =>
      annal('sql', '--read-only', '-c', command, ...more);
    const of = `select type, version, deleted from resources.resource where id = '${patient}'`;
    expect((await sql(of)).stdout).to.equal(
      'type     version  deleted\n-------  -------  -------\nPatient        1  false\n(1 row)\n',
    );
    const json = await sql(`${of}; show transaction_read_only`, '--json');
    expect(json.stdout).to.contain('"version": 1,\n    "deleted": false').and.to.contain('"on"');
    expect((await sql('\\dt resources')).stdout).to.match(/^resources +resource$/m);
    expect((await sql('\\d resources.resource')).stdout).to.match(/^version +integer +true$/m);
    expect((await sql('select n from generate_series(1, 2000) n')).stdout).to.contain('the first 1000 rows');
    expect(
      JSON.parse((await sql('select n from generate_series(1, 2000) n', '--json')).stdout),
    ).to.have.length(2000);
    for (const statement of [
      `delete from log.events`,
      `select set_config('transaction_read_only', 'off', false)`,
      `do $$ begin set transaction read write; delete from log.events; end $$`,
      `with gone as (delete from log.events returning 1) select * from gone`,
      `create table x (y int)`,
      `select nextval('log.positions')`,
      `copy (select 1) to program 'true'`,
      `copy (select 1) to '/tmp/annal-never-written'`,
      `select pg_read_file('PG_VERSION')`,
      `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename is not null`,
    ]) {
      const refused = await sql(statement);
      expect(refused, statement).to.include({ code: 1, stdout: '' });
    }
    // A statement that ends a transaction can end only its own transaction.
    expect((await sql('commit; delete from log.events')).stderr).to.contain('read-only transaction');
    expect(
      (await sql('set session characteristics as transaction read write; delete from log.events')).stderr,
    ).to.contain('read-only transaction');
    expect((await sql('selec 1')).stderr)
      .to.contain('syntax error')
      .and.to.contain('at character 1');
    expect(await annal('sql', '-c', 'select 1')).to.include({ code: 2, stdout: '' });
  });

  itAtFullSize('starts a stopped database read-only for each command, and stops it', async () => {
    const out = await temporaryFolder(false);
    await service.stop();
    expect(await findDatabase(dataDir)).to.equal(undefined);
    const note = `annal: no service is running on ${dataDir}; starting its database read-only\n`;
    for (const [said, ...args] of [
      ['CREATE', 'history', patient],
      [`Record of Patient/${patient}`, 'record', patient],
      ['Signed 4 events in 3 streams in', 'checkpoint', '--out', join(out, 'checkpoint.ndjson')],
      ['Exported 1 event of', 'export', patient, '--out', join(out, 'record.ndjson')],
      ['all hash chains intact', 'verify', '--checkpoint', join(out, 'checkpoint.ndjson')],
      ['on\n', 'sql', '--read-only', '-c', 'show default_transaction_read_only'],
    ] as const) {
      const { code, stdout, stderr } = await annal(...args);
      expect(code, `${args.join(' ')}: ${stderr}`).to.equal(0);
      expect(stdout, args.join(' ')).to.contain(said);
      expect(stderr, args.join(' ')).to.contain(note);
      expect(await readdir(join(dataDir, 'postgres')), args.join(' ')).not.to.include('postmaster.pid');
      expect(await readdir(dataDir), args.join(' ')).not.to.include('lock.json');
    }
    // Simulates a service that was killed before a read model had caught up with the end of the log.
    await withStoppedService({ dataDir }, (url) => {
      const pool = openPool(url, { max: 1, name: 'test' });
      return pool.query("update consents.checkpoint set position = ''").finally(() => pool.end());
    });
    const lagging = await annal('verify');
    expect(lagging.code).to.equal(4);
    expect(lagging.stdout.replaceAll('\n', ' '))
      .to.contain('all read models match the log up to the positions that they have reached')
      .and.to.match(/consents lacks the last \d+ events?/);
    const lock = await lockDataDir(dataDir);
    const busy = await annal('record', patient);
    await lock.release();
    expect(busy).to.include({ code: 1, stdout: '' });
    expect(busy.stderr).to.contain(`(pid ${process.pid}): wait until it has started or stopped`);

    service = await startService({ dataDir });
    expect((await service.fhir(`/Patient/${patient}`)).status).to.equal(200);
  });

  it('says where a database may be when there is none', async () => {
    const empty = await temporaryFolder(false);
    const { code, stderr } = await runCommand(['history', patient], { DATA_DIR: empty, DATABASE_URL: '' });
    expect(code).to.equal(1);
    expect(stderr).to.contain(`no service is running on ${empty}; start it with`);
    expect(await readdir(empty)).to.deep.equal([]);
  });

  it('makes no database in a folder that has none', async () => {
    const empty = await temporaryFolder(false);
    const to = 'postgres://127.0.0.1:1/log';
    for (const args of [
      ['rebuild', '--restored'],
      ['migrate-log', '--to', to, '--cutover'],
      ['migrate-log', '--to', to, '--cancel'],
    ]) {
      const outcome = await runCommand(args, { DATA_DIR: empty, DATABASE_URL: '' });
      expect(outcome, args.join(' ')).to.include({ code: 1, stdout: '' });
      expect(outcome.stderr).to.contain(`${empty} has no database: set DATA_DIR`);
      expect(await readdir(empty)).to.deep.equal([]);
    }
  });
});
