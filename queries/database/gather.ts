/**
 * Combines many single lookups into one statement, and several kinds of lookups into one round trip. Lookups from the same
 * tick run together; while they run, further lookups are collected (measured: 60k reads per second, compared with 15–25k one
 * by one). Queries that the database cancelled because they took too long are refused (docs/spec/decisions.md, section 2).
 */

import { Socket } from 'node:net';
import DataLoader from 'dataloader';
import pg from 'pg';
import { PrimaryClient } from '#src/database/primary-client.ts';
import { cut } from '#src/shared/cut.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** SQLSTATE query_canceled: `statement_timeout` (PostgreSQL documentation, Appendix A). */
const CANCELED = '57014';

/** Maximum number of conditions to name in an error message. */
const NAMED = 5;

/**
 * Queries that may take long → the costly part of each, in terms that clients know. All other queries return one row: if one
 * of those takes too long, the database is effectively unavailable.
 */
const PARTS: Readonly<Record<string, string>> = {
  search: 'the search',
  include: 'reading what _include and _revinclude name',
  everything: 'reading the record for $everything',
  summarize: 'reading the record for $summary',
  aiVersions: 'reading which versions an AI wrote',
  tellContext: 'reading the record for the context',
  series: 'reading the values of the series',
  patterns: 'reading the values of the record for its patterns',
  comparison: 'reading the values of the periods',
  items: 'reading the list',
  timeline: 'reading the timeline',
  history: 'reading the history',
  versions: 'reading the versions of the page',
  searchProvenance: 'the search for Provenances',
  findCodes: 'the search for codes',
  accessLogOf: 'reading the access log',
  grantUseOf: 'counting the reads under the grants',
  listRecords: 'reading the list of records',
  listGrants: 'reading the list of grants',
  listLinks: 'reading the list of links',
  listInvitations: 'reading the list of invitations',
  listProposals: 'reading the list of proposals',
  listSharedLinks: 'reading the list of shared links',
  accessRequests: 'reading the list of access requests',
  mutedBy: 'reading the list of muted applications',
  organizations: 'reading the list of organizations',
  members: 'reading the list of members',
  projects: 'reading the list of projects',
  keys: 'reading the list of keys',
  applications: 'reading the list of applications',
  patients: 'reading the list of patients',
  requests: 'reading the request log',
  usage: 'counting the requests',
  endpoints: 'reading the list of endpoints',
  deliveries: 'reading the list of deliveries',
  replay: 'counting the deliveries of the replay',
  sandboxPatients: 'counting the patients of the sandbox',
};

/** Returns true if the server cancelled a statement because it took too long. */
export function isCanceled(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === CANCELED;
}

/**
 * Returns the refusal for a query that takes too long.
 * @param part the costly part of the query
 * @param advice what the caller can do about it
 */
export function tooCostly(
  part: string,
  advice = 'ask for less, for example a shorter period or a smaller `limit`',
): Refusal {
  const diagnostics = `${part} takes the database longer than one statement may take; ${advice}`;
  return new Refusal('too_large', { code: 'too-costly', diagnostics });
}

/**
 * Returns the refusal for a search that takes too long.
 * @param checked the conditions that are checked for each resource that is read, as written in the search
 * @param leading the conditions whose matches are read
 */
export function costlySearch(checked: readonly string[], leading: readonly string[]): Refusal {
  const dear = checked.length > 0 ? checked : leading;
  const named = [...new Set(dear)].filter((_, n) => n < NAMED).map((one) => cut(one, 100));
  const advice = 'add a condition that few resources fulfil, for example patient';
  if (named.length === 0) return tooCostly('counting or sorting all resources of the type', advice);
  const why = checked.length > 0 ? 'has to be checked for too many resources' : 'matches too many resources';
  return tooCostly(`the search (${named.join(' and ')} ${why})`, advice);
}

/**
 * Runs a query.
 * @throws Refusal too_large (413) if the database cancelled it because it took too long, and the query can return more than
 *   one row
 */
export async function refuseCostly<T>(question: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const part = PARTS[question];
    throw part === undefined || !isCanceled(error) ? error : tooCostly(part);
  }
}

/** The maximum number of keys per statement. */
const MAX_KEYS = 500;

/** A connection that runs statements. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

/** The maximum number of event loop passes for which a batch waits, as long as each pass adds lookups. */
const PASSES = 8;

/** Runs lookups in turns: the keys that are requested during one turn form the next turn. Nothing is cached. */
class Turns {
  #waiting: (() => void)[] = [];
  #asked = 0;
  #underWay = 0;
  #due = false;

  /** @param together runs the start of a turn; used for statements that should be sent together */
  constructor(readonly together: (start: () => void) => void = (start) => start()) {}

