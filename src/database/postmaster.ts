/** Cleans up after an earlier server of the cluster's folder. */
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Signals of a PostgreSQL server, ever less polite, and how long each may take, in milliseconds. */
const STOPS = [
  ['SIGINT', 30_000], // fast: roll back, checkpoint
  ['SIGQUIT', 10_000], // immediate: recovery at the next start
  ['SIGKILL', 5_000],
] as const;

/**
 * Stops a server whose service died, and removes its process-id file (with a reused process id it would prevent a
 * start) and its socket folder.
 * @param cluster the cluster's real path; the caller holds the lock of its DATA_DIR, so no living service owns the
 *   server
 */
export async function clearOrphan(cluster: string, log: (message: string) => void): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const [pidLine, , , , socketFolder] = text.split('\n');
  const pid = Number(pidLine);
  if (Number.isInteger(pid) && pid > 0 && (await serves(pid, cluster))) {
    log(`stopping PostgreSQL (pid ${pid}), which an earlier service left running`);
    await stopServer(pid, () => serves(pid, cluster));
  }
  await rm(file, { force: true });
  if (socketFolder !== undefined) await removeSocketFolder(socketFolder);
}

/** How long processes of a server may take to end after it died, in milliseconds. */
const LEFT_MS = 60_000;

/**
 * Waits until no process of a server that died is left, and removes its process-id file and its sockets: with a reused
 * process id they would prevent a start.
 * @throws Error naming the processes that didn't end
 */
export async function clearDead(cluster: string, sockets: string): Promise<void> {
  const until = Date.now() + LEFT_MS;
  for (let left = await findProcesses(cluster); left.length > 0; left = await findProcesses(cluster)) {
    if (Date.now() > until)
      throw new Error(`PostgreSQL died, but some of its processes are still running: ${left.join(', ')}`);
    await pause(50);
  }
  await rm(join(cluster, 'postmaster.pid'), { force: true });
  for (const name of await readdir(sockets))
    if (name.startsWith('.s.PGSQL.')) await rm(join(sockets, name), { force: true });
}

/** Returns the ids of processes whose working directory is the cluster. Elsewhere than on Linux PostgreSQL itself checks. */
async function findProcesses(cluster: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const served = await Promise.all(pids.map(async (pid) => ((await serves(pid, cluster)) ? [pid] : [])));
  return served.flat();
}

/** Removes a folder made by `mkdtemp` for sockets, and no other. */
export async function removeSocketFolder(folder: string): Promise<void> {
  if (basename(folder).startsWith(SOCKET_PREFIX)) await rm(folder, { recursive: true, force: true });
}

/** Prefix of our socket folders' names. */
export const SOCKET_PREFIX = 'annal-pg-';

/**
 * Stops a server with a fast shutdown, then an immediate one if that takes too long. Resolves when it has ended.
 * @param alive tells whether it still runs; its process id isn't enough (zombies, reused ids)
 */
export async function stopServer(pid: number, alive: () => Promise<boolean>): Promise<void> {
  for (const [signal, patience] of STOPS) {
    if (!(await alive())) return;
    signalTo(pid, signal);
    for (const until = Date.now() + patience; Date.now() < until; await pause(10)) {
      if (!(await alive())) return;
    }
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Tells whether a process is this cluster's PostgreSQL server and not one with a reused process id. */
async function serves(pid: number, cluster: string): Promise<boolean> {
  // A server's working directory is its cluster.
  if (process.platform === 'linux') {
    return (await readlink(`/proc/${pid}/cwd`).catch(() => undefined)) === cluster;
  }
  const { stdout } = await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return stdout.includes('postgres') && stdout.includes(join(basename(dirname(cluster)), basename(cluster)));
}
