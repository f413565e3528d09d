/** The definition of a projection: its tables, and how events become rows. The projector does everything else. */
import type pg from 'pg';
import type { ClientBase, QueryConfig } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import type { TableComparison } from './compare.ts';

/** Rows that were created on request. A runner keeps them up to date for its term, in addition to the rows made from events. */
export interface Kept {
  /** True if `take` has something to do. */
  readonly isDue: boolean;
  /**
   * Starts maintaining what was requested; called between batches.
   * @throws connection errors
   */
  take(): Promise<void>;
  /**
   * Returns a batch's statements like `Projection.inSteps`, including the statements that keep the requested rows up to date.
   */
  inSteps(schema: string, events: readonly StoredEvent[]): Steps<readonly QueryConfig[]>;
  /** Stops whatever runs alongside the runner. */
  close(): Promise<void>;
}

/** A read model. The PostgreSQL schema `name` belongs to it; a rebuild fills the same tables in `<name>_next`. */
export interface Projection {
  readonly name: string;
  /**
   * Increased whenever tables or rows change their meaning: if the service starts with a different number, it rebuilds the
   * read model.
   */
  readonly version: number;
  /**
   * True if no write waits for this read model: unless a request waits for it, it may collect events and process many at once,
   * which costs far less than processing them one by one.
   */
  readonly gathers?: boolean;
  /**
   * Read models with the same value process the same events, and one runner writes them in one transaction, so that a single
   * write costs one commit instead of several. Such read models neither collect events nor maintain rows on request.
   */
  readonly transaction?: string;
  /** Read models that process large batches before this one, because every write waits for them. Default: none. */
  readonly after?: readonly string[];
  /** The read model receives only events from streams with these prefixes. */
  readonly prefixes: readonly string[];
  /** The read model receives only events of these types, so only these are decoded. Default: all. */
  readonly types?: ReadonlySet<string>;
  /** Returns the DDL for the tables in a schema, including primary keys. The projector adds the table `checkpoint`. */
  tables(schema: string): string;
  /** Returns the DDL that can be deferred until a rebuild has loaded the rows. */
  indexes(schema: string): string;
  /** The tables that `verify` and rebuilds compare. */
  readonly compared: readonly string[];
  /**
   * Returns the statements that write a batch to the serving tables: set-based, in order, and with the same result however
   * batches are divided or repeated. They don't depend on each other's results, because the projector sends them together with
   * the checkpoint and the commit.
   * @throws Error for an event that can't be applied
   */
  statements(schema: string, events: readonly StoredEvent[]): readonly QueryConfig[];
  /**
   * Returns the same statements in steps, so that other requests can run in between. For read models in which a single event
   * may take long.
   */
  inSteps?(schema: string, events: readonly StoredEvent[]): Steps<readonly QueryConfig[]>;
  /** Sets up the maintenance of rows that requests ask for, on the runner's session. */
  keep?(session: pg.Client, databaseUrl: string): Promise<Kept>;
  /**
   * Compares the rows that the runner maintains on request with the rows from which they are derived.
   * @param limit the maximum number of differences to list
   */
  compareKept?(session: ClientBase, limit: number): Promise<TableComparison>;
  /** Writes a batch to tables that aren't read yet, with COPY if that is faster; the resulting rows are the same. */
  load(tx: ClientBase, schema: string, events: readonly StoredEvent[]): Promise<void>;
}
