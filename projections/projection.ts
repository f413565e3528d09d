/** What a projection is: tables of its own, and how events become rows. The projector does the rest. */
import type { ClientBase, QueryConfig } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import type { Steps } from '#src/shared/slices.ts';

/** A read model. It owns the Postgres schema `name`; a rebuild fills the same tables in `<name>_next`. */
export interface Projection {
  readonly name: string;
  /** Raised whenever tables or rows change meaning: a start with another number rebuilds. */
  readonly version: number;
  /**
   * No write's answer waits for it: it may let events gather, and take many at once, unless somebody waits for it. Many
   * rows in one statement cost it, and everybody beside it, a fraction of as many statements.
   */
  readonly gathers?: boolean;
  /** Only events of streams with these prefixes reach it. */
  readonly prefixes: readonly string[];
  /** DDL of the tables in a schema, primary keys included. The projector adds `checkpoint`. */
  tables(schema: string): string;
  /** DDL of what can wait until a rebuild has loaded its rows. */
  indexes(schema: string): string;
  /** The tables that `verify` and a rebuild's comparison hold against each other. */
  readonly compared: readonly string[];
  /**
   * The statements that bring a batch into the serving tables: set-based, in order, and with the same result however
   * batches are cut or repeated. No statement needs the answer of another: the projector sends them in one piece with
   * the checkpoint and the commit.
   * @throws Error for an event that cannot be applied.
   */
  statements(schema: string, events: readonly StoredEvent[]): readonly QueryConfig[];
  /** The same statements in steps, if those of one event can take long: others' requests run in between. */
  inSteps?(schema: string, events: readonly StoredEvent[]): Steps<readonly QueryConfig[]>;
  /** Brings a batch into tables that nobody reads yet, by COPY where that is faster; the same rows. */
  load(tx: ClientBase, schema: string, events: readonly StoredEvent[]): Promise<void>;
}
