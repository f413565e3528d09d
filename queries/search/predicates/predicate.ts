/** A search parameter's predicate: an SQL condition on a row. */
import type { Binds } from '../../database/binds.ts';
import type { Span } from './span.ts';

/** Returns the condition's SQL, with its values bound. The row is `r` unless the predicate says otherwise. */
export interface Predicate {
  (binds: Binds): string;
  /** True if the predicate names rows by id or record, so that an index leads directly to them. */
  readonly keyed?: boolean;
  /** Keys for which the predicate is true exactly for rows whose entry in the read model `search` has one of them. */
  readonly keys?: readonly string[];
  /** Returns equivalent keys for one record: among the record's rows, exactly the rows with one of `keys` have one of these. */
  readonly keysInRecord?: (record: string) => readonly string[];
  /** Keys for which the predicate is true exactly for rows whose entry has none of them. */
  readonly without?: readonly string[];
  /**
   * Returns keys such that every matching row's entry has at least one of them. Set if the predicate has its own condition,
   * which is just as efficient without them.
   */
  readonly implied?: () => readonly string[];
  /** The records whose rows match, if the predicate is true only for rows in these records, among rows of the search's type. */
  readonly inRecords?: readonly string[];
  /** Returns the same predicate for only some of these records. */
  readonly narrowed?: (records: readonly string[]) => Predicate;
  /** Values in the read model `search` for which the predicate is true exactly for rows with one of them. */
  readonly values?: Values;
  /**
   * Returns a query with the columns `id` and `record`, possibly with duplicates, for the live rows of the type and the tenant
   * that match. The query may leave out rows whose entry has no key from one of the sets, because the index is queried for all
   * sets together.
   */
  readonly rows?: (binds: Binds, sets?: readonly (readonly string[])[]) => string;
  /**
   * True if the predicate is a condition on the recording time, so that an index on the tenant's resources in that order leads
   * to its rows.
   */
  readonly recorded?: true;
  /** True if the predicate usually matches so many rows that a walk along the result's order soon finds enough of them. */
  readonly wide?: true;
  /** The targets of the predicate's references, if the predicate can also be expressed with their ids. */
  readonly resolvable?: Resolvable;
  /** The parameters from which the predicate was made, as written, for `explain.ts`. */
  readonly asked?: readonly string[];
  /** True if the predicate reads only `r.id` and `r.record`, which are also columns of the row's entry in `search`. */
  readonly ofEntry?: boolean;
}

/** Rows in a table of the read model `search` that contain an `id` and a parameter's `key`. */
export interface Values {
  readonly table: string;
  /** The table's alias in the condition. */
  readonly as: string;
  /** The keys of the parameter, or of the parameters that contain its values. */
  readonly keys: readonly string[];
  /** The column with the keys, if it isn't `key`: `about` contains the code with which the values are stored (composites). */
  readonly by?: 'key' | 'about';
  /** True if a resource has at most one value for each of its codes. */
  readonly single?: boolean;
  /**
   * Returns the remaining condition, including the part, if any, for which an index over (key, low) or (key, folded) can be
   * used.
   */
  condition(binds: Binds): string;
  /** The range that the condition implies. */
  readonly span?: Span;
}

/** The targets of a predicate's references, and the same predicate expressed with their ids. */
export interface Resolvable {
  /** Returns a query with the columns `type` and `id`. A resource may occur in the result twice. */
  found(binds: Binds): string;
  /** Returns the predicate that rows refer to one of the given resources. */
  referToNamed(found: readonly Named[]): Predicate;
}

/** A resource that a reference may name. */
export interface Named {
  readonly type: string;
  readonly id: string;
}

/** Notes on a predicate from which parameters it was made. Nothing else may have stored the predicate yet. */
export function askedAs(asked: readonly string[], predicate: Predicate): Predicate {
  return Object.assign(predicate, { asked });
}

/** Returns the parameters from which the predicates were made, each once. */
export function askedBy(predicates: readonly Predicate[]): readonly string[] {
  return [...new Set(predicates.flatMap(({ asked }) => asked ?? []))];
}
