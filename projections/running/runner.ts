/** Runs one projection while this instance is elected for it: batches in, rows and checkpoint out. */
import { setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import type { QueryConfig } from 'pg';
import { OneTransaction } from '#src/database/one-transaction.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import type { EventBatch, Position, RecordedEvent } from '#src/events/store.ts';
import { inSlices } from '#src/shared/load/slices.ts';
import { eraseFromAbandoned, isErasure } from '../abandoned.ts';
import { advancing, type Checkpoint, movedOr } from '../checkpoint.ts';
import { CannotApply, isPassing } from '../failure.ts';
import { decodeOnce, forgetParsed, ownEvents } from '../parsed.ts';
import type { Kept, Projection } from '../projection.ts';
import { inTransaction } from '../session.ts';

/** Interval of the heartbeat while there is no work. */
const HEARTBEAT_MS = 1_000;
/** Number of events whose statements are made together. */
const SLICE = 200;

/** Writes a projection's rows over one session. Calls of its methods must not overlap, except `tick`. */
export class Runner {
  readonly #transaction: OneTransaction;
  /** The checkpoint's row. */
  #held: Checkpoint;
  /** The current position: beyond `#held` by events that the projection doesn't take. */
  #position: Position;
  #beatenAt = 0;
  #beating: Promise<void> = Promise.resolve();
  #busy = false;

  /**
   * @param session an elected session
   * @param checkpoint as read on that session
   * @param passed called with each position as soon as reads see it
   * @param tell whether other instances must be notified
   * @param kept what requests asked for
   */
  constructor(
    private readonly projection: Projection,
    private readonly session: pg.Client,
    checkpoint: Checkpoint,
    private readonly passed: (position: Position) => void,
    private readonly tell: () => boolean,
    private readonly kept?: Kept,
  ) {
    this.#transaction = new OneTransaction(session);
    this.#held = checkpoint;
    this.#position = checkpoint.position;
  }

  /** Returns the projection's position. */
  get position(): Position {
    return this.#position;
  }

  /**
   * Applies one batch.
   * @throws CannotApply naming the event at fault; CheckpointMoved; errors of the connection. Nothing is written then.
   */
  async apply(batch: EventBatch): Promise<void> {
    await this.#beating;
    this.#busy = true;
    try {
      if (this.kept?.isDue === true) await this.kept.take();
      const events = ownEvents(this.projection, batch.events);
      // Without any, `tick` moves the checkpoint.
      if (events.length > 0) await this.#write({ ...batch, events });
      this.#position = batch.position;
      this.passed(batch.position);
    } finally {
      this.#busy = false;
    }
  }

  /**
   * Maintains the runner between batches: a heartbeat every second, the checkpoint after events that the projection
   * doesn't take, and what requests asked for.
   * @throws CheckpointMoved; errors of the connection
   */
  async tick(): Promise<void> {
    const due = performance.now() - this.#beatenAt >= HEARTBEAT_MS || this.kept?.isDue === true;
    if (this.#busy || (!due && this.#position === this.#held.position)) return;
    const position = this.#position;
    const beating = this.#beat(position);
    this.#beating = beating.catch(() => undefined);
    await beating;
  }

  async #beat(position: Position): Promise<void> {
    if (this.kept?.isDue === true) await this.kept.take();
    await this.#advance(position, []);
    this.#holds(position);
  }

  async #write(batch: EventBatch): Promise<void> {
    const { projection, session } = this;
    const { events, statements } = await prepare(projection, this.kept, batch);
    if (events.some(isErasure)) {
      forgetParsed();
      await inTransaction(session, () => eraseFromAbandoned(session, projection, events));
    }
    try {
      await this.#advance(batch.position, statements);
    } catch (error) {
      throw isPassing(error) ? error : await this.#culprit(batch, events, error);
    }
    this.#holds(batch.position);
  }

  /**
   * Writes checkpoint and rows in one transaction and one round trip.
   * @throws CheckpointMoved; errors of the database
   */
  async #advance(position: Position, statements: readonly QueryConfig[]): Promise<void> {
    const { name } = this.projection;
    const checkpoint = advancing(name, this.#held, position, this.tell());
    try {
      await this.#transaction.run([checkpoint, ...statements]);
    } catch (error) {
      throw movedOr(error, name);
    }
  }

  /** Finds the event that the tables refuse, by applying events one by one in a transaction that is rolled back. */
  async #culprit(batch: EventBatch, events: readonly StoredEvent[], reason: unknown): Promise<CannotApply> {
    const { projection, session } = this;
    const { name } = projection;
    await session.query('begin');
    try {
      for (const [i, recorded] of batch.events.entries()) {
        try {
          // Without names, because `#transaction` has prepared statements with those names.
          for (const { text, values } of projection.statements(name, events.slice(i, i + 1)))
            await session.query(text, values);
        } catch (error) {
          return new CannotApply(name, recorded, error);
        }
      }
    } finally {
      await session.query('rollback');
    }
    throw reason;
  }

  #holds(position: Position): void {
    this.#held = { ...this.#held, position };
    this.#beatenAt = performance.now();
  }
}

/**
 * Decodes a batch and makes its statements in slices, with other requests in between, because an append may have
 * thousands of events.
 * @throws CannotApply naming the event at fault
 */
async function prepare(
  projection: Projection,
  kept: Kept | undefined,
  batch: EventBatch,
): Promise<{ events: readonly StoredEvent[]; statements: readonly QueryConfig[] }> {
  const { name } = projection;
  const events: StoredEvent[] = [];
  const statements: QueryConfig[] = [];
  for (let from = 0; from < batch.events.length; from += SLICE) {
    if (from > 0) await setImmediate();
    const recorded = batch.events.slice(from, from + SLICE);
    const understoodOnes = recorded.map((event) => attempt(name, event, () => decodeOnce(event)));
    for (const event of understoodOnes) events.push(event);
    for (const statement of await makeStatements(projection, kept, recorded, understoodOnes))
      statements.push(statement);
  }
  return { events, statements };
}

/**
 * Returns the statements of events; if their rows exceed a statement's limit, each half is made separately.
 * @throws CannotApply
 */
async function makeStatements(
  projection: Projection,
  kept: Kept | undefined,
  recorded: readonly RecordedEvent[],
  events: readonly StoredEvent[],
): Promise<readonly QueryConfig[]> {
  const { name } = projection;
  const [first] = recorded;
  if (first === undefined) return [];
  try {
    const steps = (kept ?? projection).inSteps?.(name, events);
    return steps === undefined ? projection.statements(name, events) : await inSlices(steps);
  } catch (error) {
    if (recorded.length === 1) throw new CannotApply(name, first, error);
    const half = recorded.length >> 1;
    return [
      ...(await makeStatements(projection, kept, recorded.slice(0, half), events.slice(0, half))),
      ...(await makeStatements(projection, kept, recorded.slice(half), events.slice(half))),
    ];
  }
}

function attempt<T>(name: string, event: RecordedEvent, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new CannotApply(name, event, error);
  }
}
