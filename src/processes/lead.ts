/**
 * Elects the instance that runs a process: it is the instance whose session holds the process's advisory lock. The lead ends
 * with the session.
 */
import type pg from 'pg';
import { PrimaryClient } from '#src/database/primary-client.ts';
import { raceWithEnd } from './race-with-end.ts';

/** Interval of the leader's heartbeat, in ms. */
const BEAT = 1_000;

/** A candidacy to lead a process. */
export interface Candidacy {
  readonly databaseUrl: string;
  /** The process's name. */
  readonly name: string;
  /** How long a leader's session may be idle before the leader is considered hung, in ms; several times `BEAT`. */
  readonly hungMs: number;
  /** Called when another instance asks for the process's position to be saved. */
  readonly onAsked: () => void;
}

/** The right to run a process. */
export interface Lead {
  /** Rejects with `LeadLost` when the session ends; never resolves. */
  readonly lost: Promise<never>;
  /** Settles as the given work does, or rejects as `lost` does if the lead is lost first. */
  readonly holding: <T>(work: Promise<T>) => Promise<T>;
  release(): void;
}

/** Thrown when the leader's session has ended; another instance may be leading by now. */
export class LeadLost extends Error {
  override readonly name = 'LeadLost';
}

const channel = (name: string): string => `annal_process_${name}`;

/**
 * Tries to become the leader of a process. A leader that hangs (its session is open but idle) is made to lose its session, so
 * that the next candidate succeeds.
 * @returns undefined while another instance leads
 */
export async function tryToLead({
  databaseUrl,
  name,
  hungMs,
  onAsked,
}: Candidacy): Promise<Lead | undefined> {
  const client = new PrimaryClient({ connectionString: databaseUrl, application_name: `annal ${name}` });
  const lost = new Promise<never>((_, reject) => {
    const end = (): void => reject(new LeadLost(`the database session that runs ${name} has ended`));
    client.on('error', end).on('end', end);
  });
  lost.catch(() => undefined);
  client.on('notification', onAsked);
  const release = (): void => void client.end().catch(() => undefined);
  try {
    await client.connect();
    const key = `process/${name}`;
    const { rows } = await client.query<{ leads: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 1)) AS leads',
      [key],
    );
    if (rows[0]?.leads !== true) {
      await client.query(UNSEAT, [key, hungMs / 1000]);
      release();
      return undefined;
    }
    await client.query(`LISTEN "${channel(name)}"`);
  } catch (error) {
    release();
    throw error;
  }
  const beating = setInterval(() => void client.query('SELECT').catch(() => undefined), BEAT).unref();
  lost.catch(() => clearInterval(beating));
  return { lost, holding: raceWithEnd(lost), release };
}

/** For a lock on a single bigint, `classid` and `objid` contain its halves, and `objsubid` is 1. */
const UNSEAT = `
SELECT pg_terminate_backend(l.pid)
  FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
 WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND (l.classid::bigint << 32) | l.objid::bigint = hashtextextended($1, 1)
   AND a.state_change < clock_timestamp() - make_interval(secs => $2)`;

/** Asks a process's leader to save its position. */
export async function askLeaderToSave(pool: pg.Pool, name: string): Promise<void> {
  await pool.query("SELECT pg_notify($1, '')", [channel(name)]);
}
