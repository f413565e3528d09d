/**
 * Looks up what a chain leads to before the search itself: so a chained search goes the ways of the same search by ids, and
 * costs no more than that and the look-up.
 */
import { Binds } from '../binds.ts';
import { type Asks, prepared } from '../prepared.ts';
import { costlySearch, isCanceled } from '../too-costly.ts';
import { askedAs, askedBy, type Named, type Predicate } from './predicate.ts';

/** Most resources that are looked up: as many as a search may name. What leads to more is asked within the search. */
const MOST_FOUND = 1_000;

/** A condition that was looked up. */
export interface LookedUp {
  readonly predicate: Predicate;
  readonly sql: string;
  readonly values: readonly unknown[];
  /** The number of resources that it leads to; undefined: above the limit. */
  readonly found?: number;
}

/**
 * Replaces predicates by the ids of their targets, if there are few. It runs one statement after the other,
 * because searches share few connections. Of several sets of records the intersection remains.
 */
export async function resolved(
  pool: Asks,
  predicates: readonly Predicate[],
): Promise<{ readonly predicates: readonly Predicate[]; readonly lookedUp: readonly LookedUp[] }> {
  if (predicates.every(({ resolvable }) => resolvable === undefined)) return { predicates, lookedUp: [] };
  const found: Predicate[] = [];
  const lookedUp: LookedUp[] = [];
  for (const predicate of predicates) {
    const { resolvable } = predicate;
    if (resolvable === undefined) {
      found.push(predicate);
      continue;
    }
    const binds = new Binds();
    const sql = `select distinct f.type, f.id from (${resolvable.found(binds)}) f limit ${MOST_FOUND + 1}`;
    const { rows } = await pool.query<Named>(prepared(sql, binds.values)).catch((error: unknown) => {
      throw isCanceled(error) ? costlySearch([], askedBy([predicate])) : error;
    });
    const isMany = rows.length > MOST_FOUND;
    found.push(isMany ? predicate : askedAs(askedBy([predicate]), resolvable.named(rows)));
    lookedUp.push({ predicate, sql, values: binds.values, ...(isMany ? {} : { found: rows.length }) });
  }
  return { predicates: inCommonRecords(found), lookedUp };
}

/** Returns the predicates with those on records combined to one. */
function inCommonRecords(predicates: readonly Predicate[]): readonly Predicate[] {
  const all = predicates.filter(({ narrowed }) => narrowed !== undefined);
  const [first, ...others] = all;
  if (first?.narrowed === undefined || others.length === 0) return predicates;
  const sets = others.map(({ inRecords }) => new Set(inRecords));
  const common = (first.inRecords ?? []).filter((id) => sets.every((set) => set.has(id)));
  return [
    askedAs(askedBy(all), first.narrowed(common)),
    ...predicates.filter(({ narrowed }) => narrowed === undefined),
  ];
}