  /** Starts work in the next turn. */
  readonly schedule = (start: () => void): void => {
    this.#waiting.push(start);
    this.#next();
  };

  /** Counts another waiting lookup. */
  asked(): void {
    this.#asked += 1;
  }

  /** Notes that a part of the batch is finished. */
  done(): void {
    this.#underWay -= 1;
    this.#next();
  }

  #next(): void {
    if (this.#due || this.#underWay > 0 || this.#waiting.length === 0) return;
    this.#due = true;
    this.#pass(this.#asked, PASSES);
  }

  /**
   * Requests that arrive together belong to one turn: the turn starts when a pass of the event loop brings no further
   * requests.
   */
  #pass(before: number, left: number): void {
    setImmediate(() => {
      if (this.#asked > before && left > 1) this.#pass(this.#asked, left - 1);
      else this.#start();
    });
  }

  #start(): void {
    this.#due = false;
    const turn = this.#waiting;
    this.#waiting = [];
    this.#underWay = turn.length;
    this.together(() => {
      for (const start of turn) start();
    });
  }
}

function makeLoader<K, V>(
  turns: Turns,
  load: (keys: readonly K[]) => Promise<readonly V[]>,
  maxBatchSize = MAX_KEYS,
): (key: K) => Promise<V> {
  const loader = new DataLoader<K, V>(
    async (keys) => {
      try {
        return await load(keys);
      } finally {
        turns.done();
      }
    },
    { cache: false, maxBatchSize, batchScheduleFn: turns.schedule },
  );
  return (key) => {
    turns.asked();
    return loader.load(key);
  };
}

/**
 * Turns a lookup of many keys into a lookup of a single key.
 * @param load takes keys (with repetitions) and returns one result per key, in the same order
 */
export function gather<K, V>(load: (keys: readonly K[]) => Promise<readonly V[]>): (key: K) => Promise<V> {
  return makeLoader(new Turns(), load);
}

/** An open connection and its socket. */
interface Session {
  readonly client: pg.Client;
  readonly socket: Socket;
}

/**
 * A connection for the short lookups that nearly every request makes. The statements of a batch are sent together, so that
 * authenticating some requests and reading for others takes only one round trip. The connection is opened when it is first
 * needed, and reopened after it breaks; lookups in progress then fail.
 */
export class Line {
  readonly #turns = new Turns((start) => this.#inOnePiece(start));
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;

  /** @param options how to open the connection: the same options as for the service's pool */
  constructor(readonly options: pg.ClientConfig) {}

  /** Gathers lookups like `gather`, on this connection; at most `maxKeys` keys share a statement. */
  gather<K, V>(
    load: (database: Queryable, keys: readonly K[]) => Promise<readonly V[]>,
    maxKeys = MAX_KEYS,
  ): (key: K) => Promise<V> {
    const overThis = async (keys: readonly K[]) => {
      const session = this.#session ?? (await this.#open());
      try {
        return await load(session.client, keys);
      } catch (error) {
        if (isEnd(error)) this.#drop(session);
        throw error;
      }
    };
    return makeLoader(this.#turns, overThis, maxKeys);
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    const session = await this.#opening?.catch(() => undefined);
    this.#forget();
    await session?.client.end();
  }

  /** Sends everything that `start` writes in one packet, so that the server wakes up only once. */
  #inOnePiece(start: () => void): void {
    const socket = this.#session?.socket;
    socket?.cork();
    try {
      start();
    } finally {
      socket?.uncork();
    }
  }

  #open(): Promise<Session> {
    this.#opening ??= this.#connect();
    return this.#opening;
  }

  async #connect(): Promise<Session> {
    // Unreferenced, so that a service that has closed its port can exit without closing this connection.
    const socket = new Socket().unref();
    const client = new PrimaryClient({ ...this.options, pipeline: true, stream: () => socket });
    const ended = (): void => {
      // A dropped connection may end after the next connection has been opened.
      if (this.#session?.client === client) this.#forget();
    };
    client.on('error', ended);
    client.on('end', ended);
    try {
      await client.connect();
    } catch (error) {
      this.#forget();
      throw error;
    }
    this.#session = { client, socket };
    return this.#session;
  }

  /** Drops a connection; lookups in progress fail, and the next lookup opens a new connection. */
  #drop(session: Session): void {
    if (this.#session === session) this.#forget();
    session.socket.destroy();
  }

  #forget(): void {
    this.#session = undefined;
    this.#opening = undefined;
  }
}

/**
 * Returns true if the connection is unusable: the server ended the session (FATAL), or a response exceeded `query_timeout`,
 * which pg reports only through the error's message.
 */
function isEnd(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.severity === 'FATAL';
  return error instanceof Error && error.message === 'Query read timeout';
}
