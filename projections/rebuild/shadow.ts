/**
 * A shadow of a read model: the same tables in a second schema, filled from the log by the same functions while the first
 * schema serves reads. A rebuild swaps the shadow in; a verification compares it and then drops it.
 */
import type pg from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import type { EventBatch, EventStore, Position, RecordedEvent } from '#src/events/store.ts';
import { moveCheckpoint, readCheckpoint } from '../checkpoint.ts';
import { compareTables, NAMED, type TableComparison } from '../compare.ts';
import { CannotApply, isPassing } from '../failure.ts';
import { PACES, type Pace } from '../pace.ts';
import { decodeOnce, ownEvents } from '../parsed.ts';
import type { Projection } from '../projection.ts';
import { replay } from '../replay.ts';
import { inTransaction, WHOLE_TABLES } from '../session.ts';

/** Events per batch: large batches load faster, but a batch of large events must still fit into memory. */
const BATCH_SIZE = 1_000;

/** The shadow of one projection, written by one process on one session (without `pipeline`). */
export class Shadow {
  /**
   * @param schema the shadow's schema
   * @param session must not be used by anything else in the meantime
   */
  constructor(
    readonly projection: Projection,
    readonly schema: string,
    readonly session: pg.Client,
    private readonly store: Pick<EventStore, 'subscribe' | 'head'>,
  ) {}

  async position(): Promise<Position> {
    const checkpoint = await readCheckpoint(this.session, this.schema);
    if (checkpoint === undefined) throw new Error(`the schema ${this.schema} doesn't exist`);
    return checkpoint.position;
  }

  /**
   * Loads events up to `until`, one transaction per batch.
   * @param options `loaded` is called with the number of events in each batch; `signal` stops after the current batch
   * @returns true if it reached the end
   * @throws CannotApply, Unavailable, database errors
   */
  async load(
    until: Position,
    options: { signal?: AbortSignal | undefined; loaded?: (events: number) => void } = {},
  ): Promise<boolean> {
    const { session } = this;
    return this.#replay(until, options.signal, async (batch) => {
      await inTransaction(session, () => this.apply(batch));
      options.loaded?.(batch.events.length);
    });
  }

  /**
   * Brings the shadow up to `until` within the session's current transaction.
   * @returns true if it reached that position in time
   */
  async loadWithin(until: Position, timeoutMs: number): Promise<boolean> {
    return this.#replay(until, AbortSignal.timeout(timeoutMs), (batch) => this.apply(batch));
  }

  /**
   * Writes a batch's rows and checkpoint in the caller's transaction.
   * @throws CannotApply naming the event at fault; database errors
   */
  async apply({ events, position }: EventBatch): Promise<void> {
    const { projection, schema, session } = this;
    const own = ownEvents(projection, events);
    const decoded = own.map((event) => {
      try {
        return decodeOnce(event);
      } catch (error) {
        throw new CannotApply(projection.name, event, error);
      }
    });
    if (decoded.length > 0) {
      await session.query('savepoint batch');
      try {
        await projection.load(session, schema, decoded);
      } catch (error) {
        throw isPassing(error) ? error : await this.#culprit(own, decoded, error);
      }
      await session.query('release savepoint batch');
    }
    await moveCheckpoint(session, schema, position);
  }

  /**
   * Finds the event that can't be applied, by loading events one by one after the savepoint.
   * @returns the given reason if each event can be loaded
   */
  async #culprit(
    events: readonly RecordedEvent[],
    decoded: readonly StoredEvent[],
    reason: unknown,
  ): Promise<unknown> {
    const { projection, schema, session } = this;
    await session.query('rollback to savepoint batch');
    for (const [i, event] of events.entries()) {
      try {
        await projection.load(session, schema, decoded.slice(i, i + 1));
      } catch (error) {
        return isPassing(error) ? error : new CannotApply(projection.name, event, error);
      }
    }
    return reason;
  }

  /**
   * Compares the shadow with the serving tables while these continue to be written: one snapshot shows the serving tables at
   * their checkpoint, and the shadow is loaded to exactly that position in the same transaction.
   * @returns the result by table; undefined if the serving tables were behind the shadow
   */
  async compare(pace: Pace = PACES.full): Promise<TableComparison[] | undefined> {
    const { projection, schema, session } = this;
    const { name, compared } = projection;
    const work = async () => {
      const serving = await readCheckpoint(session, name);
      if (serving === undefined || serving.position < (await this.position())) return undefined;
      await this.#replay(serving.position, undefined, (batch) => this.apply(batch));
      await session.query(WHOLE_TABLES);
      const found: TableComparison[] = [];
      for (const table of compared) {
        found.push(await compareTables(session, [name, schema], table, { limit: NAMED, pace }));
      }
      return found;
    };
    return inTransaction(session, work, 'begin isolation level repeatable read');
  }

  async #replay(
    until: Position,
    signal: AbortSignal | undefined,
    handle: (batch: EventBatch) => Promise<void>,
  ): Promise<boolean> {
    const { store, projection } = this;
    const after = await this.position();
    return replay({
      store,
      after,
      until,
      prefixes: projection.prefixes,
      batchSize: BATCH_SIZE,
      signal,
      handle,
    });
  }
}
