/**
 * Creates databases for tests. They are on one embedded PostgreSQL per test process, which starts with the first database and
 * stops with the process, however the process ends; or on the server at ANNAL_TEST_DATABASE_URL.
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, mkdtemp, rename, rm, statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { PROJECTIONS } from '#projections/all.ts';
import { prepareReadModels } from '#projections/tables.ts';
import { platformPackage } from '#src/database/binaries.ts';
import { startEmbeddedPostgres } from '#src/database/embedded.ts';
import { openPool } from '#src/database/pool.ts';
import { migrate } from '#src/migrations/migrate.ts';
import { TEMPORARY } from './temporary.ts';

const run = promisify(execFile);

/** An empty database for one test. */
export interface TestDatabase {
  readonly url: string;
  readonly pool: pg.Pool;
  /** Closes the pool and drops the database, even if there are other connections to it. */
  drop(): Promise<void>;
}

let server: Promise<string> | undefined;

/** Creates an empty database. */
export async function createDatabase(): Promise<TestDatabase> {
  return copyOf('template0');
}

/** Creates a database in the state after the service's first start: migrated, with the tables of its read models. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  if (isGiven()) return filled(await createDatabase());
  template ??= makeTemplate();
  return copyOf(await template);
}

let template: Promise<string> | undefined;

/**
 * Creates the template once per process, because creating the tables takes longer than copying them. While the template is
 * copied, nothing may be connected to it.
 */
async function makeTemplate(): Promise<string> {
  const { url, pool } = await filled(await createDatabase());
  await pool.end();
  return new URL(url).pathname.slice(1);
}

async function filled(database: TestDatabase): Promise<TestDatabase> {
  await migrate(database.url);
  await prepareReadModels(database.pool, PROJECTIONS);
  return database;
}

async function copyOf(source: string): Promise<TestDatabase> {
  server ??= serverUrl();
  const admin = await server;
  const name = `annal_test_${randomBytes(8).toString('hex')}`;
  // Without fsync, copying files takes no noticeable time for checkpoints, and is faster than copying through the log.
  await execute(admin, `CREATE DATABASE ${name} TEMPLATE ${source} STRATEGY file_copy`);
  const url = withDatabase(admin, name);
  const pool = openPool(url);
  return {
    url,
    pool,
    async drop() {
      await pool.end();
      await execute(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Returns whether the server is external, so that tests must leave nothing on it. */
const isGiven = (): boolean => (process.env.ANNAL_TEST_DATABASE_URL ?? '') !== '';

async function serverUrl(): Promise<string> {
  if (isGiven()) return process.env.ANNAL_TEST_DATABASE_URL ?? '';
  const folder = await mkdtemp(join(await quickFolder(), TEMPORARY));
  // PostgreSQL's user must be able to traverse this folder. The cluster itself stays inaccessible to others.
  await chmod(folder, 0o711);
  const cached = await clusterCache();
  const cluster = join(folder, 'postgres');
  if (await lstat(cached).catch(() => undefined)) {
    // `cp -a` preserves the owner. The cached cluster has never been started since it was created.
    await run('cp', ['-a', cached, cluster]);
  } else {
    await fillCache(folder, cached);
  }
  const started = await startEmbeddedPostgres({ dataDir: folder, fsync: false });
  endWithProcess(started.pid, folder, new URL(started.url).searchParams.get('host') ?? '');
  return started.url;
}

/** Bytes of memory that all servers of a run together must leave free for others. */
const ROOM = 6 * 2 ** 30;

/**
 * Returns a folder for a server's files. If there is plenty of memory, the folder is in memory, because creating databases
 * then takes half the time.
 */
async function quickFolder(): Promise<string> {
  const inMemory = '/dev/shm';
  const found = await statfs(inMemory).catch(() => undefined);
  const isRoomy = found !== undefined && found.bavail * found.bsize > ROOM && freemem() > ROOM;
  return isRoomy ? inMemory : tmpdir();
}

/** Returns the folder of the cached empty cluster, per version of PostgreSQL and per user. */
async function clusterCache(): Promise<string> {
  const folder = join(tmpdir(), `annal-test-clusters-${process.getuid?.() ?? 0}`);
  await mkdir(folder, { recursive: true, mode: 0o711 });
  return join(folder, platformPackage().version);
}

async function fillCache(folder: string, cached: string): Promise<void> {
  const first = await startEmbeddedPostgres({ dataDir: folder, fsync: false });
  await first.stop();
  const copy = `${cached}.${process.pid}`;
  await run('cp', ['-a', join(folder, 'postgres'), copy]);
  // If another process was faster, its copy is just as good.
  await rename(copy, cached).catch(() => rm(copy, { recursive: true, force: true }));
}

/**
 * Starts a shell that waits until its input ends, which happens when this process ends, even by SIGKILL. The shell then stops
 * the server and removes its files.
 */
function endWithProcess(pid: number, folder: string, sockets: string): void {
  const script = `
    read -r _
    kill -QUIT "$1"
    tries=0
    while [ -e "$2/postgres/postmaster.pid" ] && [ $tries -lt 200 ]; do sleep 0.05; tries=$((tries + 1)); done
    rm -rf "$2" "$3"`;
  const watchdog = spawn('/bin/sh', ['-c', script, 'sh', String(pid), folder, sockets], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  });
  watchdog.unref();
  const { stdin } = watchdog;
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
}
