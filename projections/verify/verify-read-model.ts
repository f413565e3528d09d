/**
 * Verifies one read model: derives it again beside the serving tables, up to their own position, and compares the two. The
 * rest of the log is derived afterwards, because an event that can't be applied is the usual reason why a read model falls
 * behind.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { BEGINNING, type EventBatch, type EventStore, type Position } from '#src/events/store.ts';
import { readCheckpoint } from '../checkpoint.ts';
import { NAMED, type RowDifference } from '../compare.ts';
import { withoutErasures } from '../erasure.ts';
import { CannotApply, isPassing } from '../failure.ts';
import type { Projection } from '../projection.ts';
import { Shadow } from '../rebuild/shadow.ts';
import { inTransaction } from '../session.ts';
import { schemaSql } from '../tables.ts';
import type { LogCheck } from './log-check.ts';

/** A read model that couldn't be compared, or a row that differs. */
export type ReadModelFault =
  | (RowDifference & { readonly projection: string })
  | {
      readonly projection: string;
      readonly what: 'underivable' | 'outdated' | 'unnamed';
      readonly message: string;
    };

/** A read model that hasn't reached the log's head, which isn't a fault: it was compared up to its own position. */
export interface ReadModelLag {
  readonly projection: string;
  readonly position: Position;
  /** Number of events in its streams that the read model doesn't show yet. */
  readonly behind: number;
  /** False if the read model moved back during the verification, and so couldn't be compared. */
  readonly compared: boolean;
}

/** A derivation of a read model; it ends at an event that can't be applied, if there is one. */
export interface Derivation {
  readonly projection: Projection;
  readonly session: pg.Client;
  readonly shadow: Shadow;
  /** The read model's position at the start. The read model is compared at this position, not at the log's. */
  readonly limit: Position | undefined;
  /** The position that the derivation has reached. */
  position: Position;
  failure: unknown;
}

const shadowName = (projection: Projection): string => `${projection.name}_verify`;

/** Creates a derivation's empty tables. */
export async function derive(
  store: Pick<EventStore, 'subscribe' | 'head'>,
  projection: Projection,
  session: pg.Client,
): Promise<Derivation> {
  const schema = shadowName(projection);
  await session.query(`drop schema if exists ${schema} cascade; ${schemaSql(projection, schema)}`);
  // These tables aren't needed after a crash, so they aren't written to the write-ahead log.
  await session.query(
    projection.compared.map((table) => `alter table ${schema}.${table} set unlogged`).join(';'),
  );
  const serving = await readCheckpoint(session, projection.name);
  return {
    projection,
    session,
    shadow: new Shadow(projection, schema, session, store),
    limit: serving?.version === projection.version ? serving.position : undefined,
    position: BEGINNING,
    failure: undefined,
  };
}

/**
 * Applies a batch from the log to a derivation, up to the read model's position.
 * @throws temporary errors
 */
export async function applyTo(derivation: Derivation, batch: EventBatch): Promise<void> {
  const { projection, session, shadow, limit = batch.position } = derivation;
  if (derivation.failure !== undefined || derivation.position >= limit) return;
  const position = batch.position < limit ? batch.position : limit;
  derivation.position = position;
  const wanted = batch.events.filter(
    (event) =>
      event.position <= position && projection.prefixes.some((prefix) => event.stream.startsWith(prefix)),
  );
  await inTransaction(session, () => shadow.apply({ events: wanted, position })).catch((error: unknown) => {
    if (isPassing(error)) throw error;
    derivation.failure = error;
  });
}

/** Removes a derivation's tables; if the database can't be reached, the next verification removes them. */
export async function drop({ session, shadow }: Derivation): Promise<void> {
  await session.query(`drop schema if exists ${shadow.schema} cascade`).catch(() => undefined);
}

function isNewer(failure: unknown, check: Pick<LogCheck, 'hasNewer'>): boolean {
  return (
    failure instanceof CannotApply && failure.newer !== undefined && check.hasNewer(failure.event.stream)
  );
}

/** The findings about one read model. */
export interface Found {
  readonly faults: readonly ReadModelFault[];
  readonly lag?: ReadModelLag;
}

export interface ReadLog {
  readonly check: Pick<LogCheck, 'events' | 'hasNewer'>;
  readonly head: Position;
  /** How long the read model may take to reach the log's head. */
  readonly catchUpMs: number;
}

/**
 * Compares a derivation with the serving tables at their own position, and returns how far this position is behind the head.
 * @throws temporary errors
 */
export async function lookAt(
  store: Pick<EventStore, 'read' | 'subscribe' | 'head'>,
  { projection, session, shadow, failure }: Derivation,
  { check, head, catchUpMs }: ReadLog,
): Promise<Found> {
  const { name, version } = projection;
  const serving = await readCheckpoint(session, name);
  if (serving?.version !== version) {
    const message = `the tables have version ${serving?.version ?? 'none'}, this version of Annal needs ${version}`;
    return { faults: [{ projection: name, what: 'outdated', message }] };
  }
  const underivable = (reason: unknown): ReadModelFault[] => {
    // Events from a newer version are reported only once, rather than for each read model.
    if (isNewer(reason, check)) return [];
    const message = reason instanceof Error ? reason.message : String(reason);
    return [{ projection: name, what: 'underivable', message }];
  };
  if (failure !== undefined) return { faults: underivable(failure) };
  const end = performance.now() + catchUpMs;
  const position = async (): Promise<Position> =>
    (await readCheckpoint(session, name))?.position ?? BEGINNING;
  while ((await position()) < head && performance.now() < end) await delay(100);
  let compared = await shadow.compare();
  while (compared === undefined && performance.now() < end) {
    await delay(100);
    compared = await shadow.compare();
  }
  if (compared === undefined)
    return {
      faults: [],
      lag: { projection: name, position: await position(), behind: check.events, compared: false },
    };
  const kept = await projection.compareKept?.(session, NAMED);
  if (kept !== undefined) compared.push(kept);
  const differences = compared.flatMap((each) => each.differences);
  const cut = compared.filter(({ more }) => more).map(({ table }) => `${name}.${table}`);
  const faults: ReadModelFault[] = [
    ...(await withoutErasures(store, differences)).map((each) => ({ ...each, projection: name })),
    ...cut.map((table) => ({
      projection: name,
      what: 'unnamed' as const,
      message: `more than 1,000 rows of ${table} differ; only 1,000 are listed`,
    })),
  ];
  const reached = await shadow.position();
  // The rest is derived too, because an event that can't be applied is the usual reason why a read model falls behind.
  let behind = 0;
  const rest = shadow.load(head, {
    loaded: (events) => {
      behind += events;
    },
  });
  const stopped = await rest.then(
    () => [],
    (error: unknown) => {
      if (isPassing(error)) throw error;
      behind += 1;
      return underivable(error);
    },
  );
  const lag = { projection: name, position: reached, behind, compared: true };
  return { faults: [...faults, ...stopped], ...(behind === 0 ? {} : { lag }) };
}
