/**
 * PostgreSQL with a standby that each commit waits for, using the embedded binaries. The primary can be killed at any moment.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type PostgresBinaries, postgresBinaries } from '#src/database/binaries.ts';
import { surroundings } from '#src/database/cluster.ts';
import { startEmbeddedPostgres } from '#src/database/embedded.ts';
import { SHARED_ROOT } from '#src/database/placement.ts';
import { clearDead, removeSocketFolder, SOCKET_PREFIX } from '#src/database/postmaster.ts';
import { NAME, PORT, serverSettings } from '#src/database/settings.ts';
import { postgresUser, type SystemUser } from '#src/database/system-user.ts';
import { eventually } from './process.ts';
import { newDataDir } from './service.ts';

/** The name that the standby connects under and that commits wait for. */
const STANDBY = 'standby';

/** These settings come after the embedded server's settings, so they take precedence. */
const SETTINGS = {
  wal_level: 'replica',
  max_wal_senders: '4',
  wal_keep_size: '256MB',
  hot_standby: 'on',
  synchronous_commit: 'on',
  shared_buffers: '64MB',
};

/** A running server. */
interface Member {
  readonly cluster: string;
  readonly sockets: string;
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  readonly url: string;
}

/** A primary and its standby. */
export class ReplicatedPostgres {
  #primary: Member;
  #standby: Member | undefined;
  #copies = 0;

  private constructor(
    private readonly folder: string,
    private readonly binaries: PostgresBinaries,
    private readonly user: SystemUser | undefined,
    primary: Member,
  ) {
    this.#primary = primary;
  }

  /** Starts a primary with an empty database, and a standby. */
  static async open(): Promise<ReplicatedPostgres> {
    const folder = await newDataDir();
    const first = await startEmbeddedPostgres({ dataDir: folder, fsync: false });
    await first.stop();
    const cluster = await realpath(join(folder, 'postgres'));
    const user = await postgresUser(cluster);
    const binaries = await postgresBinaries(user, user === undefined ? folder : SHARED_ROOT);
    const primary = await start(binaries, user, cluster);
    const opened = new ReplicatedPostgres(folder, binaries, user, primary);
    await opened.addStandby();
    return opened;
  }

  /** The primary's `postgres://` URL. */
  get url(): string {
    return this.#primary.url;
  }

  /** The standby's `postgres://` URL, which answers reads. */
  get standbyUrl(): string {
    if (this.#standby === undefined) throw new Error('there is no standby');
    return this.#standby.url;
  }

  /** Copies the running primary, and makes commits wait for the copy from then on. */
  async addStandby(): Promise<void> {
    this.#copies += 1;
    const copy = join(this.folder, `copy-${this.#copies}`);
    await query(this.url, async (client) => {
      await client.query(`select pg_backup_start('${STANDBY}', true)`);
      await copyRunning(this.#primary.cluster, copy);
      const { rows } = await client.query<{ labelfile: string }>(
        'select labelfile from pg_backup_stop(false)',
      );
      const conninfo = `host=${this.#primary.sockets} port=${PORT} user=${NAME} application_name=${STANDBY}`;
      for (const [name, text] of [
        ['backup_label', rows[0]?.labelfile ?? ''],
        ['standby.signal', ''],
        // The copy doesn't keep the primary's own settings: after the standby has been promoted, commits mustn't wait for a
        // standby that doesn't exist yet.
        ['postgresql.auto.conf', `primary_conninfo = '${conninfo}'\n`],
      ] as const) {
        await writeFile(join(copy, name), text, { mode: 0o600 });
        if (this.user !== undefined) await chown(join(copy, name), this.user.uid, this.user.gid);
      }
      this.#standby = await start(this.binaries, this.user, await realpath(copy));
      await client.query(`alter system set synchronous_standby_names = '${STANDBY}'`);
      await client.query('select pg_reload_conf()');
      await eventually(async () => {
        const found = await client.query("select 1 from pg_stat_replication where sync_state = 'sync'");
        return found.rowCount === 1;
      });
    });
  }

  /** Kills the primary and removes everything that belongs to it. */
  async killPrimary(): Promise<void> {
    const { child, ended, cluster, sockets } = this.#primary;
    child.kill('SIGKILL');
    await ended;
    await clearDead(cluster, sockets);
  }

  /** Promotes the standby. */
  async promote(): Promise<void> {
    const { url } = this.#standby ?? {};
    if (this.#standby === undefined || url === undefined) throw new Error('there is no standby');
    await query(url, (client) => client.query('select pg_promote(true, 60)'));
    await removeSocketFolder(this.#primary.sockets);
    this.#primary = this.#standby;
    this.#standby = undefined;
  }

  /** Stops both and removes their files. */
  async stop(): Promise<void> {
    for (const member of [this.#primary, this.#standby]) {
      if (member === undefined) continue;
      member.child.kill('SIGQUIT');
      await member.ended;
      await removeSocketFolder(member.sockets);
    }
    await rm(this.folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** Processes that are killed if the test ends without `stop`. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGQUIT');
});

async function start(
  binaries: PostgresBinaries,
  user: SystemUser | undefined,
  cluster: string,
): Promise<Member> {
  const sockets = await mkdtemp(join(tmpdir(), SOCKET_PREFIX));
  await chmod(sockets, 0o700);
  if (user !== undefined) await chown(sockets, user.uid, user.gid);
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const given = serverSettings(sockets, { fsync: false, readOnly: false });
  const child = spawn(binaries.postgres, ['-D', cluster, ...given, ...settings], {
    ...surroundings(user),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-10_000);
  });
  running.add(child);
  const ended = once(child, 'exit').then(() => running.delete(child));
  const url = `postgres://${NAME}@localhost:${PORT}/${NAME}?host=${encodeURIComponent(sockets)}&sslmode=disable`;
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`PostgreSQL did not start: ${said}`);
    return query(url, () => Promise.resolve(true)).catch(() => false);
  });
  return { cluster, sockets, child, ended, url };
}

/** Copies a running server's files, except files that belong to the process, and without the write-ahead log. */
async function copyRunning(from: string, to: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    execFile('cp', ['-a', from, to], (error, _, stderr) => {
      // A temporary file may disappear before it is copied.
      const others = stderr.split('\n').filter((line) => line !== '' && !line.includes('No such file'));
      if (error === null || others.length === 0) resolve();
      else reject(new Error(others.join('\n')));
    });
  });
  for (const name of ['postmaster.pid', 'postmaster.opts']) await rm(join(to, name), { force: true });
  const wal = join(to, 'pg_wal');
  for (const name of await readdir(wal)) {
    if (/^[0-9A-F]{24}$/.test(name) || name.endsWith('.partial')) await rm(join(wal, name));
  }
  await mkdir(join(wal, 'archive_status'), { recursive: true });
}

async function query<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
