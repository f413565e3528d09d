/**
 * Rebuilds read models beside the serving ones: a shadow is loaded from the log, indexed, brought up to date,
 * compared, and swapped in by renaming schemas. Reads and the projection itself go on all the while; nothing is
 * sent to anybody.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { EventStore } from '#src/events/store.ts';
import { PROJECTIONS } from './all.ts';
import { moveCheckpoint, readCheckpoint } from './checkpoint.ts';
import type { RowDifference } from './compare.ts';
import { withoutErasures } from './erasure.ts';
import { tryLock } from './locks.ts';
import type { Projection } from './projection.ts';
import { closeSession, inTransaction, openSession } from './session.ts';
import { Shadow } from './shadow.ts';
import { schemaSql } from './tables.ts';

/** What a rebuild needs. */
export interface RebuildDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'head' | 'read'>;
  readonly databaseUrl: string;
  /** Default: all of the service. */
  readonly projections?: readonly Projection[];
  readonly log?: { info(fields: object, message: string): void };
}

/** Where a rebuild stands. */
export interface RebuildProgress {
  readonly name: string;
  readonly phase: 'loading' | 'indexing' | 'comparing' | 'swapping' | 'done';
  /** Events loaded by this call. */
  readonly events: number;
}

/** How to go about it. */
export interface RebuildOptions {
  readonly onProgress?: (progress: RebuildProgress) => void;
  /** Stops soon; the next call goes on from there. */
  readonly signal?: AbortSignal;
  /** Swaps although the comparison differs. */
  readonly force?: boolean;
  /** Begins anew instead of going on from an earlier call that was stopped or refused. */
  readonly fresh?: boolean;
}

/** What became of one projection. */
export interface RebuildReport {
  readonly name: string;
  /** `differs`: not swapped; what was built stays for a call with `force`. */
  readonly outcome: 'swapped' | 'stopped' | 'differs';
  readonly events: number;
  /** Serving rows that differ from rebuilt ones, at most 1,000 a table. Empty when other software made them. */
  readonly differences: readonly RowDifference[];
}

/** Somebody else is rebuilding that projection now. */
export class RebuildRunning extends Error {
  override readonly name = 'RebuildRunning';
  constructor(readonly projection: string) {
    super(`projection ${projection} is being rebuilt already`);
  }
}

/** How long a swap waits for the running batch, and how long the projection then waits for the swap, in ms. */
const SWAP_MS = 2_000;

/**
 * Rebuilds the named projections, all at the same time, each on a connection of its own.
 * @throws RebuildRunning before anything is done; CannotApply; Unavailable; errors of the database. What was built stays.
 */
export async function rebuild(
  deps: RebuildDeps,
  names: readonly string[],
  options: RebuildOptions = {},
): Promise<RebuildReport[]> {
  const projections = names.map((name) => named(deps.projections ?? PROJECTIONS, name));
  const sessions: pg.Client[] = [];
  try {
    for (const { name } of projections) {
      const session = await openSession(deps.databaseUrl, { name: `rebuild ${name}` });
      sessions.push(session);
      if (!(await tryLock(session, `rebuild ${name}`))) throw new RebuildRunning(name);
    }
    const settled = await Promise.allSettled(
      sessions.flatMap((session, i) => {
        const projection = projections[i];
        return projection === undefined ? [] : [rebuildOne(deps, projection, session, options)];
      }),
    );
    return settled.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  } finally {
    await Promise.all(sessions.map(closeSession));
  }
}

function named(projections: readonly Projection[], name: string): Projection {
  const found = projections.find((projection) => projection.name === name);
  if (found !== undefined) return found;
  throw new Error(
    `there is no projection ${name}: ${projections.map((projection) => projection.name).join(', ')}`,
  );
}

