/** The definition of a projection: its tables, and the rows that events become. The projector does the rest. */
import type pg from 'pg';
import type { ClientBase, QueryConfig } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import type { TableComparison } from './compare.ts';

/** Rows that a runner keeps up to date besides those of events, because requests asked for them; for its term. */
export interface Kept {
  /** True if `take` has something to do. */
  readonly isDue: boolean;
  /** Takes up what was asked for; between batches. @throws errors of the connection */
  take(): Promise<void>;
  /** Returns the statements of a batch like `Projection.inSteps`, with those that keep it up to date. */
  inSteps(schema: string, events: readonly StoredEvent[]): Steps<readonly QueryConfig[]>;
  /** Ends what goes on beside the runner. */
  close(): Promise<void>;
}

/** A read model. It owns the Postgres schema `name`; a rebuild fills the same tables in `<name>_next`. */
export interface Projection {
  readonly name: string;
  /** Raised whenever tables or rows change meaning: a start with another number rebuilds. */
  readonly version: number;
  /**
   * True if no write waits for it: it may collect events and process many at once, which costs far less than one by
   * one, unless a request waits for it.
   */
  readonly gathers?: boolean;
  /**
   * Read models with the same value take the same events and are written by one runner in one transaction: a write that
   * comes alone costs one commit instead of several. None of them gathers or keeps anything.
   */
  readonly transaction?: string;
  /** Read models that take large batches in before it: those that every write waits for. Default: none. */
  readonly after?: readonly string[];
  /** Only events of streams with these prefixes reach it. */
  readonly prefixes: readonly string[];
  /** Of those only events of these types, so that it decodes no others. Default: all. */
  readonly types?: ReadonlySet<string>;
  /** Returns the DDL of the tables in a schema, primary keys included. The projector adds `checkpoint`. */
  tables(schema: string): string;
  /** Returns the DDL that can wait until a rebuild has loaded the rows. */
  indexes(schema: string): string;
  /** The tables that `verify` and rebuilds compare. */
  readonly compared: readonly string[];
  /**
   * Returns the statements that write a batch to the serving tables: set-based, in order, with the same result however
   * batches are cut or repeated. They don't depend on each other's results: the projector sends them together with the
   * checkpoint and the commit.
   * @throws Error for an event that can't be applied
   */
  statements(schema: string, events: readonly StoredEvent[]): readonly QueryConfig[];
  /** Returns the same statements in steps, if one event may take long, so that other requests run in between. */
  inSteps?(schema: string, events: readonly StoredEvent[]): Steps<readonly QueryConfig[]>;
  /** Opens what requests ask the runner to keep, on its session. */
  keep?(session: pg.Client, databaseUrl: string): Promise<Kept>;
  /** Compares what the runner keeps on request with the rows that it is about. @param limit differences to name */
  compareKept?(session: ClientBase, limit: number): Promise<TableComparison>;
  /** Writes a batch to tables that aren't read yet, by COPY if that is faster; the same rows. */
  load(tx: ClientBase, schema: string, events: readonly StoredEvent[]): Promise<void>;
}
