/** `annal migrate-log`: moves the log to another store while the service is running, and adjusts the service's positions. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { PROJECTIONS } from '#projections/all.ts';
import { countListeners } from '#projections/checkpoint.ts';
import { inTransaction } from '#projections/session.ts';
import { readDatabaseUrl } from '#src/config.ts';
import { openPool } from '#src/database/pool.ts';
import type { EventStoreDbStore } from '#src/events/eventstoredb/store.ts';
import { isPostgres, type LogKind, logKind } from '#src/events/open.ts';
import { closeLog, exempt, reopenLog } from '#src/events/postgres/closing.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { expectedEvents } from '#src/events/share.ts';
import { type EventStore, StreamDeleted, Unavailable } from '#src/events/store.ts';
import { LogsDiffer } from '#src/migrate-log/difference.ts';
import { LogMove } from '#src/migrate-log/log-move.ts';
import { logOfPositions, movePositions } from '#src/migrate-log/positions.ts';
import { assertOwnLog, ForeignLog, moveIdentity } from '#src/operations/log-identity.ts';
import { moveMark } from '#src/operations/log-mark.ts';
import { eventStoreUrl, requireDatabaseUrl } from '../database.ts';
import { Failure } from '../failure.ts';
import { type Progress, startProgress } from '../progress.ts';
import type { ServiceOptions } from '../service.ts';
import { withStoppedService } from '../stopped.ts';

/** The command-line options. */
export interface MigrateLogOptions extends Pick<ServiceOptions, 'dataDir'> {
  /**
   * `postgres://…`, `esdb://…`, or `database`: the log in the service's own database. Default: the service's current
   * log.
   */
  readonly from?: string;
  readonly to: string;
  /** Closes the source and moves the service's positions. Without this option, the log is only copied. */
  readonly cutover?: boolean;
  /** Reopens the source after an abandoned cutover. */
  readonly cancel?: boolean;
  readonly json?: boolean;
  readonly signal?: AbortSignal;
}

/** The result of a migration. */
export interface MigrateLogReport {
  readonly events: number;
  readonly streams: number;
  /** `copied`: both logs were the same a moment ago. `moved`: the service can be started on the target. */
  readonly outcome: 'copied' | 'moved' | 'already_moved' | 'cancelled';
}

/** If a pass copies at most this many events, the copy is as close as it can get while clients are writing. */
const FEW = 500;
/** How often to check whether the instances have stopped, in ms. */
const LOOK_EVERY = 200;
/**
 * The number of concurrent appends to PostgreSQL, which processes them in order. EventStoreDB doesn't guarantee their order.
 */
const WINDOW = 200;
/** The name for the log in the service's database. */
const OWN = 'database';

/**
 * Runs the command.
 * @returns the exit code: 1 if it was interrupted; running the same command again continues.
 * @throws Failure if a store can't be reached, the logs differ, or an instance is running that must be stopped.
 */
export async function migrateLogCommand(options: MigrateLogOptions): Promise<number> {
  const embedded = readDatabaseUrl(process.env) === undefined;
  // The embedded database stops when the service stops, so steps that need a stopped service start the database themselves.
  if (embedded && (options.cutover === true || options.cancel === true)) {
    return withStoppedService(options, (databaseUrl) => migrate(databaseUrl, options));
  }
  return migrate(await requireDatabaseUrl(options), options);
}

async function migrate(databaseUrl: string, options: MigrateLogOptions): Promise<number> {
  const { json = false, signal } = options;
  const from = new Place(options.from ?? present(), databaseUrl);
  const to = new Place(options.to, databaseUrl);
  const progress = startProgress(0, 'events', json ? 'lines' : false);
  try {
    const report = await moved(databaseUrl, from, to, { ...options, progress });
    progress.stop();
    process.stdout.write(`${json ? JSON.stringify(report, null, 2) : describe(report, from, to)}\n`);
    return 0;
  } catch (error) {
    progress.stop();
    if (signal?.aborted === true) throw new Failure('stopped; run the same command again to continue');
    if (error instanceof LogsDiffer || error instanceof ForeignLog) throw new Failure(error.message);
    if (error instanceof Unavailable) throw new Failure(`cannot reach a store: ${error.message}`);
    throw error;
  }
}

/** Returns the log's present location according to the settings. */
const present = (): string => eventStoreUrl() || OWN;

/** One of the two logs. */
class Place {
  readonly url: string;
  /** A name without credentials that is the same in every run. */
  readonly name: string;

  /** @throws Failure for a URL of a different kind. */
  constructor(said: string, databaseUrl: string) {
    this.url = said === OWN ? databaseUrl : said;
    this.name = this.url === databaseUrl ? OWN : this.url.replace(/^(\w+).*?:\/\/(?:[^@/?]*@)?/, '$1://');
    if (!this.inPostgres && !/^(esdb|kurrentdb)(\+discover)?:\/\//.test(this.url)) {
      throw new Failure(
        `--from and --to must be postgres://…, esdb://…, or ${OWN} (the service's own database)`,
      );
    }
  }

  get inPostgres(): boolean {
    return isPostgres(this.url);
  }

  get kind(): LogKind {
    return logKind(this);
  }

  /** Opens the log for this command only, even while the log is closed to everyone else. */
  async open(): Promise<EventStore> {
    if (this.inPostgres) return PostgresEventStore.open({ url: exempt(this.url) });
    return this.#openEventStoreDb();
  }

  /**
   * Closes the log to writers.
   * @param movedTo where the events are being moved, if this log is the source
   */
  async close(movedTo?: string): Promise<void> {
    if (this.inPostgres) return closeLog(this.url);
    await this.#mark((store) => store.closeLog(movedTo));
  }

