/**
 * Rebuilds read models beside the serving ones: a shadow is loaded from the log, indexed, caught up, compared, and swapped in
 * by renaming schemas. Reads and the projection continue during the rebuild, and no webhooks are sent.
 */
import type pg from 'pg';
import { shareBefore } from '#src/events/share.ts';
import type { EventStore, Position } from '#src/events/store.ts';
import { PROJECTIONS } from '../all.ts';
import { readCheckpoint } from '../checkpoint.ts';
import type { RowDifference, TableComparison } from '../compare.ts';
import { withoutErasures } from '../erasure.ts';
import { tryLock } from '../locks.ts';
import { type Load, PACES, type Pace } from '../pace.ts';
import type { Projection } from '../projection.ts';
import { closeSession, endWithClient, openSession } from '../session.ts';
import { makeMissing } from '../tables.ts';
import { Shadow } from './shadow.ts';
import { makeShadow, pollUntilReady, swap } from './swap.ts';
import { loadTogether } from './together.ts';

/** Dependencies for a rebuild. */
export interface RebuildDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'head' | 'read'>;
  readonly databaseUrl: string;
  /** Default: all of the service's projections. */
  readonly projections?: readonly Projection[];
  readonly log?: { info(fields: object, message: string): void };
}

/** A rebuild's progress. */
export interface RebuildProgress {
  readonly name: string;
  readonly phase: 'loading' | 'indexing' | 'comparing' | 'swapping' | 'done';
  /** Events loaded by this call. */
  readonly events: number;
  /** Share of the log that has been processed, 0 to 1. */
  readonly share: number;
}

export interface RebuildOptions {
  readonly onProgress?: (progress: RebuildProgress) => void;
  /** Called with the result of comparing the tables before the swap. */
  readonly onCompared?: (name: string, tables: readonly TableComparison[]) => void;
  /** Default `full`. */
  readonly load?: Load;
  /** Stops the rebuild soon; the next call continues where this one stopped. */
  readonly signal?: AbortSignal;
  /** Swaps the tables even if the comparison finds differences. */
  readonly force?: boolean;
  /** Starts from the beginning instead of continuing an earlier call that was stopped or refused. */
  readonly fresh?: boolean;
  /**
   * True if the log was restored, so that it may end before the serving tables do: the tables aren't compared, and no earlier
   * call's work is continued.
   */
  readonly restored?: boolean;
}

/** The outcome for one projection. */
export interface RebuildReport {
  readonly name: string;
  /** `differs`: the tables were not swapped; they are kept for a call with `force`. */
  readonly outcome: 'swapped' | 'stopped' | 'differs';
  readonly events: number;
  /**
   * Serving rows that differ from the rebuilt rows, at most 1,000 per table: `compared` says which tables have more. Empty if
   * different software made the serving tables.
   */
  readonly differences: readonly RowDifference[];
  /** The comparison by table, with the serving rows first; empty if nothing was compared. */
  readonly compared: readonly TableComparison[];
}

/** Thrown if another process is already rebuilding the projection. */
export class RebuildRunning extends Error {
  override readonly name = 'RebuildRunning';
  constructor(readonly projection: string) {
    super(`projection ${projection} is already being rebuilt`);
  }
}

/** The rebuild of one projection. */
interface Work {
  readonly projection: Projection;
  readonly shadow: Shadow;
  readonly pace: Pace;
  /** True if the same software made the serving tables, so that the rows can be compared. */
  readonly comparable: boolean;
  events: number;
  share: number;
}

/**
 * Rebuilds the named projections. The log is read once for all of them; each projection has its own connection.
 * @throws RebuildRunning before anything is done; CannotApply; Unavailable; database errors. Tables built so far are kept.
 */
export async function rebuild(
  deps: RebuildDeps,
  names: readonly string[],
  options: RebuildOptions = {},
): Promise<RebuildReport[]> {
  const projections = names.map((name) => findProjection(deps.projections ?? PROJECTIONS, name));
  const works: Work[] = [];
  const sessions: pg.Client[] = [];
  try {
    for (const { name } of projections) {
      const session = await openSession(deps.databaseUrl, { name: `rebuild ${name}` });
      sessions.push(session);
      await endWithClient(session);
      if (!(await tryLock(session, `rebuild ${name}`))) throw new RebuildRunning(name);
    }
    for (const [i, projection] of projections.entries()) {
      const session = sessions[i];
      if (session !== undefined) works.push(await begin(deps, projection, session, options));
    }
    if (!(await load(deps, works, options))) {
      return works.map((work) => report(deps, work, { outcome: 'stopped' }));
    }
    return await finishAll(deps, works, options);
  } finally {
    await Promise.all(sessions.map(closeSession));
  }
}

async function begin(
  { store }: RebuildDeps,
  projection: Projection,
  session: pg.Client,
  { load: how = 'full', fresh = false, restored = false }: RebuildOptions,
): Promise<Work> {
  const { name, version } = projection;
  const next = `${name}_next`;
  const pace = PACES[how];
  await session.query(pace.settings);
  await makeMissing(session, projection);
  const prepare = pace.indexesFirst ? projection.indexes(next) : '';
  await makeShadow(session, projection, { fresh: restored || fresh, prepare });
  const serving = await readCheckpoint(session, name);
  const comparable = !restored && serving?.version === version;
  const shadow = new Shadow(projection, next, session, store);
  return { projection, shadow, pace, comparable, events: 0, share: 0 };
}

