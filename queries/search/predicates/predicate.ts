/** The predicate of a search parameter: an SQL condition on a row. */
import type { Binds } from '../../database/binds.ts';
import type { Span } from './span.ts';

/** Gives the condition's SQL, its values bound. The row is `r` unless the predicate says otherwise. */
export interface Predicate {
  (binds: Binds): string;
  /** True if it names the rows by id or record, so that an index leads directly to them. */
  readonly keyed?: boolean;
  /** It holds exactly for rows whose entry in the read model `search` has one of these keys. */
  readonly keys?: readonly string[];
  /**
   * Returns equivalent keys for one record: of its rows, exactly those with one of `keys` have one of these.
   */
  readonly keysInRecord?: (record: string) => readonly string[];
  /** It holds exactly for rows whose entry has none of these keys. */
  readonly without?: readonly string[];
  /**
   * Keys of which every matching row's entry has one; set if the predicate has its own condition that is as efficient
   * by itself.
   */
  readonly implied?: () => readonly string[];
  /** The records that it holds for rows of, and for no others of the search's type. */
  readonly inRecords?: readonly string[];
  /** Returns the same predicate for only some of these records. */
  readonly narrowed?: (records: readonly string[]) => Predicate;
  /** It holds exactly for rows with one of these values in the read model `search`. */
  readonly values?: Values;
  /**
   * Returns a query, with `id` and `record`, for the matching live rows of the type and the tenant, possibly
   * with duplicates. Rows whose entry lacks a key of one of the sets may be left out: the index is asked for
   * all sets together.
   */
  readonly rows?: (binds: Binds, sets?: readonly (readonly string[])[]) => string;
  /**
   * True if it is a condition on the recording time: an index of the tenant's resources in that order leads
   * to its rows.
   */
  readonly recorded?: true;
  /**
   * True if it usually matches so many rows that a walk along the result's order soon finds enough of them.
   */
  readonly wide?: true;
  /** The targets of its references, if it can also be expressed with their ids. */
  readonly resolvable?: Resolvable;
  /** The parameters that it comes from, as they were written: for `explain.ts`. */
  readonly asked?: readonly string[];
  /** True if it reads only `r.id` and `r.record`, which the row's entry in `search` has too. */
  readonly ofEntry?: boolean;
}

/** Rows of a table of the read model `search` that have an `id` and a parameter's `key`. */
export interface Values {
  readonly table: string;
  /** The table's name in the condition. */
  readonly as: string;
  /** The keys of the parameter, or of the parameters that hold its values. */
  readonly keys: readonly string[];
  /** The column of the keys, if it isn't `key`: `about`, the code of the values (composites). */
  readonly by?: 'key' | 'about';
  /** True if a resource has at most one of them for each of its codes. */
  readonly single?: boolean;
  /**
   * Returns the remaining condition, including a part that an index over (key, low) or (key, folded) can use,
   * if there is one.
   */
  condition(binds: Binds): string;
  /** The range that the condition implies. */
  readonly span?: Span;
}

/** The targets of a predicate's references, and the same predicate expressed with their ids. */
export interface Resolvable {
  /** A query with the columns `type` and `id`, in which a resource may come twice. */
  found(binds: Binds): string;
  /** The predicate that rows refer to one of these. */
  referToNamed(found: readonly Named[]): Predicate;
}

/** A resource that a reference may name. */
export interface Named {
  readonly type: string;
  readonly id: string;
}

/** Notes on a predicate, which nothing else holds yet, from which parameters it comes. */
export function askedAs(asked: readonly string[], predicate: Predicate): Predicate {
  return Object.assign(predicate, { asked });
}

/** Returns the parameters that predicates come from, each once. */
export function askedBy(predicates: readonly Predicate[]): readonly string[] {
  return [...new Set(predicates.flatMap(({ asked }) => asked ?? []))];
}
