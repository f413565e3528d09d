/** Cleans up what an earlier server left in the cluster's folder. */
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Signals for stopping a PostgreSQL server, in increasing severity, and how long each may take, in milliseconds. */
const STOPS = [
  ['SIGINT', 30_000], // fast: roll back, checkpoint
  ['SIGQUIT', 10_000], // immediate: recovery at the next start
  ['SIGKILL', 5_000],
] as const;

/**
 * Stops a server whose service has died, and removes its socket folder and its process-id file. If the process id were reused,
 * that file would prevent a start.
 * @param cluster the cluster's real path; the caller holds the lock on its DATA_DIR, so the server doesn't belong to a running
 * service
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

/** How long a server's processes may take to exit after the server died, in milliseconds. */
const LEFT_MS = 60_000;

/**
 * Waits until a dead server has no processes left, and removes its sockets and its process-id file. If the process id were
 * reused, that file would prevent a start.
 * @throws Error that names the processes that didn't exit
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

/**
 * Returns the ids of processes whose working directory is the cluster. On systems other than Linux, PostgreSQL checks this
 * itself.
 */
async function findProcesses(cluster: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const served = await Promise.all(pids.map(async (pid) => ((await serves(pid, cluster)) ? [pid] : [])));
  return served.flat();
}

/** Removes a folder that `mkdtemp` created for sockets, and no other folder. */
export async function removeSocketFolder(folder: string): Promise<void> {
  if (basename(folder).startsWith(SOCKET_PREFIX)) await rm(folder, { recursive: true, force: true });
}

/** The prefix of the names of our socket folders. */
export const SOCKET_PREFIX = 'annal-pg-';

/**
 * Stops a server with a fast shutdown; if that takes too long, with an immediate shutdown. Resolves when the server has
 * exited.
 * @param alive returns whether the server is still running; checking its process id isn't enough (zombies, reused ids)
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

/** Returns whether a process is this cluster's PostgreSQL server rather than another process with a reused id. */
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
