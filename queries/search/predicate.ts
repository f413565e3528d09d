/** What a search parameter comes down to: a condition in SQL over a row. */
import type { Binds } from '../binds.ts';
import type { Span } from './span.ts';

/** Gives the condition's SQL, its values bound. The row is `r` unless the predicate says otherwise. */
export interface Predicate {
  (binds: Binds): string;
  /** Whether it names the rows by their ids or their records, so that an index leads straight to them. */
  readonly keyed?: boolean;
  /** It holds for rows whose entry in the read model `search` has one of these keys, and for no others. */
  readonly keys?: readonly string[];
  /** The same keys for the rows of one record alone: of a record's rows those have one that have one of `keys`. */
  readonly keysInRecord?: (record: string) => readonly string[];
  /** It holds for rows whose entry has none of these keys, and for no others. */
  readonly without?: readonly string[];
  /** Keys of which entries of all its rows have one, when it has a condition of its own that is as good by itself. */
  readonly implied?: () => readonly string[];
  /** The records that it holds for rows of, and for no others of the search's type. */
  readonly inRecords?: readonly string[];
  /** The same predicate for some of these records. */
  readonly narrowed?: (records: readonly string[]) => Predicate;
  /** It holds for rows with one of these values in the read model `search`, and for no others. */
  readonly values?: Values;
  /**
   * The rows that it holds for, live ones of the type and the tenant, some perhaps twice: a query with `id` and `record`.
   * Those whose entry has not one key of each of some sets may be left out: these are asked of the index together.
   */
  readonly rows?: (binds: Binds, sets?: readonly (readonly string[])[]) => string;
  /** The condition on the time of recording that it is: an index of the tenant's resources in that order leads to its rows. */
  readonly recorded?: true;
  /** Whether it finds so many rows, as a rule, that a walk along the answer's order soon meets enough of them. */
  readonly wide?: true;
  /** What it leads to, where it is asked for by references and can as well name what they refer to. */
  readonly resolvable?: Resolvable;
  /** The parameters that it comes from, as they were written: for `explain.ts`. */
  readonly asked?: readonly string[];
  /** Whether it reads no more of a row than `r.id` and `r.record`, which the row's entry in `search` has as well. */
  readonly ofEntry?: boolean;
}

/** Rows of a table of the read model `search` that have an `id` and a parameter's `key`. */
export interface Values {
  readonly table: string;
  /** The table's name in the condition. */
  readonly as: string;
  /** Of the parameter, or of those that hold its values. */
  readonly keys: readonly string[];
  /** The column of the keys, when it is not `key`: `about`, what values are of (composites). */
  readonly by?: 'key' | 'about';
  /** Whether a resource has one of them at most, once for each of its codes. */
  readonly single?: boolean;
  /** What else they must be; with what an index over (key, low) or (key, folded) can use, if anything. */
  condition(binds: Binds): string;
  /** What the condition implies for ranges. */
  readonly span?: Span;
}

/** What a predicate's references lead to, and the same predicate by its ids. */
export interface Resolvable {
  /** A query with the columns `type` and `id`, in which a resource may come twice. */
  found(binds: Binds): string;
  /** The predicate that rows refer to one of these. */
  named(found: readonly Named[]): Predicate;
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