  /** Lets them in again. */
  async reopen(): Promise<void> {
    if (this.inPostgres) return reopenLog(this.url);
    await this.#mark((store) => store.reopenLog());
  }

  async #mark(write: (store: EventStoreDbStore) => Promise<void>): Promise<void> {
    const store = await this.#openEventStoreDb();
    try {
      await write(store);
    } finally {
      await store.close();
    }
  }

  async #openEventStoreDb(): Promise<EventStoreDbStore> {
    const { EventStoreDbStore } = await import('#src/events/eventstoredb/store.ts');
    return EventStoreDbStore.open({ url: this.url, moving: true });
  }
}

interface Moving extends MigrateLogOptions {
  readonly progress: Progress;
}

async function moved(
  databaseUrl: string,
  from: Place,
  to: Place,
  options: Moving,
): Promise<MigrateLogReport> {
  const pool = openPool(databaseUrl, { max: 2, name: 'annal migrate-log', answerMs: 0 });
  try {
    const now = (await logOfPositions(pool)) ?? new Place(present(), databaseUrl).name;
    if (now === to.name && options.cutover === true) {
      // The move is finished, or was killed right before its end.
      await to.reopen();
      return { events: 0, streams: 0, outcome: 'already_moved' };
    }
    if (from.name === to.name) throw new Failure('--from and --to must be different logs');
    if (now !== from.name) throw new Failure(`the service's log is in ${now}; pass that as --from`);
    if (options.cancel === true) {
      await from.reopen();
      return { events: 0, streams: 0, outcome: 'cancelled' };
    }
    return await copy(pool, from, to, options);
  } finally {
    await pool.end();
  }
}

async function copy(pool: Pool, from: Place, to: Place, options: Moving): Promise<MigrateLogReport> {
  const { progress, signal, cutover = false } = options;
  const stores: EventStore[] = [];
  const open = async (place: Place): Promise<EventStore> => {
    const store = await place.open();
    stores.push(store);
    return store;
  };
  try {
    const source = await open(from);
    await assertOwnLog({ client: pool, store: source, kind: from.kind });
    const target = await open(to);
    // Closed, because an incomplete log must not be written to.
    await to.close();
    const head = await source.head();
    const move = new LogMove({
      source,
      target,
      window: to.inPostgres ? WINDOW : 1,
      signal,
      onProgress(events, position) {
        progress.reach(events, expectedEvents(events, position, head));
      },
    });
    await move.catchUp(FEW);
    if (cutover) await cutOver({ pool, target, from, to, move }, options);
    return { events: move.events, streams: move.streams, outcome: cutover ? 'moved' : 'copied' };
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}

interface Cutover {
  readonly pool: Pool;
  readonly target: EventStore;
  readonly from: Place;
  readonly to: Place;
  readonly move: LogMove;
}

/** From here on, writes return 503 until the service is started on the target. */
async function cutOver(cutover: Cutover, { progress, signal }: Moving): Promise<void> {
  const { pool, target, from, to, move } = cutover;
  // EventStoreDB notifies instances that the log is closed, but can't refuse their writes until they have read the
  // notification.
  if (!from.inPostgres) await stopped(pool, progress, signal);
  await from.close(to.name);
  try {
    await move.catchUp(0);
    await stopped(pool, progress, signal);
  } catch (error) {
    await from.reopen();
    throw error;
  }
  // A step that fails from here on may still have taken effect. The source stays closed; running the same command again
  // determines the state.
  const client = await pool.connect();
  try {
    await inTransaction(client, async () => {
      await movePositions(client, {
        models: PROJECTIONS.map(({ name }) => name),
        from: from.name,
        to: to.name,
        translate: (position) => move.translate(position),
        readPosition: (stream, revision) => readPosition(target, stream, revision),
      });
      // The stream of an erased event has no positions. The mark then gets the position that corresponds to the log without
      // this event.
      await moveMark(
        client,
        async ({ stream, revision, position }) =>
          (await readPosition(target, stream, revision)) ?? move.translate(position),
      );
      await moveIdentity(client, to.kind);
    });
  } finally {
    client.release();
  }
  await to.reopen();
}

/**
 * Resolves once no instance is connected.
 * @throws the signal's reason
 */
async function stopped(pool: Pool, progress: Progress, signal?: AbortSignal): Promise<void> {
  const client = await pool.connect();
  try {
    for (let told = false; (await countListeners(client)) > 0; told = true) {
      if (!told)
        progress.say('stop every instance of the service now; clients can write again after you restart it');
      await delay(LOOK_EVERY, undefined, signal === undefined ? {} : { signal });
    }
  } finally {
    client.release();
  }
}

async function readPosition(target: EventStore, stream: string, revision: number) {
  try {
    for await (const event of target.read(stream, { from: revision, limit: 1 })) return event.position;
  } catch (error) {
    if (!(error instanceof StreamDeleted)) throw error;
  }
  return undefined;
}

function describe({ events, streams, outcome }: MigrateLogReport, from: Place, to: Place): string {
  const start = `Start the service with ${to.name === OWN ? 'EVENTSTORE_URL empty' : `EVENTSTORE_URL set to ${to.name}`}.`;
  const same = `${events} events in ${streams} streams are the same in ${from.name} and ${to.name}.`;
  switch (outcome) {
    case 'copied':
      return `${same} Run it again with --cutover to move the service.`;
    case 'moved':
      return `${same} ${start}`;
    case 'already_moved':
      return `The log was already moved to ${to.name}. ${start}`;
    case 'cancelled':
      return `Writes to ${from.name} are allowed again.`;
  }
}
