/** The embedded PostgreSQL through clean and unclean shutdowns. */
import { execFile } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#src/database/embedded.ts';
import { processMark } from '#src/process-mark.ts';
import { bundledProgram } from '#test/support/bundled-program.ts';
import { startProgram } from '#test/support/process.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

const isRoot = process.getuid?.() === 0;
const running: EmbeddedPostgres[] = [];

async function start(dataDir: string, fsync = false): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, fsync });
  running.push(server);
  return server;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' });
    return rows.flat();
  } finally {
    await client.end();
  }
}

/** Returns the data folder of a server that has stored the number 1 and stopped. */
async function usedFolder(open = true): Promise<string> {
  const folder = await temporaryFolder(open);
  // Only in a folder that PostgreSQL's user can access is the cluster stored directly, so only then can it be copied.
  if (!open) await use(folder);
  else {
    used ??= temporaryFolder().then(use);
    await promisify(execFile)('cp', ['-a', `${await used}/.`, folder]);
  }
  return folder;
}

let used: Promise<string> | undefined;

async function use(folder: string): Promise<string> {
  const server = await start(folder);
  await query(server.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  await server.stop();
  return folder;
}

async function isRunning(pid: number): Promise<boolean> {
  return (await processMark(pid)).began !== '';
}

async function refusal(started: Promise<unknown>): Promise<string> {
  return started.then(
    () => 'it started',
    (error: Error) => error.message,
  );
}

describe('embedded PostgreSQL', () => {
  afterEach(() => Promise.all(running.splice(0).map((server) => server.stop())));
  after(removeTemporaryFolders);

  it('keeps its data from one start to the next', async () => {
    const server = await start(await usedFolder());
    expect(await query(server.url, 'SELECT n FROM kept')).to.deep.equal([1]);
  });

  it('is reached through a socket that is open to its own user alone', async () => {
    const { url } = await start(await temporaryFolder());
    const folder = new URL(url).searchParams.get('host') ?? '';
    expect((await stat(folder)).mode & 0o777).to.equal(0o700);
    expect(await query(url, 'SHOW listen_addresses')).to.deep.equal(['']);
  });

  itAtFullSize(
    'is durable, and speaks Unicode in the order of code points, unless a test asks otherwise',
    async () => {
      const folder = await temporaryFolder();
      const server = await startEmbeddedPostgres({ dataDir: folder });
      running.push(server);
      const { url } = server;
      const settings = await query(
        url,
        `SELECT current_setting('fsync'), current_setting('synchronous_commit')`,
      );
      expect(settings).to.deep.equal(['on', 'on']);
      expect(
        await query(url, `SELECT 'Z' < 'a', lower('ÄÖ'), current_setting('server_encoding')`),
      ).to.deep.equal([true, 'äö', 'UTF8']);
    },
  );

  itAtFullSize('removes its socket folder and its process when it is stopped', async () => {
    const server = await start(await temporaryFolder());
    await server.stop();
    await server.stop();
    expect(await isRunning(server.pid)).to.equal(false);
    expect(await lstat(new URL(server.url).searchParams.get('host') ?? '').catch(() => 'gone')).to.equal(
      'gone',
    );
  });

  itAtFullSize('is its own process group, which a Ctrl-C at the terminal does not reach', async () => {
    const server = await start(await temporaryFolder());
    const ps = startProgram('ps', ['-o', 'pgid=', '-p', String(server.pid)]);
    await ps.ended;
    expect(Number(ps.stdout())).to.equal(server.pid);
  });

  it('replaces the server of a service that was killed, and loses nothing', async () => {
    const folder = await usedFolder();
    const program = await bundledProgram('test/support/embedded-server.ts');
    const service = startProgram(process.execPath, [program, folder]);
    const [, pid = '', url = ''] = (await service.line('started')).split(' ');
    await query(url, 'INSERT INTO kept VALUES (2)');
    service.child.kill('SIGKILL');
    await service.ended;
    expect(await isRunning(Number(pid))).to.equal(true);
    const server = await start(folder);
    expect(await isRunning(Number(pid))).to.equal(false);
    expect(await query(server.url, 'SELECT n FROM kept ORDER BY n')).to.deep.equal([1, 2]);
    expect(await lstat(new URL(url).searchParams.get('host') ?? '').catch(() => 'gone')).to.equal('gone');
  });

  it('recovers from a kill of the server itself, and tells who watches', async () => {
    const folder = await usedFolder();
    const first = await start(folder, true);
    await query(first.url, 'INSERT INTO kept VALUES (2)');
    process.kill(first.pid, 'SIGKILL');
    await first.died;
    const second = await start(folder);
    expect(await query(second.url, 'SELECT count(*)::int FROM kept')).to.deep.equal([2]);
  });

  itAtFullSize('is not misled by a process id that belongs to somebody else by now', async () => {
    const folder = await usedFolder();
    await writeFile(
      join(await readlink(join(folder, 'postgres')).catch(() => join(folder, 'postgres')), 'postmaster.pid'),
      `${process.pid}\n${folder}/postgres\n1\n5432\n/nowhere\n\n\nready   \n`,
    );
    const server = await start(folder);
    expect(await query(server.url, 'SELECT n FROM kept')).to.deep.equal([1]);
  });

  itAtFullSize('begins anew when the first start was killed half-way', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'postgres.initdb-1'));
    await writeFile(join(folder, 'postgres.initdb-1/PG_VERSION'), '18\n');
    await start(folder);
    expect((await readdir(folder)).filter((name) => name.includes('initdb'))).to.deep.equal([]);
  });

  it('leaves a cluster of another version alone and says so', async () => {
    const folder = await usedFolder();
    await writeFile(join(folder, 'postgres/PG_VERSION'), '12\n');
    expect(await refusal(start(folder))).to.match(
      /was made by PostgreSQL 12, and this version of Annal includes 18/,
    );
  });

  it('says why it does not start, in the words of PostgreSQL', async () => {
    const folder = await usedFolder();
    await writeFile(join(folder, 'postgres/postgresql.conf'), 'nonsense = = 1\n');
    expect(await refusal(start(folder))).to.match(/^PostgreSQL did not start: .*syntax error in file/s);
  });

  describe('as root, in a folder that nobody else may enter', () => {
    before(function () {
      if (!isRoot) this.skip();
    });

    it('keeps the cluster outside, where its user can reach it', async () => {
      const folder = await usedFolder(false);
      const cluster = await readlink(join(folder, 'postgres'));
      expect((await stat(cluster)).uid).not.to.equal(0);
      expect((await stat(cluster)).mode & 0o777).to.equal(0o700);
      const server = await start(folder);
      expect(await query(server.url, 'SELECT n FROM kept')).to.deep.equal([1]);
    });

    itAtFullSize('takes a cluster along that was made while others could enter', async () => {
      const open = await usedFolder(true);
      const closed = join(await temporaryFolder(false), 'data');
      await rename(open, closed);
      const server = await start(closed);
      expect(await query(server.url, 'SELECT n FROM kept')).to.deep.equal([1]);
      await server.stop();
      await rm(join(await readlink(join(closed, 'postgres')), '..'), { recursive: true });
    });

    itAtFullSize(
      'follows a folder that was moved, and refuses to share one cluster with its copy',
      async () => {
        const folder = await usedFolder(false);
        const cluster = await readlink(join(folder, 'postgres'));
        const copy = await temporaryFolder(false);
        await startProgram('cp', ['-a', join(folder, 'postgres'), copy]).ended;
        expect(await refusal(start(copy))).to.contain(`links to the database of ${folder}`);
        await rm(join(folder, 'postgres'));
        const server = await start(copy);
        expect(await query(server.url, 'SELECT n FROM kept')).to.deep.equal([1]);
        expect(await readFile(join(cluster, '../data-dir'), 'utf8')).to.equal(copy);
      },
    );

    itAtFullSize('begins empty after the folder was emptied', async () => {
      const folder = await usedFolder(false);
      await rm(join(folder, 'postgres'));
      const server = await start(folder);
      expect(await query(server.url, `SELECT to_regclass('kept')`)).to.deep.equal([null]);
    });
  });
});
