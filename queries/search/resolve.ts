/**
 * Looks up what a chain leads to before the search itself: so a chained search goes the ways of the same search by ids, and
 * costs no more than that and the look-up.
 */
import { Binds } from '../binds.ts';
import { type Asks, prepared } from '../prepared.ts';
import type { Predicate } from './predicate.ts';

/** Most resources that are looked up: as many as a search may name. What leads to more is asked within the search. */
const MOST_FOUND = 1_000;

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

/** Replaces predicates that are asked by what they lead to, if that is not too much. One statement for each. */
export function resolved(pool: Asks, predicates: readonly Predicate[]): Promise<readonly Predicate[]> {
  if (predicates.every(({ resolvable }) => resolvable === undefined)) return Promise.resolve(predicates);
  return Promise.all(predicates.map((predicate) => resolvedOne(pool, predicate)));
}

async function resolvedOne(pool: Asks, predicate: Predicate): Promise<Predicate> {
  const { resolvable } = predicate;
  if (resolvable === undefined) return predicate;
  const binds = new Binds();
  const sql = `select distinct f.type, f.id from (${resolvable.found(binds)}) f limit ${MOST_FOUND + 1}`;
  const { rows } = await pool.query<{ type: string; id: string }>(prepared(sql, binds.values));
  return rows.length > MOST_FOUND ? predicate : resolvable.named(rows);
}
