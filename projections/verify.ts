/**
 * Verifies everything: reads the log from its beginning to its head, checks it, derives the read models again beside
 * the serving ones, and reports every differing row. The service goes on meanwhile.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { BEGINNING, type EventBatch, type EventStore, type Position } from '#src/events/store.ts';
import { PROJECTIONS } from './all.ts';
import type { NamedHead } from './chain-check.ts';
import { readCheckpoint } from './checkpoint.ts';
import type { RowDifference } from './compare.ts';
import { withoutErasures } from './erasure.ts';
import { CannotApply, isPassing } from './failure.ts';
import { tryLock } from './locks.ts';
import { type ErasedSince, LogCheck, type LogFault } from './log-check.ts';
import { OperationsCheck, type OperationsFault } from './operations-check.ts';
import type { Projection } from './projection.ts';
import { replay } from './replay.ts';
import { closeSession, inTransaction, openSession } from './session.ts';
import { Shadow } from './shadow.ts';
import { schemaSql } from './tables.ts';

/** Dependencies of a verification. */
export interface VerifyDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'head' | 'read' | 'reached'>;
  readonly databaseUrl: string;
  /** Default: all of the service. */
  readonly projections?: readonly Projection[];
}

/** Options. */
export interface VerifyOptions {
  readonly onProgress?: (progress: {
    phase: 'reading' | 'comparing';
    events: number;
    position: Position;
  }) => void;
  readonly signal?: AbortSignal;
  /** How long a projection may take to reach the log's head at the start. Default 60 s. */
  readonly catchUpMs?: number;
  /** Heads of streams in a checkpoint: each stream must still have that history. */
  readonly heads?: AsyncIterable<NamedHead>;
  /** Reads along: is given every event that can be understood, in order. */
  readonly also?: (events: readonly StoredEvent[]) => Promise<void>;
}

/** Another process verifies the same database. */
export class VerifyRunning extends Error {
  override readonly name = 'VerifyRunning';
  constructor() {
    super('another verification is running');
  }
}

/** A read model that could not be compared, or a row that differs. */
export type ReadModelFault =
  | (RowDifference & { readonly projection: string })
  | {
      readonly projection: string;
      readonly what: 'lagging' | 'underivable' | 'outdated' | 'unnamed';
      readonly message: string;
    };

/** The result; `clean` means that nothing is wrong. */
export interface VerifyReport {
  readonly clean: boolean;
  readonly events: number;
  readonly streams: number;
  /** Faults of the log: at most 1,000 are named. */
  readonly log: readonly LogFault[];
  /** Result of the comparison with a checkpoint; null without one. `streams` is their number. */
  readonly checkpoint: { readonly streams: number; readonly erased: readonly ErasedSince[] } | null;
  /** Faults of schema `operations`: at most 1,000 are named. */
  readonly operations: readonly OperationsFault[];
  /** Faults of the read models: at most 1,000 a table are named. */
  readonly readModels: readonly ReadModelFault[];
}

const BATCH_SIZE = 2_000;
const NAMED = 1_000;

/**
 * Verifies the log and the read models.
 * @throws VerifyRunning; Error if it was aborted; Unavailable; errors of the database and of reading `heads`
 */
export async function verify(deps: VerifyDeps, options: VerifyOptions = {}): Promise<VerifyReport> {
  const projections = deps.projections ?? PROJECTIONS;
  const sessions: pg.Client[] = [];
  const derivations: Derivation[] = [];
  const open = async (name: string): Promise<pg.Client> => {
    const session = await openSession(deps.databaseUrl, { name: `verify ${name}`, scratch: true });
    sessions.push(session);
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
      derivations.push(await derive(deps, projection, await open(projection.name)));
    }
    await read(deps, { check, noted, derivations }, options);
    const erased = await check.checkLost();
    await check.checkIds();
    await noted.end();
    options.onProgress?.({ phase: 'comparing', events: check.events, position: await deps.store.head() });
    // Events of a newer version are reported once, not for each read model.
    const derived = derivations.filter(({ failure }) => !isNewer(failure, check));
    const found = await Promise.all(derived.map((each) => faultsOf(deps, each, options)));
    const readModels = found.flat();
    return {
      clean: [check.faults, noted.faults, readModels].every(({ length }) => length === 0),
      events: check.events,
      streams: await check.chains.streams(),
      log: check.faults,
      checkpoint: options.heads === undefined ? null : { streams: await check.chains.expected(), erased },
      operations: noted.faults,
      readModels,
    };
  } finally {
    await Promise.all(derivations.map(drop));
    await Promise.all(sessions.map(closeSession));
  }
}

