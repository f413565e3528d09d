/**
 * Verifies everything: reads the log from its beginning to its head, checks it, derives the read models again beside the
 * serving ones, and reports every row that differs. The service can run in the meantime.
 */
import type pg from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { BEGINNING, type EventBatch, type EventStore, type Position } from '#src/events/store.ts';
import { PROJECTIONS } from '../all.ts';
import { tryLock } from '../locks.ts';
import type { Projection } from '../projection.ts';
import { replay } from '../replay.ts';
import { closeSession, endWithClient, openSession } from '../session.ts';
import type { NamedHead } from './chain-check.ts';
import { type ErasedSince, LogCheck, type LogFault } from './log-check.ts';
import { OperationsCheck, type OperationsFault } from './operations-check.ts';
import {
  applyTo,
  type Derivation,
  derive,
  drop,
  lookAt,
  type ReadModelFault,
  type ReadModelLag,
} from './verify-read-model.ts';

/** Dependencies for a verification. */
export interface VerifyDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'head' | 'read' | 'reached'>;
  readonly databaseUrl: string;
  /** Default: all of the service's projections. */
  readonly projections?: readonly Projection[];
}

export interface VerifyOptions {
  readonly onProgress?: (progress: {
    phase: 'reading' | 'comparing';
    events: number;
    position: Position;
  }) => void;
  readonly signal?: AbortSignal;
  /**
   * How long a projection may take at the start to reach the log's head, in ms; after that, it is compared at its own
   * position. Default 60 s.
   */
  readonly catchUpMs?: number;
  /** The heads of the streams in a checkpoint: each stream must still have the history that ends in its head. */
  readonly heads?: AsyncIterable<NamedHead>;
  /** Receives every event that can be understood, in order, during the same read. */
  readonly also?: (events: readonly StoredEvent[]) => Promise<void>;
}

/** Thrown if another process is already verifying the same database. */
export class VerifyRunning extends Error {
  override readonly name = 'VerifyRunning';
  constructor() {
    super('another verification is running');
  }
}

/** The result; `clean` means that there are no faults. A read model that lags isn't a fault. */
export interface VerifyReport {
  readonly clean: boolean;
  readonly events: number;
  readonly streams: number;
  /** Faults in the log, of which at most 1,000 are listed. */
  readonly log: readonly LogFault[];
  /** The result of comparing with a checkpoint, or null without a checkpoint. `streams` is the number of streams. */
  readonly checkpoint: { readonly streams: number; readonly erased: readonly ErasedSince[] } | null;
  /** Faults in the schema `operations`, of which at most 1,000 are listed. */
  readonly operations: readonly OperationsFault[];
  /** Faults in the read models, of which at most 1,000 per table are listed. */
  readonly readModels: readonly ReadModelFault[];
  readonly lagging: readonly ReadModelLag[];
}

const BATCH_SIZE = 2_000;
const NAMED = 1_000;
const CATCH_UP_MS = 60_000;

/**
 * Verifies the log and the read models.
 * @throws VerifyRunning; Error if it was aborted; Unavailable; database errors; errors from reading `heads`
 */
export async function verify(deps: VerifyDeps, options: VerifyOptions = {}): Promise<VerifyReport> {
  const projections = deps.projections ?? PROJECTIONS;
  const sessions: pg.Client[] = [];
  const derivations: Derivation[] = [];
  const open = async (name: string): Promise<pg.Client> => {
    const session = await openSession(deps.databaseUrl, { name: `verify ${name}`, scratch: true });
    sessions.push(session);
    await endWithClient(session);
    return session;
  };
  try {
    const session = await open('log');
    if (!(await tryLock(session, 'verify'))) throw new VerifyRunning();
    const check = new LogCheck(session, deps.store, NAMED);
    await check.begin(options.heads);
    const noted = new OperationsCheck(await open('operations'), deps.store, NAMED);
    await noted.begin();
    for (const projection of projections) {
      derivations.push(await derive(deps.store, projection, await open(projection.name)));
    }
    const head = await read(deps, { check, noted, derivations }, options);
    const erased = await check.checkLost();
    await check.checkIds();
    await noted.end();
    options.onProgress?.({ phase: 'comparing', events: check.events, position: await deps.store.head() });
    const log = { check, head, catchUpMs: options.catchUpMs ?? CATCH_UP_MS };
    const found = await Promise.all(derivations.map((each) => lookAt(deps.store, each, log)));
    const readModels = found.flatMap(({ faults }) => faults);
    return {
      clean: [check.faults, noted.faults, readModels].every(({ length }) => length === 0),
      events: check.events,
      streams: await check.chains.streams(),
      log: check.faults,
      checkpoint: options.heads === undefined ? null : { streams: await check.chains.expected(), erased },
      operations: noted.faults,
      readModels,
      lagging: found.flatMap(({ lag }) => lag ?? []),
    };
  } finally {
    await Promise.all(derivations.map(drop));
    await Promise.all(sessions.map(closeSession));
  }
}

/** The checks that process the events while the log is read. */
interface Readers {
  readonly check: LogCheck;
  readonly noted: OperationsCheck;
  readonly derivations: readonly Derivation[];
}

/**
 * Reads the log once: checks it, and applies it to every shadow.
 * @returns the log's head at the start
 */
async function read(
  { store }: VerifyDeps,
  { check, noted, derivations }: Readers,
  { signal, onProgress, also }: VerifyOptions,
): Promise<Position> {
  const handle = async (batch: EventBatch): Promise<void> => {
    const checked = check
      .check(batch.events)
      .then((readable) => Promise.all([noted.check(readable), also?.(readable)]));
    await Promise.all([checked, ...derivations.map((each) => applyTo(each, batch))]);
    onProgress?.({ phase: 'reading', events: check.events, position: batch.position });
  };
  const until = await store.head();
  const complete = await replay({ store, after: BEGINNING, until, batchSize: BATCH_SIZE, signal, handle });
  if (!complete) throw new Error('verification was interrupted');
  return until;
}
