/** The service as a process: how it starts and exits, and everything that can prevent either. */
import { once } from 'node:events';
import { access, cp, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { findDatabase, type Quickstart } from '#src/data-dir.ts';
import { VERSION } from '#src/http/version.ts';
import { processMark } from '#src/process-mark.ts';
import { createDatabase } from '#test/support/database.ts';
import { eventually, freePort, type Program, portOf, ROOT, startProgram } from '#test/support/process.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { startedDataDir } from '#test/support/service.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

const SERVICE = [process.execPath, 'bin/start.js'] as const;
const NPM = ['npm', 'start', '--silent'] as const;
const READY = 'ready';

describe('the service', () => {
  const started: { program: Program; dataDir: string }[] = [];

  afterEach(async () => {
    for (const { program, dataDir } of started.splice(0)) {
      const pid = await servicePid(dataDir);
      if (pid !== undefined) endIfThere(pid);
      program.child.kill('SIGTERM');
      await program.ended;
      if (pid !== undefined) await eventually(async () => !(await isRunning(pid)));
    }
  });
  after(removeTemporaryFolders);

  function start(
    dataDir: string,
    env: Record<string, string>,
    command: readonly string[] = SERVICE,
  ): Program {
    const [file = '', ...args] = command;
    const program = startProgram(file, args, { DATA_DIR: dataDir, SANDBOX_PATIENTS: '0', ...env });
    started.push({ program, dataDir });
    return program;
  }

  it('starts in a folder that only its user may enter, keeps its files to that user, and ends with its database', async () => {
    const dataDir = await temporaryFolder(false);
    const port = await freePort();
    const program = start(dataDir, { PORT: String(port) }, NPM);
    // The key exists as soon as the service reports that it is ready.
    const isReady = async (): Promise<boolean> =>
      (await statusOf(port, '/health/ready').catch(() => 0)) === 200;
    await eventually(isReady);
    const { sandbox_key, base_url } = await quickstartOf(dataDir);
    const line = await program.line(READY);
    expect(line).to.contain(`http://localhost:${port}`).and.to.contain(join(dataDir, 'quickstart.json'));
    expect(program.stdout().trim().split('\n')).to.have.length(1);
    expect(await statusOf(port, '/health/live')).to.equal(200);
    expect(await statusOf(port, '/health/ready')).to.equal(200);
    expect(await statusOf(port, '/metrics')).to.equal(200);
    expect(base_url).to.equal(`http://localhost:${port}`);
    expect(await statusOf(port, '/fhir/R4/Patient', sandbox_key)).to.equal(200);
    expect(await statusOf(port, '/fhir/R4/Patient', 'sk_test_wrong')).to.equal(401);
    expect(program.stderr()).not.to.contain(sandbox_key);
    for (const name of ['quickstart.json', 'database.json', 'postgres.log'])
      expect((await stat(join(dataDir, name))).mode & 0o077, name).to.equal(0);

    const service = await servicePid(dataDir);
    const database = await databasePid(dataDir);
    program.child.kill('SIGTERM');
    await eventually(async () => !(await isRunning(service)));
    expect(await isRunning(database)).to.equal(false);
    expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).to.match(/database system is shut down\n$/);
    expect(await findDatabase(dataDir)).to.equal(undefined);
    expect(await readdir(dataDir)).not.to.include('lock.json');
  });

  itAtFullSize('keeps its key and its data over a restart, and over a kill', async () => {
    const dataDir = await startedDataDir();
    const port = await freePort();
    const env = { PORT: String(port) };
    await start(dataDir, env).line(READY);
    const { sandbox_key } = await quickstartOf(dataDir);
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const { program } = started.splice(0)[0] ?? expect.fail('nothing was started');
      program.child.kill(signal);
      expect(await program.ended).to.equal(signal === 'SIGKILL' ? 'SIGKILL' : 0);
      await start(dataDir, env).line(READY);
      expect((await quickstartOf(dataDir)).sandbox_key).to.equal(sandbox_key);
      expect(await statusOf(port, '/fhir/R4/Patient', sandbox_key)).to.equal(200);
    }
  });

  it('says plainly that the DATA_DIR or the port is taken', async () => {
    const dataDir = await startedDataDir();
    const port = await freePort();
    await start(dataDir, { PORT: String(port) }).line(READY);

    const sameFolder = start(dataDir, { PORT: String(await freePort()) });
    expect(await sameFolder.ended).to.equal(1);
    expect(sameFolder.stderr()).to.match(/^Annal cannot start: DATA_DIR \S+ is in use .*pid \d+.*\n$/m);

    const other = await temporaryFolder();
    const samePort = start(other, { PORT: String(port) });
    expect(await samePort.ended).to.equal(1);
    expect(samePort.stderr()).to.contain(
      `Annal cannot start: PORT ${port} on 127.0.0.1 is in use by another Annal service (version ${VERSION}, http://localhost:${port})`,
    );
    // The problem was detected before a cluster was created.
    expect(await readdir(other)).to.deep.equal([]);

    expect(await statusOf(port, '/health/ready')).to.equal(200);
  });

  itAtFullSize('names the variable that is wrong', async () => {
    const wrong: [Record<string, string>, string, string?][] = [
      [{ PORT: 'http' }, 'PORT must be a whole number from 1 to 65535'],
      [{ EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' }, 'EVENTSTORE_URL: cannot use the event store'],
      [
        { DATABASE_URL: 'postgres://annal:hidden@127.0.0.1:1/annal' },
        'DATABASE_URL: cannot use the database: connect ECONNREFUSED 127.0.0.1:1; check that PostgreSQL runs there',
      ],
      [{ DATA_DIR: '/dev/null/annal' }, 'cannot use DATA_DIR /dev/null/annal'],
      ...((process.platform === 'linux'
        ? [
            [{ DATA_DIR: '/proc/annal' }, 'cannot use DATA_DIR /proc/annal (ENOENT)'],
            [{ DATA_DIR: '/proc/a/b' }, 'cannot use DATA_DIR /proc/a/b (ENOENT)'],
          ]
        : []) as [Record<string, string>, string][]),
      [{ HOST: '192.0.2.1' }, 'HOST 192.0.2.1 is not an address of this machine'],
      [{ HOST: '300.1.1.1' }, 'HOST must be an IP address of this machine'],
      [{ HOST: 'nowhere.invalid' }, 'HOST'],
      [
        { PROT: '4711', HOST: '300.1.1.1' },
        'HOST must be an IP address of this machine',
        'the environment variable PROT is not a setting and is ignored; did you mean PORT?',
      ],
    ];
    const dataDir = await startedDataDir();
    for (const [env, sentence, further = ''] of wrong) {
      const port: Record<string, string> = 'PROT' in env ? {} : { PORT: String(await freePort()) };
      const program = start(dataDir, { ...port, ...env });
      expect(await program.ended).to.equal(1);
      expect(program.stderr()).to.contain(`Annal cannot start: ${sentence}`).and.to.contain(further);
      expect(program.stderr()).not.to.contain('    at ').and.not.to.contain('hidden');
      started.splice(0);
    }
  });

  itAtFullSize('makes no cluster for an event store that does not answer', async () => {
    const dataDir = await temporaryFolder();
    const env = { PORT: String(await freePort()), EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' };
    const program = start(dataDir, env);
    expect(await program.ended).to.equal(1);
    expect(program.stderr()).to.contain('EVENTSTORE_URL: cannot use the event store');
    expect(await readdir(dataDir)).to.deep.equal([]);
  });

  itAtFullSize('says what to do in a clone without packages', async () => {
    const clone = await temporaryFolder();
    for (const name of await readdir(ROOT)) {
      if (!/^(?:node_modules|\.git|\.annal)$/.test(name))
        await cp(join(ROOT, name), join(clone, name), { recursive: true });
    }
    const program = startProgram(process.execPath, [join(clone, 'bin/start.js')], {});
    expect(await program.ended).to.equal(1);
    expect(program.stderr()).to.contain('Run "npm ci" in').and.not.to.contain('    at ');
  });

  itAtFullSize('names a variable that was probably meant as a setting, and starts', async () => {
    const database = await createDatabase();
    const env = { PORT: String(await freePort()), DATABASE_URL: database.url, MOD: 'production' };
    const program = start(await temporaryFolder(), env);
    await program.line(READY);
    expect(program.stderr()).to.contain('MOD is not a setting and is ignored; did you mean MODE?');
    program.child.kill('SIGTERM');
    expect(await program.ended).to.equal(0);
    await database.drop();
  });

  itAtFullSize('ends on SIGTERM while its start waits for what never comes', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const port = portOf(silent);
    const connected = once(silent, 'connection');
    const dataDir = await temporaryFolder();
    const program = start(dataDir, {
      PORT: String(await freePort()),
      DATABASE_URL: `postgres://annal@127.0.0.1:${port}/annal`,
      SHUTDOWN_SECONDS: '1',
    });
    const [socket] = (await connected) as [Socket];
    program.child.kill('SIGTERM');
    expect(await program.ended).to.equal(0);
    expect(program.stderr()).not.to.contain('cannot start');
    expect(await readdir(dataDir)).not.to.include('lock.json');
    socket.destroy();
    silent.close();
  });

  itAtFullSize('uses the database it is given, and leaves it running', async () => {
    const database = await createDatabase();
    const dataDir = await temporaryFolder();
    const program = start(dataDir, { PORT: String(await freePort()), DATABASE_URL: database.url });
    await program.line(READY);
    expect(await readdir(dataDir)).not.to.include('postgres');
    program.child.kill('SIGTERM');
    expect(await program.ended).to.equal(0);
    const { rows } = await database.pool.query('SELECT count(*) > 0 AS written FROM log.events');
    expect(rows).to.deep.equal([{ written: true }]);
    await database.drop();
  });

  itAtFullSize('ends in order on a Ctrl-C, which reaches it from the terminal and from npm', async () => {
    const dataDir = await startedDataDir();
    const program = start(dataDir, { PORT: String(await freePort()) }, NPM);
    await program.line(READY);
    const service = (await servicePid(dataDir)) ?? 0;
    process.kill(service, 'SIGINT');
    process.kill(service, 'SIGINT');
    await program.ended;
    expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).to.match(/database system is shut down\n$/);
  });

  it('answers what is under way before it ends, and waits for no connection that only idles', async () => {
    const dataDir = await startedDataDir();
    const port = await freePort();
    const program = start(dataDir, { PORT: String(port) });
    await program.line(READY);
    const { sandbox_key } = await quickstartOf(dataDir);
    const body = '{"resourceType":"Patient","name":[{"family":"Drain"}]}';
    const sent = request(`http://localhost:${port}/fhir/R4/Patient`, {
      method: 'POST',
      agent: new Agent({ keepAlive: true }),
      headers: {
        authorization: `Bearer ${sandbox_key}`,
        'content-type': 'application/fhir+json',
        'content-length': body.length,
      },
    });
    sent.write(body.slice(0, 20));
    // A response to a later request shows that this one has arrived.
    await statusOf(port, '/health/ready');
    program.child.kill('SIGTERM');
    await eventually(() => program.stderr().includes('stopping'));
    sent.end(body.slice(20));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect(answer.statusCode).to.equal(201);
    answer.resume();
    const began = Date.now();
    // Node itself would keep the idle connection open for five seconds.
    expect(await program.ended).to.equal(0);
    expect(Date.now() - began).to.be.lessThan(4_500);
  });

  itAtFullSize('ends in order when it is asked to while it still starts', async () => {
    const dataDir = await temporaryFolder();
    const program = start(dataDir, { PORT: String(await freePort()) });
    await eventually(() => exists(join(dataDir, 'postgres.log')));
    program.child.kill('SIGTERM');
    expect(await program.ended).to.equal(0);
    expect(program.stdout()).to.equal('');
    expect(await exists(join(dataDir, 'postgres/postmaster.pid'))).to.equal(false);
  });

  itAtFullSize('starts its database again when it dies, or one of its processes', async () => {
    const dataDir = await startedDataDir();
    const port = await freePort();
    const program = start(dataDir, { PORT: String(port) });
    await program.line(READY);
    const { sandbox_key: key } = await quickstartOf(dataDir);
    const serves = () =>
      eventually(async () => (await statusOf(port, '/fhir/R4/Patient?_count=1', key)) === 200, 60_000);
    const first = await databasePid(dataDir);
    process.kill(first, 'SIGKILL');
    await eventually(async () => (await databasePid(dataDir).catch(() => first)) !== first, 60_000);
    await serves();
    expect(program.stderr()).to.contain('PostgreSQL stopped unexpectedly; restart 1 of 5 in 0.1 s');
    // If one of its processes is killed, PostgreSQL restarts all of them.
    const second = await databasePid(dataDir);
    const children = await readFile(`/proc/${second}/task/${second}/children`, 'utf8').catch(() => '');
    const child = Number(children.trim().split(' ').at(-1));
    if (child > 0) process.kill(child, 'SIGKILL');
    await serves();
    expect(await databasePid(dataDir)).to.equal(second);
    program.child.kill('SIGTERM');
    expect(await program.ended).to.equal(0);
  });

  itAtFullSize('goes on when nobody reads its output any more', async () => {
    const dataDir = await startedDataDir();
    const port = await freePort();
    const program = start(dataDir, { PORT: String(port), LOG_LEVEL: 'trace' });
    await program.line(READY);
    program.child.stdout?.destroy();
    program.child.stderr?.destroy();
    for (let i = 0; i < 3; i++) expect(await statusOf(port, '/health/ready')).to.equal(200);
    program.child.kill('SIGTERM');
    expect(await program.ended).to.equal(0);
  });
});

async function statusOf(port: number, path: string, key?: string): Promise<number> {
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const answer = await fetch(`http://localhost:${port}${path}`, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

async function quickstartOf(dataDir: string): Promise<Quickstart> {
  return JSON.parse(await readFile(join(dataDir, 'quickstart.json'), 'utf8')) as Quickstart;
}

/** Returns the id of the process that is using a DATA_DIR. */
async function servicePid(dataDir: string): Promise<number | undefined> {
  const text = await readFile(join(dataDir, 'lock.json'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as { pid: number }).pid;
}

async function databasePid(dataDir: string): Promise<number> {
  const text = await readFile(join(await realpath(join(dataDir, 'postgres')), 'postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

/** Asks a process to exit, unless it has already exited. */
function endIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function isRunning(pid: number | undefined): Promise<boolean> {
  return pid !== undefined && (await processMark(pid)).began !== '';
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
