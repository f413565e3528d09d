/**
 * A shadow of a read model: the same tables in a second schema, filled from the log by the same functions while the
 * first serves. A rebuild swaps it in; a verification compares and drops it.
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

/** Events per batch: large ones load faster, and a batch of them must still fit in memory. */
const BATCH_SIZE = 1_000;

/** The shadow of one projection, written over one session (without `pipeline`) by one process. */
export class Shadow {
  /**
   * @param schema of the shadow
   * @param session used by nothing else meanwhile
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
   * Loads events up to `until`, a transaction per batch.
   * @param options `loaded` is called with the number of events of each batch; `signal` stops after the current batch
   * @returns whether it reached the end
   * @throws CannotApply, Unavailable, errors of the database
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

  /** Brings it up to `until` within the transaction that the session is in. @returns whether it got there in time. */
  async loadWithin(until: Position, timeoutMs: number): Promise<boolean> {
    return this.#replay(until, AbortSignal.timeout(timeoutMs), (batch) => this.apply(batch));
  }

  /**
   * Writes rows and checkpoint of a batch in the caller's transaction.
   * @throws CannotApply naming the event at fault; errors of the database
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
   * @returns the reason itself if each of them can be loaded
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
   * Compares with the serving tables, which continue to be written: one snapshot holds them at their checkpoint, and
   * the shadow is loaded to exactly that position in the same transaction.
   * @returns the result by table, or undefined if the serving tables were behind the shadow
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
