/** A term of a runner: the election, running the projection, and its end. */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { exhaustMap, ignoreElements, interval, merge } from 'rxjs';
import { type EventBatch, type EventStore, type Position, Unavailable } from '#src/events/store.ts';
import { type Checkpoint, readCheckpoint } from '../checkpoint.ts';
import type { Kept, Projection } from '../projection.ts';
import { closeSession, openSession } from '../session.ts';
import { endHungRunner, tryToRun } from './election.ts';
import { Runner } from './runner.ts';

/** Circumstances of a term. */
export interface TermOptions {
  readonly store: Pick<EventStore, 'subscribe'>;
  readonly databaseUrl: string;
  readonly signal: AbortSignal;
  readonly electionMs: number;
  readonly heartbeatLimitMs: number;
  /** Called when it waits for another instance's runner, and when it is elected. */
  readonly entered: (state: 'following' | 'running') => void;
  /** Called with each position as soon as reads see it. */
  readonly passed: (position: Position) => void;
  /** Tells whether other instances must be notified of positions. */
  readonly tell: () => boolean;
  /** Tells whether the event log answers this instance; if not, it leaves the projection to others. */
  readonly logAnswers: () => boolean;
  /** Resolves when projections have passed a position, or after some ms. */
  readonly waitFor: (position: Position, names: readonly string[], ms: number) => Promise<unknown>;
  /** Resolves after some ms, or when a request waits for the projection. */
  readonly pause: (ms: number) => Promise<void>;
}

/** Thrown when other software made the tables: this instance must neither write them nor end their runner. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

/** How long a projection that may wait collects events, in ms. */
const GATHER_MS = 50;
/** After a batch of this size more events are likely there already, so it doesn't wait. */
const GATHERED = 250;

/** Events and characters of a large batch. */
const LARGE_EVENTS = 64;
const LARGE_CHARACTERS = 500_000;
/** How long a projection lets others go first with a large batch, in ms. */
const AFTER_MS = 2_000;

/** How often the runner checks whether a heartbeat is due. */
const TICK_MS = 200;

/**
 * Waits for the election, then runs the projection. Resolves when `signal` aborts, after the current batch, with the
 * session closed.
 * @throws Outdated, CannotApply, and other errors that ended the term
 */
export async function serve(projection: Projection, options: TermOptions): Promise<void> {
  const ended = new AbortController();
  const { name } = projection;
  const session = await openSession(options.databaseUrl, { name: `projection ${name}` }, () =>
    ended.abort(new Error('Connection terminated')),
  );
  let kept: Kept | undefined;
  try {
    const checkpoint = await elected(session, projection, options);
    if (checkpoint === undefined) return;
    kept = await projection.keep?.(session, options.databaseUrl);
    options.entered('running');
    await run(
      new Runner(projection, session, checkpoint, options.passed, options.tell, kept),
      projection,
      options,
      ended.signal,
    );
  } finally {
    await kept?.close();
    await closeSession(session);
  }
}

/** Returns the checkpoint to continue from after the election; undefined if `signal` aborted before. */
async function elected(
  session: pg.Client,
  projection: Projection,
  { signal, electionMs, heartbeatLimitMs, entered, logAnswers }: TermOptions,
): Promise<Checkpoint | undefined> {
  const { name } = projection;
  while (!signal.aborted) {
    await current(session, projection);
    if (logAnswers() && (await tryToRun(session, name))) return current(session, projection);
    entered('following');
    await endHungRunner(session, name, heartbeatLimitMs);
    await delay(electionMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

async function current(session: pg.Client, { name, version }: Projection): Promise<Checkpoint> {
  const checkpoint = await readCheckpoint(session, name);
  if (checkpoint?.version === version) return checkpoint;
  throw new Outdated(
    `projection ${name} needs tables of version ${version}, but ${checkpoint === undefined ? 'they are missing' : `finds version ${checkpoint.version}`}`,
  );
}

function isLarge({ events }: EventBatch): boolean {
  if (events.length >= LARGE_EVENTS) return true;
  let characters = 0;
  for (const { data } of events) characters += data.length;
  return characters > LARGE_CHARACTERS;
}

/** Batches and heartbeats until one fails, the session ends, or `signal` aborts. */
async function run(
  runner: Runner,
  { name, prefixes, after, gathers = false }: Projection,
  { store, signal, pause, waitFor, logAnswers }: TermOptions,
  ended: AbortSignal,
): Promise<void> {
  let applying: Promise<void> = Promise.resolve();
  const subscription = {
    name: `projection ${name}`,
    after: runner.position,
    prefixes,
    handle: async (batch: EventBatch) => {
      if (after !== undefined && isLarge(batch)) await waitFor(batch.position, after, AFTER_MS);
      applying = runner.apply(batch);
      await applying;
      if (gathers && batch.events.length < GATHERED) await pause(GATHER_MS);
    },
  };
  const heartbeats = interval(TICK_MS).pipe(
    exhaustMap(async () => {
      if (!logAnswers()) throw new Unavailable('this instance gets no answer from the event store');
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
  // Events that the projection doesn't take count as seen, so that a stopped service has no lag.
  await runner.tick();
}