/** A derivation of a read model, up to an event that can't be applied. */
interface Derivation {
  readonly projection: Projection;
  readonly session: pg.Client;
  readonly shadow: Shadow;
  failure: unknown;
}

const shadowName = (projection: Projection): string => `${projection.name}_verify`;

async function derive(
  { store }: VerifyDeps,
  projection: Projection,
  session: pg.Client,
): Promise<Derivation> {
  const schema = shadowName(projection);
  await session.query(`drop schema if exists ${schema} cascade; ${schemaSql(projection, schema)}`);
  // These tables aren't needed after a crash, so they have no write-ahead log.
  await session.query(
    projection.compared.map((table) => `alter table ${schema}.${table} set unlogged`).join(';'),
  );
  return { projection, session, shadow: new Shadow(projection, schema, session, store), failure: undefined };
}

/** The checks that read along. */
interface Readers {
  readonly check: LogCheck;
  readonly noted: OperationsCheck;
  readonly derivations: readonly Derivation[];
}

/** Reads the log once: checks it, and applies it to every shadow. */
async function read(
  { store }: VerifyDeps,
  { check, noted, derivations }: Readers,
  { signal, onProgress, also }: VerifyOptions,
): Promise<void> {
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
}

async function applyTo(derivation: Derivation, { events, position }: EventBatch): Promise<void> {
  const { projection, session, shadow } = derivation;
  if (derivation.failure !== undefined) return;
  const wanted = events.filter(({ stream }) =>
    projection.prefixes.some((prefix) => stream.startsWith(prefix)),
  );
  await inTransaction(session, () => shadow.apply({ events: wanted, position })).catch((error: unknown) => {
    if (isPassing(error)) throw error;
    derivation.failure = error;
  });
}

/** Removes the tables; where the database is away the next verification does. */
async function drop({ session, shadow }: Derivation): Promise<void> {
  await session.query(`drop schema if exists ${shadow.schema} cascade`).catch(() => undefined);
}

function isNewer(failure: unknown, check: LogCheck): boolean {
  return (
    failure instanceof CannotApply && failure.newer !== undefined && check.hasNewer(failure.event.stream)
  );
}

/** Compares a derivation with the serving tables. */
async function faultsOf(
  { store }: VerifyDeps,
  { projection, session, shadow, failure }: Derivation,
  { catchUpMs = 60_000 }: VerifyOptions,
): Promise<ReadModelFault[]> {
  const { name, version } = projection;
  const serving = await readCheckpoint(session, name);
  if (serving?.version !== version) {
    const message = `the tables have version ${serving?.version ?? 'none'}, this version of Annal needs ${version}`;
    return [{ projection: name, what: 'outdated', message }];
  }
  if (failure !== undefined) {
    const message = failure instanceof Error ? failure.message : String(failure);
    return [{ projection: name, what: 'underivable', message }];
  }
  const end = performance.now() + catchUpMs;
  for (;;) {
    const compared = await shadow.compare();
    if (compared !== undefined) {
      const differences = compared.flatMap((each) => each.differences);
      const cut = compared.filter(({ more }) => more).map(({ table }) => `${name}.${table}`);
      return [
        ...(await withoutErasures(store, differences)).map((each) => ({ ...each, projection: name })),
        ...cut.map((table) => ({
          projection: name,
          what: 'unnamed' as const,
          message: `more than 1,000 rows of ${table} differ; only 1,000 are listed`,
        })),
      ];
    }
    if (performance.now() > end) {
      const message = `it did not reach position ${await shadow.position()} within ${catchUpMs} ms`;
      return [{ projection: name, what: 'lagging', message }];
    }
    await delay(100);
  }
}
