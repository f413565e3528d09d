/**
 * Elects the instance that runs a projection: the one whose session holds the projection's advisory lock. The lock ends with
 * the session, so a different instance takes over when a process dies. A process that hangs is recognised by its old
 * heartbeat, and its session is terminated.
 */
import type { ClientBase } from 'pg';
import { lockKeys, tryLock, unlock } from '../locks.ts';

/** The age at which a heartbeat means that its runner hangs, in ms. */
const HEARTBEAT_LIMIT_MS = 5_000;

const lockName = (projection: string): string => `run ${projection}`;

/**
 * Tries to become the runner of all the given projections, on the session that will also write.
 * @returns the number of their locks that were free; unless all were free, no lock is kept
 */
export async function tryToRun(
  client: ClientBase,
  projections: readonly string[],
): Promise<'all' | 'some' | 'none'> {
  const won: string[] = [];
  for (const projection of projections) if (await tryLock(client, lockName(projection))) won.push(projection);
  if (won.length === projections.length) return 'all';
  for (const projection of won) await unlock(client, lockName(projection));
  return won.length === 0 ? 'none' : 'some';
}

/**
 * Ends the session of a runner that hangs. A backend that is working or waiting for a lock doesn't count as hung, however old
 * its heartbeat is (because of a large batch or a swap), unless the heartbeat is ten times as old as the limit. A runner that
 * has just been elected hasn't been idle for long enough to count as hung.
 * @returns true if a session was ended
 */
export async function endHungRunner(
  client: ClientBase,
  projection: string,
  limit = HEARTBEAT_LIMIT_MS,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `select pg_terminate_backend(l.pid)
       from pg_locks l join pg_stat_activity a on a.pid = l.pid, ${projection}.checkpoint c
      where l.locktype = 'advisory' and l.granted and l.objsubid = 2
        and l.database = (select oid from pg_database where datname = current_database())
        and l.classid = $1::bigint::oid and l.objid = $2::bigint::oid and l.pid <> pg_backend_pid()
        and c.heartbeat < clock_timestamp() - make_interval(secs => $3)
        and a.state_change < clock_timestamp() - make_interval(secs => $3)
        and (a.state <> 'active' or a.wait_event_type = 'Client'
             or c.heartbeat < clock_timestamp() - make_interval(secs => $3 * 10))`,
    [...lockKeys(lockName(projection)), limit / 1000],
  );
  return (rowCount ?? 0) > 0;
}