/** Returns the target position. If the tables can be compared, the target isn't beyond the serving tables' position. */
async function target({ store }: RebuildDeps, { projection, shadow, comparable }: Work): Promise<Position> {
  const serving = comparable ? await readCheckpoint(shadow.session, projection.name) : undefined;
  return serving?.position ?? store.head();
}

/**
 * Reads the log once for all projections.
 * @returns true if they all reached their targets
 */
async function load(
  deps: RebuildDeps,
  works: readonly Work[],
  { onProgress, signal }: RebuildOptions,
): Promise<boolean> {
  const [first] = works;
  if (first === undefined) return true;
  const head = await deps.store.head();
  const destinations = await Promise.all(
    works.map(async (work) => ({ shadow: work.shadow, until: await target(deps, work) })),
  );
  for (const work of works) {
    work.share = shareBefore(await work.shadow.position(), head);
    tell(work, 'loading', onProgress);
  }
  return loadTogether(deps.store, destinations, {
    pace: first.pace,
    signal,
    loaded(name, events, position) {
      const work = works.find(({ projection }) => projection.name === name);
      if (work === undefined) return;
      work.events += events;
      work.share = shareBefore(position, head);
      tell(work, 'loading', onProgress);
    },
  });
}

function tell(
  { projection: { name }, events, share }: Work,
  phase: RebuildProgress['phase'],
  onProgress: RebuildOptions['onProgress'],
): void {
  onProgress?.({ name, phase, events, share });
}

function report(
  { log }: RebuildDeps,
  { projection: { name }, events }: Work,
  {
    outcome,
    compared = [],
  }: Pick<RebuildReport, 'outcome'> & { readonly compared?: readonly TableComparison[] },
): RebuildReport {
  const differences = compared.flatMap((table) => table.differences);
  log?.info({ projection: name, outcome, events, differences: differences.length }, 'rebuild');
  return { name, outcome, events, differences, compared };
}

/** Finishes all rebuilds, together or one by one. Throws the first error at the end. */
async function finishAll(
  deps: RebuildDeps,
  works: readonly Work[],
  options: RebuildOptions,
): Promise<RebuildReport[]> {
  const running: Promise<RebuildReport>[] = [];
  for (const work of works) {
    const finishing = finish(deps, work, options);
    running.push(finishing);
    if (!work.pace.together) await Promise.allSettled([finishing]);
  }
  await Promise.allSettled(running);
  return Promise.all(running);
}

/** Indexes, catches up, compares, swaps. */
async function finish(deps: RebuildDeps, work: Work, options: RebuildOptions): Promise<RebuildReport> {
  const { signal, force, restored = false, onProgress, onCompared } = options;
  const { projection, shadow, pace, comparable } = work;
  const { name } = projection;
  const { session, schema } = shadow;
  const loaded = (count: number) => {
    work.events += count;
    tell(work, 'loading', onProgress);
  };
  tell(work, 'indexing', onProgress);
  await session.query(projection.indexes(schema));
  await session.query(projection.compared.map((table) => `analyze ${schema}.${table}`).join(';'));
  if (!(await shadow.load(await target(deps, work), { signal, loaded }))) {
    return report(deps, work, { outcome: 'stopped' });
  }
  let compared: readonly TableComparison[] = [];
  if (comparable) {
    tell(work, 'comparing', onProgress);
    compared = await lawful(deps, await pollUntilReady(() => shadow.compare(pace), name, signal));
    onCompared?.(name, compared);
    const differ = compared.some(({ differences, more }) => differences.length > 0 || more);
    if (differ && force !== true) return report(deps, work, { outcome: 'differs', compared });
  }
  if (signal?.aborted === true) return report(deps, work, { outcome: 'stopped', compared });
  tell(work, 'swapping', onProgress);
  const swapped = async () =>
    (await shadow.load(await target(deps, work)))
      ? swap(session, shadow, { comparable, restored })
      : undefined;
  await pollUntilReady(swapped, name, signal);
  await session.query(`drop schema ${name}_old cascade`);
  tell(work, 'done', onProgress);
  return report(deps, work, { outcome: 'swapped', compared });
}

/** Removes the differences that erasures explain. */
async function lawful(
  { store }: RebuildDeps,
  tables: readonly TableComparison[],
): Promise<TableComparison[]> {
  const faults = new Set(
    await withoutErasures(
      store,
      tables.flatMap(({ differences }) => differences),
    ),
  );
  return tables.map((table) => ({
    ...table,
    differences: table.differences.filter((difference) => faults.has(difference)),
  }));
}

function findProjection(projections: readonly Projection[], name: string): Projection {
  const found = projections.find((projection) => projection.name === name);
  if (found !== undefined) return found;
  throw new Error(
    `unknown projection ${name}; the projections are ${projections.map((projection) => projection.name).join(', ')}`,
  );
}
