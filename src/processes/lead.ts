/** Who runs a process: the one instance whose session holds its advisory lock, for as long as that session lives. */
import pg from 'pg';
import { raceWithEnd } from '../shared/race-with-end.ts';

/** How often the leader shows that it lives, in ms. */
const BEAT = 1_000;

/** Who stands for what. */
export interface Candidacy {
  readonly databaseUrl: string;
  /** Of the process. */
  readonly name: string;
  /** How long a leader's session may be idle before it is taken for hung, in ms; some times `BEAT`. */
  readonly hungMs: number;
  /** Called when another instance wants to know how far the process is. */
  readonly onAsked: () => void;
}

/** The right to run a process. */
export interface Lead {
  /** Rejects with `LeadLost` when the session ends; never resolves. */
  readonly lost: Promise<never>;
  /** A work's outcome, unless the lead is lost before: then it rejects as `lost` does. */
  readonly holding: <T>(work: Promise<T>) => Promise<T>;
  release(): void;
}

/** The session that made this instance the leader has ended: another one may lead by now. */
export class LeadLost extends Error {
  override readonly name = 'LeadLost';
}

const channel = (name: string): string => `annal_process_${name}`;

/**
 * Stands for the lead of a process. A leader that hangs (its session is open and idle) loses its session, so that the
 * next who stands is elected.
 * @returns undefined while another instance leads.
 */
export async function tryToLead({
  databaseUrl,
  name,
  hungMs,
  onAsked,
}: Candidacy): Promise<Lead | undefined> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: `annal ${name}` });
  const lost = new Promise<never>((_, reject) => {
    const end = (): void => reject(new LeadLost(`the session that leads ${name} has ended`));
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

/** A lock on one bigint has its halves in `classid` and `objid`, and `objsubid` 1. */
const UNSEAT = `
SELECT pg_terminate_backend(l.pid)
  FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
 WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND (l.classid::bigint << 32) | l.objid::bigint = hashtextextended($1, 1)
   AND a.state_change < clock_timestamp() - make_interval(secs => $2)`;

/** Asks whoever leads a process to save how far it is. */
export async function askLeaderToSave(pool: pg.Pool, name: string): Promise<void> {
  await pool.query("SELECT pg_notify($1, '')", [channel(name)]);
}
