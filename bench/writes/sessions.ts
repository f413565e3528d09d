/** PostgreSQL's processor time by session, named by `application_name` or by the kind of background process. */
import { readFile } from 'node:fs/promises';
import type { Bench } from '../bench.ts';

/** Nanoseconds per session. */
export type Sessions = ReadonlyMap<string, number>;

/** Returns the processor time that each current session has used. Linux only. */
export async function readSessions(bench: Bench, url: string): Promise<Sessions> {
  const rows = await bench.query<{ pid: number; name: string }>(
    url,
    `select pid, coalesce(nullif(application_name, ''), backend_type) as name from pg_stat_activity
     where pid <> pg_backend_pid()`,
  );
  const used = new Map<string, number>();
  for (const { pid, name } of rows) {
    // The first number is the time spent on a processor (Linux, Documentation/scheduler/sched-stats.rst). The session may
    // already have ended.
    const text = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0');
    used.set(name, (used.get(name) ?? 0) + Number(text.split(' ')[0]));
  }
  return used;
}

/** Returns the time that each session used between two readings, highest first, omitting sessions that used none. */
export function usedBetween(before: Sessions, after: Sessions): [name: string, nanoseconds: number][] {
  return [...after]
    .map(([name, used]): [string, number] => [name, used - (before.get(name) ?? 0)])
    .filter(([, used]) => used > 0)
    .sort(([, a], [, b]) => b - a);
}