async function rebuildOne(
  { store, log }: RebuildDeps,
  projection: Projection,
  session: pg.Client,
  { onProgress, signal, force, fresh }: RebuildOptions,
): Promise<RebuildReport> {
  const { name } = projection;
  const next = `${name}_next`;
  let events = 0;
  const tell = (phase: RebuildProgress['phase']) => onProgress?.({ name, phase, events });
  const report = (
    outcome: RebuildReport['outcome'],
    differences: readonly RowDifference[] = [],
  ): RebuildReport => {
    log?.info({ projection: name, outcome, events, differences: differences.length }, 'rebuild');
    return { name, outcome, events, differences };
  };
  const loaded = (count: number) => {
    events += count;
    tell('loading');
  };

  await makeShadow(session, projection, next, fresh === true);
  const shadow = new Shadow(projection, next, session, store);
  const serving = await readCheckpoint(session, name);
  const comparable = serving?.version === projection.version;
  // Never beyond the serving tables if they can be compared: they are met at their own checkpoint.
  const target = async () =>
    (comparable ? (await readCheckpoint(session, name))?.position : undefined) ?? store.head();

  tell('loading');
  if (!(await shadow.load(await target(), { signal, loaded }))) return report('stopped');
  tell('indexing');
  await session.query(`set maintenance_work_mem = '256MB'; ${projection.indexes(next)}`);
  await session.query(projection.compared.map((table) => `analyze ${next}.${table}`).join(';'));
  if (!(await shadow.load(await target(), { signal, loaded }))) return report('stopped');

  let differences: RowDifference[] = [];
  if (comparable) {
    tell('comparing');
    differences = await withoutErasures(store, await met(() => shadow.compare(), name, signal));
    if (differences.length > 0 && force !== true) return report('differs', differences);
  }
  if (signal?.aborted === true) return report('stopped');
  tell('swapping');
  const swapped = async () =>
    (await shadow.load(await target())) ? swap(session, shadow, comparable) : undefined;
  await met(swapped, name, signal);
  await session.query(`drop schema ${name}_old cascade`);
  tell('done');
  return report('swapped', differences);
}

/** The shadow's schema: that of an earlier call of the same software, or a new one. */
async function makeShadow(
  session: pg.Client,
  projection: Projection,
  next: string,
  fresh: boolean,
): Promise<void> {
  const before = await readCheckpoint(session, next);
  const old = `drop schema if exists ${projection.name}_old cascade;`;
  if (before?.version === projection.version && !fresh) await session.query(old);
  else await session.query(`${old} drop schema if exists ${next} cascade; ${schemaSql(projection, next)}`);
}

/** Tries until there is a result; the serving tables, or a lock, may need a moment. */
async function met<T>(attempt: () => Promise<T | undefined>, name: string, signal?: AbortSignal): Promise<T> {
  for (let tries = 0; tries < 100; tries += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
    await delay(100, undefined, signal === undefined ? {} : { signal });
  }
  throw new Error(`projection ${name} does not come to where its rebuilt tables are, or is never idle`);
}

/**
 * Swaps. The lock on the serving checkpoint lets a batch in flight end and holds up the next one, so nothing is
 * written behind the renaming; reads need no such lock and find either the old tables or the new.
 * @returns undefined when it has to be tried again.
 */
async function swap(session: pg.Client, shadow: Shadow, comparable: boolean): Promise<true | undefined> {
  const { name } = shadow.projection;
  const work = async (): Promise<true> => {
    await session.query(
      `set local lock_timeout = ${SWAP_MS}; lock table ${name}.checkpoint in exclusive mode`,
    );
    const serving = await readCheckpoint(session, name);
    const position = await shadow.position();
    if (serving === undefined) throw new Error(`there is no read model ${name}`);
    if (comparable && position > serving.position) throw new NotYet();
    if (!(await shadow.loadWithin(serving.position, SWAP_MS))) throw new NotYet();
    // Also a sign of life: nobody may take the runner that meets this row for hung.
    await moveCheckpoint(session, shadow.schema, await shadow.position());
    await session.query(
      `alter schema ${name} rename to ${name}_old; alter schema ${shadow.schema} rename to ${name}`,
    );
    return true;
  };
  return inTransaction(session, work).catch((error: unknown) => {
    if (error instanceof NotYet || (error instanceof pg.DatabaseError && error.code === '55P03'))
      return undefined;
    throw error;
  });
}

/** The tables are not yet at the same position. */
class NotYet extends Error {
  override readonly name = 'NotYet';
}
