/** Identifies a process, so that a later process with the same pid isn't mistaken for it. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A process id, and when that process started, in the operating system's own format. */
export interface ProcessMark {
  readonly pid: number;
  readonly began: string;
}

/** Returns a process's mark; `began` is empty if the process doesn't exist. */
export async function processMark(pid: number): Promise<ProcessMark> {
  return { pid, began: (await beginning(pid)) ?? '' };
}

/** Returns whether the process that a mark identifies is still running. */
export async function isSameProcess(mark: ProcessMark): Promise<boolean> {
  return (await beginning(mark.pid)) === mark.began;
}

/** Returns when a process started; undefined if it doesn't exist or is only a zombie. */
async function beginning(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
    // The second field, a name in parentheses, may contain spaces. After it come the state (3rd) … and the start time in ticks
    // since boot (22nd).
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${boot.trim()} ${fields[19]}`;
  }
  const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim() || undefined;
}
