/** What a projection is: tables of its own, and how events become rows. The projector does the rest. */
import type { ClientBase } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';

/** A read model. It owns the Postgres schema `name`; a rebuild fills the same tables in `<name>_next`. */
export interface Projection {
  readonly name: string;
  /** Raised whenever tables or rows change meaning: a start with another number rebuilds. */
  readonly version: number;
  /** Only events of streams with these prefixes reach it. */
  readonly prefixes: readonly string[];
  /** DDL of the tables in a schema, primary keys included. The projector adds `checkpoint`. */
  tables(schema: string): string;
  /** DDL of what can wait until a rebuild has loaded its rows. */
  indexes(schema: string): string;
  /** The tables that `verify` and a rebuild's comparison hold against each other. */
  readonly compared: readonly string[];
  /**
   * Applies a batch inside the projector's transaction: set-based, in order, and the same however batches are cut.
   * @param load `rebuild`: rows may be brought in by COPY, since nobody reads yet.
   */
  project(
    tx: ClientBase,
    schema: string,
    events: readonly StoredEvent[],
    load: 'serve' | 'rebuild',
  ): Promise<void>;
}
