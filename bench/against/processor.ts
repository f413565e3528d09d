/** Measures the CPU time of processes, as Linux counts it. Unlike elapsed time, it is the same on a busy machine. */
import { readdir, readFile } from 'node:fs/promises';

/**
 * Linux reports CPU time in hundredths of a second, regardless of the kernel's own clock (man 5 proc, `sysconf(_SC_CLK_TCK)`).
 */
const TICK_MS = 10;

interface Stat {
  readonly parent: number;
  /** The process's own user and system time, in ms. */
  readonly own: number;
  /** The time of its children that have exited and were waited for, in ms. */
  readonly reaped: number;
}

/**
 * Returns the CPU time that a process has used, in ms.
 * @throws Error if /proc has no such process
 */
export async function processorTime(pid: number | 'self'): Promise<number> {
  return (await readStat(pid)).own;
}

/** Returns the CPU time of this process's children that have exited, in ms. */
export async function processorTimeOfEnded(): Promise<number> {
  return (await readStat('self')).reaped;
}

/**
 * Returns the CPU time of a process and its children, including children that have exited, in ms. For a PostgreSQL server,
 * this is all of its time.
 */
export async function processorTimeWithChildren(pid: number): Promise<number> {
  const { own, reaped } = await readStat(pid);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  // A process may exit between the two reads of /proc; its time is then included in `reaped` on the next call.
  const stats = await Promise.all(pids.map((each) => readStat(each).catch(() => undefined)));
  const children = stats.filter((stat) => stat?.parent === pid);
  return children.reduce((sum, stat) => sum + (stat?.own ?? 0), own + reaped);
}

/** Returns the CPU time of each process that the given process has started, in ms, by the text of its command. */
export async function processorTimeOfChildren(pid: number): Promise<Map<string, number>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = new Map<string, number>();
  for (const each of pids) {
    const stat = await readStat(each).catch(() => undefined);
    if (stat?.parent !== pid) continue;
    const command = await readFile(`/proc/${each}/cmdline`, 'utf8').catch(() => '');
    found.set(command.replaceAll('\0', ' ').trim(), stat.own);
  }
  return found;
}

async function readStat(pid: number | 'self'): Promise<Stat> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name is in parentheses and may contain spaces; field 3 (state) and all later fields follow it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  return {
    parent: field(4),
    own: (field(14) + field(15)) * TICK_MS,
    reaped: (field(16) + field(17)) * TICK_MS,
  };
}
