/** Lists the processes of a service that runs as several processes. */
import { execFileSync } from 'node:child_process';

/** A process that the primary has started. */
export interface Below {
  readonly pid: number;
  readonly name: string;
}

/** Returns the processes that a primary has started, with their roles. */
export function listProcesses(primary: number): Below[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args=']).toString().split('\n');
  return lines.flatMap((line) => {
    const [, pid, ppid, name] = /^\s*(\d+)\s+(\d+)\s+annal (\S+)/.exec(line) ?? [];
    return Number(ppid) === primary && name !== undefined ? [{ pid: Number(pid), name }] : [];
  });
}
