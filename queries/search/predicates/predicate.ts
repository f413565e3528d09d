/** A search parameter's predicate: an SQL condition on a row. */
import type { Binds } from '../../database/binds.ts';
import type { Span } from './span.ts';

/** Returns the condition's SQL, with its values bound. The row is `r` unless the predicate says otherwise. */
export interface Predicate {
  (binds: Binds): string;
  /** True if it names the rows by id or record, so an index leads directly to them. */
  readonly keyed?: boolean;
  /** Keys such that the predicate is true exactly for rows whose entry in the read model `search` has one of them. */
  readonly keys?: readonly string[];
  /** Returns equivalent keys for one record: among its rows, exactly those with one of `keys` have one of these. */
  readonly keysInRecord?: (record: string) => readonly string[];
  /** Keys such that the predicate is true exactly for rows whose entry has none of them. */
  readonly without?: readonly string[];
  /**
   * Returns keys of which every matching row's entry has at least one; set if the predicate has its own condition that is as
   * efficient on its own.
   */
  readonly implied?: () => readonly string[];
  /** The records whose rows match, if the predicate is true for no other rows of the search's type. */
  readonly inRecords?: readonly string[];
  /** Returns the same predicate for only some of these records. */
  readonly narrowed?: (records: readonly string[]) => Predicate;
  /** Values in the read model `search` such that the predicate is true exactly for rows with one of them. */
  readonly values?: Values;
  /**
   * Returns a query, with `id` and `record`, for the matching live rows of the type and the tenant, possibly with duplicates.
   * It may leave out rows whose entry lacks a key from one of the sets: the index is queried for all sets together.
   */
  readonly rows?: (binds: Binds, sets?: readonly (readonly string[])[]) => string;
  /** True if it is a condition on the recording time: an index on the tenant's resources in that order leads to its rows. */
  readonly recorded?: true;
  /** True if it usually matches so many rows that a walk along the result's order soon finds enough of them. */
  readonly wide?: true;
  /** The targets of its references, if it can also be expressed with their ids. */
  readonly resolvable?: Resolvable;
  /** The parameters that it comes from, as written, for `explain.ts`. */
  readonly asked?: readonly string[];
  /** True if it reads only `r.id` and `r.record`, which the row's entry in `search` has too. */
  readonly ofEntry?: boolean;
}

/** Rows in a table of the read model `search` that have an `id` and a parameter's `key`. */
export interface Values {
  readonly table: string;
  /** The table's alias in the condition. */
  readonly as: string;
  /** The keys of the parameter, or of the parameters that contain its values. */
  readonly keys: readonly string[];
  /** The column with the keys, if it isn't `key`: `about`, the code that the values are stored with (composites). */
  readonly by?: 'key' | 'about';
  /** True if a resource has at most one value for each of its codes. */
  readonly single?: boolean;
  /** Returns the remaining condition, including the part, if any, that an index over (key, low) or (key, folded) can use. */
  condition(binds: Binds): string;
  /** The range that the condition implies. */
  readonly span?: Span;
}

/** The targets of a predicate's references, and the same predicate expressed with their ids. */
export interface Resolvable {
  /** Returns a query with the columns `type` and `id`, which may return a resource twice. */
  found(binds: Binds): string;
  /** Returns the predicate that rows refer to one of the given resources. */
  referToNamed(found: readonly Named[]): Predicate;
}

/** A resource that a reference may name. */
export interface Named {
  readonly type: string;
  readonly id: string;
}

/** Records on a predicate which parameters it comes from. Nothing else may have stored the predicate yet. */
export function askedAs(asked: readonly string[], predicate: Predicate): Predicate {
  return Object.assign(predicate, { asked });
}

/** Returns the parameters that the predicates come from, each once. */
export function askedBy(predicates: readonly Predicate[]): readonly string[] {
  return [...new Set(predicates.flatMap(({ asked }) => asked ?? []))];
}
