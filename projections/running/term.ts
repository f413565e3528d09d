/** A runner's term: its election, the running of projections, and its end. */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { exhaustMap, ignoreElements, interval, merge } from 'rxjs';
import { type EventBatch, type EventStore, type Position, Unavailable } from '#src/events/store.ts';
import { type Checkpoint, readCheckpoints } from '../checkpoint.ts';
import type { Kept, Projection } from '../projection.ts';
import { closeSession, openSession } from '../session.ts';
import { endHungRunner, tryToRun } from './election.ts';
import { Runner } from './runner.ts';

/** A term's dependencies. */
export interface TermOptions {
  readonly store: Pick<EventStore, 'subscribe'>;
  readonly databaseUrl: string;
  readonly signal: AbortSignal;
  readonly electionMs: number;
  readonly heartbeatLimitMs: number;
  /** Called when the term starts to wait for another instance's runner, and when it is elected. */
  readonly entered: (state: 'following' | 'running') => void;
  /** Called with each position that a projection reaches, as soon as reads see it. */
  readonly passed: (projection: string, position: Position) => void;
  /** Returns true if other instances must be notified of positions. */
  readonly tell: () => boolean;
  /**
   * Returns true if the event log is available to this instance; if not, this instance leaves the projection to other
   * instances.
   */
  readonly logAnswers: () => boolean;
  /** Resolves when projections have passed a position, or after the given number of ms. */
  readonly waitFor: (position: Position, names: readonly string[], ms: number) => Promise<unknown>;
  /** Resolves after the given number of ms, or when a request waits for a projection. */
  readonly pause: (projection: string, ms: number) => Promise<void>;
}

/** Thrown if different software made the tables: this instance must neither write to them nor end their runner. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

/**
 * Thrown if another instance keeps running some of several projections, or if some of them have to wait too long for others.
 * Each projection must then run on its own.
 */
export class Divided extends Error {
  override readonly name = 'Divided';
}

/**
 * How long projections wait for each other, in ms: until all are free, for example while another instance hands them over, or
 * until all are at the same position. This is less than the time by which reads may lag and for which writes may wait.
 */
const WAIT_MS = 3_000;

/** How long a projection collects events if no write waits for it, in ms. */
const GATHER_MS = 50;
/** After a batch of at least this size, more events are probably available already, so the projection doesn't wait. */
const GATHERED = 250;

/** The number of events, and of characters, from which on a batch counts as large. */
const LARGE_EVENTS = 64;
const LARGE_CHARACTERS = 500_000;
/** How long a projection that has a large batch lets other projections go first, in ms. */
const AFTER_MS = 2_000;

/** How often the runner checks whether a heartbeat is due. */
const TICK_MS = 200;

/**
 * Waits for the election, then runs projections: one, or several with the same `transaction`. Resolves when `signal` aborts,
 * after the current batch, and closes the session.
 * @throws Outdated, Divided, CannotApply, and other errors that ended the term
 */
export async function serve(projections: readonly Projection[], options: TermOptions): Promise<void> {
  const ended = new AbortController();
  const name = `projection ${projections.map((projection) => projection.name).join(' ')}`;
  const session = await openSession(options.databaseUrl, { name }, () =>
    ended.abort(new Error('Connection terminated')),
  );
  let kept: Kept | undefined;
  try {
    const checkpoints = await elected(session, projections, options);
    if (checkpoints === undefined) return;
    const [only] = projections;
    kept = projections.length === 1 ? await only?.keep?.(session, options.databaseUrl) : undefined;
    options.entered('running');
    const runner = new Runner(session, checkpoints, options.passed, options.tell, kept);
    await run(runner, name, projections, options, ended.signal);
  } finally {
    await kept?.close();
    await closeSession(session);
  }
}

type Checkpoints = ReadonlyMap<Projection, Checkpoint>;

/**
 * Returns the checkpoints from which to continue after the election; undefined if `signal` aborted first.
 * @throws Outdated, Divided
 */
async function elected(
  session: pg.Client,
  projections: readonly Projection[],
  { signal, electionMs, heartbeatLimitMs, entered, logAnswers }: TermOptions,
): Promise<Checkpoints | undefined> {
  const names = projections.map(({ name }) => name);
  let divided: number | undefined;
  while (!signal.aborted) {
    await current(session, projections);
    const won = logAnswers() ? await tryToRun(session, names) : 'none';
    if (won === 'all') return current(session, projections);
    divided = won === 'some' ? (divided ?? performance.now()) : undefined;
    if (divided !== undefined && performance.now() - divided > WAIT_MS)
      throw new Divided(`another instance runs some of ${names.join(', ')}`);
    entered('following');
    for (const name of names) await endHungRunner(session, name, heartbeatLimitMs);
    await delay(electionMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/**
 * Returns the checkpoints.
 * @throws Outdated
 */
async function current(session: pg.Client, projections: readonly Projection[]): Promise<Checkpoints> {
  const found = await readCheckpoints(
    session,
    projections.map(({ name }) => name),
  );
  return new Map(
    projections.map((projection) => {
      const { name, version } = projection;
      const checkpoint = found.get(name);
      if (checkpoint?.version === version) return [projection, checkpoint];
      throw new Outdated(
        `projection ${name} needs tables of version ${version}, but ${checkpoint === undefined ? 'they are missing' : `finds version ${checkpoint.version}`}`,
      );
    }),
  );
}

function isLarge({ events }: EventBatch): boolean {
  if (events.length >= LARGE_EVENTS) return true;
  let characters = 0;
  for (const { data } of events) characters += data.length;
  return characters > LARGE_CHARACTERS;
}

/** Processes batches and sends heartbeats until one of them fails, the session ends, or `signal` aborts. */
async function run(
  runner: Runner,
  name: string,
  projections: readonly Projection[],
  { store, signal, pause, waitFor, logAnswers }: TermOptions,
  ended: AbortSignal,
): Promise<void> {
  let applying: Promise<void> = Promise.resolve();
  const after = projections.flatMap((projection) => projection.after ?? []);
  const gathering = projections.find((projection) => projection.gathers === true);
  const subscription = {
    name,
    after: runner.position,
    prefixes: [...new Set(projections.flatMap(({ prefixes }) => prefixes))],
    handle: async (batch: EventBatch) => {
      if (after.length > 0 && isLarge(batch)) await waitFor(batch.position, after, AFTER_MS);
      applying = runner.apply(batch);
      await applying;
      if (runner.waited > WAIT_MS)
        throw new Divided(`one of ${projections.map(({ name }) => name).join(', ')} is far behind`);
      if (gathering !== undefined && batch.events.length < GATHERED) await pause(gathering.name, GATHER_MS);
    },
  };
  const heartbeats = interval(TICK_MS).pipe(
    exhaustMap(async () => {
      if (!logAnswers()) throw new Unavailable("the event store doesn't answer this instance");
      await runner.tick();
    }),
    ignoreElements(),
  );
  try {
    await new Promise<void>((resolve, reject) => {
      const work = merge(store.subscribe(subscription), heartbeats).subscribe({
        error: reject,
        complete: resolve,
      });
      const stop = (settle: () => void) => () => {
        work.unsubscribe();
        settle();
      };
      signal.addEventListener('abort', stop(resolve));
      ended.addEventListener(
        'abort',
        stop(() => reject(ended.reason)),
      );
      if (signal.aborted) stop(resolve)();
    });
  } finally {
    await applying.catch(() => undefined);
  }
  // Events that no projection processes count as seen, so that a service that has stopped shows no lag.
  await runner.tick();
}
