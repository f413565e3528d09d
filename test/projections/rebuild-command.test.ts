/** The output of `annal rebuild`. */
import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { type CommandOutcome, runCommand } from '#test/support/cli.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { startProgram } from '#test/support/process.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { type Instance, startInstance } from './instance.ts';
import { created, Streams, until } from './made.ts';

describe('annal rebuild', () => {
  let database: TestDatabase;
  let instance: Instance;
  const lost = newUuid();

  before(async () => {
    database = await createDatabase();
    instance = await startInstance(database.url);
    const patient = newUuid();
    const streams = new Streams(instance.store);
    const others = Array.from({ length: 20 }, () => created('Observation', newUuid()));
    await instance.shown(
      await streams.record(patient, created('Patient', patient), created('Observation', lost), ...others),
    );
  });
  after(async () => {
    await instance.stop();
    await database.drop();
  });

  const rebuild = (...args: string[]): Promise<CommandOutcome> =>
    runCommand(['rebuild', ...args], { DATABASE_URL: database.url, EVENTSTORE_URL: '' });

  it('says what it compared, and what became of it', async () => {
    const { code, stdout, stderr } = await rebuild();
    expect(code).to.equal(0);
    expect(stdout).to.match(/^resources\.resource +22 +22 +0 +0 +0$/m);
    expect(stdout).to.match(/^history\.version +22 +22 +0 +0 +0$/m);
    expect(stdout).to.match(/^resources +22 +0 +rebuilt and in service$/m);
    expect(stderr).to.contain('resources: comparing\n');
  });

  itAtFullSize('tells a program how far it is, in lines of JSON', async () => {
    // Runs in a separate process, because at low load the command lowers its process's priority.
    const args = ['bin/annal.js', 'rebuild', 'history', '--json', '--load', 'low'];
    const program = startProgram(process.execPath, args, { DATABASE_URL: database.url });
    expect(await program.ended, program.stderr()).to.equal(0);
    const [report] = JSON.parse(program.stdout()) as Record<string, unknown>[];
    expect(report).to.deep.include({ name: 'history', outcome: 'swapped', events: 22, differences: [] });
    expect(report?.compared).to.deep.include({
      table: 'version',
      serving: 22,
      rebuilt: 22,
      more_differences: false,
    });
    const lines = program
      .stderr()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    // On a slow machine, there are also progress lines between the phases.
    const said = lines.filter(({ note }) => note !== undefined);
    expect(said.map(({ note }) => note)).to.deep.equal(
      ['indexing', 'comparing', 'swapping', 'done'].map((phase) => `history: ${phase}`),
    );
    for (const line of lines) {
      expect(line).to.include({ total: 22, unit: 'events' });
      expect(line.rate).to.be.a('number');
    }
    for (const line of said) expect(line.done).to.equal(22);
  });

  it('names what differs before it swaps nothing', async () => {
    await database.pool.query('delete from resources.resource where id = $1', [lost]);
    const { code, stdout } = await rebuild('resources');
    expect(code).to.equal(3);
    expect(stdout).to.match(/^resources\.resource +21 +22 +1 +0 +0$/m);
    expect(stdout).to.contain(`missing: resources.resource {"id":"${lost}"}`);
    expect(stdout).to.contain('not in service: rows differ');
    expect((await rebuild('resources', '--force')).code).to.equal(0);
    expect((await rebuild('resources')).stdout).to.match(/^resources\.resource +22 +22 +0 +0 +0$/m);
  });

  it('says where more rows differ than it names', async () => {
    await database.pool.query(
      `insert into resources.resource
       select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).*
         from resources.resource r, generate_series(1, 60)`,
    );
    const { code, stdout } = await rebuild('resources');
    expect(code).to.equal(3);
    expect(stdout).to.match(/^resources\.resource +1342 +22 +0 +1000\+ +0$/m);
    expect(stdout).to.contain('More than 1,000 rows differ in resources.resource;');
    expect(stdout).to.match(/^resources +22 +1000\+ +not in service/m);
    const [report] = JSON.parse((await rebuild('resources', '--json')).stdout);
    expect(report.compared).to.deep.include({
      table: 'resource',
      serving: 1342,
      rebuilt: 22,
      more_differences: true,
    });
    expect((await rebuild('resources', '--force')).code).to.equal(0);
  });

  it('makes read models whose schemas are missing, while instances run', async () => {
    await database.pool.query('drop schema resources cascade; drop schema timeline cascade');
    const { code, stdout, stderr } = await rebuild();
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/^resources +22 +0 +rebuilt and in service$/m);
    expect(stdout).to.match(/^timeline +22 +0 +rebuilt and in service$/m);
    expect((await rebuild('resources')).stdout).to.match(/^resources\.resource +22 +22 +0 +0 +0$/m);
    await until(() => instance.progress.missing().length === 0);
    await instance.shown(await instance.store.head());
  });

  it('refuses a load that it does not know', async () => {
    expect(await rebuild('--load', 'some')).to.include({
      code: 2,
      stderr: 'annal: --load must be full or low\n',
    });
  });
});
