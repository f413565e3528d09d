/**
 * A search, parsed and ready to be planned: its conditions (including the targets of chains), its order, and its start. The
 * targets of a chain are looked up before the search itself, so a chained search uses the same plans as a search by ids. Under
 * a grant, a search finds only resources that the caller can see. Conditions on the same values are combined into one lookup.
 */
import type { Terminology } from '#src/fhir/terminology.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { categoriesFor, type Letters } from '#src/shared/access/access.ts';
import type { Sees } from '#src/shared/access/caller.ts';
import type { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { Binds } from '../database/binds.ts';
import { costlySearch, isCanceled } from '../database/gather.ts';
import { type Asks, prepared } from '../database/prepared.ts';
import { andSeen, findHome, type Seeing, seesType } from '../sight.ts';
import { compartmentPredicate, type NamedCompartment } from './compartment.ts';
import { makeOrder } from './order.ts';
import { type ParsedSearch, parseSearch } from './parse.ts';
import type { Asked } from './plan.ts';
import { noKeysPredicate, valuesPredicate } from './predicates/conditions.ts';
import { askedAs, askedBy, type Named, type Predicate, type Values } from './predicates/predicate.ts';
import { both } from './predicates/span.ts';
import { referableIn } from './referable.ts';
import { readStart, reversed, type Start } from './start.ts';
import { findAbout } from './statements/about.ts';

export interface SearchRequest {
  readonly type: ResourceType;
  readonly query: URLSearchParams;
  /** The Patient compartment: only resources in this record. */
  readonly record?: string;
  /** A compartment other than a Patient's. */
  readonly compartment?: NamedCompartment;
  /** Base URL of the FHIR interface, with a trailing slash. */
  readonly base: string;
  /** Letters that a grant must have on the matches' types; default: `s`. */
  readonly letters?: Letters;
  /** True if identifiers are compared exactly. */
  readonly exact?: true;
  /** The page's limits. Default: a separate budget. */
  readonly budget?: AnswerBudget;
}

/** A parsed request. */
interface Understood {
  readonly search: ParsedSearch;
  /** The requested page, in the order in which it is read: the order is reversed for a page that is read backward. */
  readonly asked: Asked;
  readonly start: Start;
  /** True if there are no matches because the caller can't see anything of this type: nothing has to be looked up. */
  readonly empty: boolean;
  /** Conditions whose values have already been looked up. */
  readonly lookedUp: readonly LookedUp[];
}

/**
 * Parses a request and looks up the targets of its chains.
 * @throws Refusal `malformed` naming a parameter with an invalid value or modifier
 */
export async function understandRequest(
  pool: Asks,
  terminology: Terminology,
  sees: Sees,
  { type, record, compartment, base, exact, query, letters = 's' }: SearchRequest,
): Promise<Understood> {
  const now = nowMicros();
  const { ownerId: tenant, within: grant } = sees;
  const scope = { type, tenant, sees, base, now, ...(exact === undefined ? {} : { exact }) };
  const referable = grant && (await referableIn(pool, tenant, grant, `${query}`));
  const search = await parseSearch(
    query,
    referable === undefined ? scope : { referable, ...scope },
    terminology,
  );
  const sorted = makeOrder(type, sees, search.sorts);
  const start = readStart(search.cursor, sorted);
  const { made, last, backward, most } = start;
  const order = backward === true ? reversed(sorted) : sorted;
  const about = findAbout(scope, order, search.used);
  const within =
    compartment === undefined
      ? []
      : [askedAs([`${compartment.type}/${compartment.id}`], compartmentPredicate(compartment, scope))];
  const { predicates, lookedUp } = await resolved(pool, [...within, ...search.predicates]);
  const { empty = false, ...seen } = seenIn(sees, letters, type, record);
  const asked = {
    selection: { type, tenant, ...seen, predicates: [...merged(predicates), ...seen.predicates] },
    order,
    limit: Math.min(search.count, most ?? search.count) + 1,
    total: search.total,
    ...(last === undefined ? {} : { last }),
    ...(made === undefined ? {} : { made }),
    ...(about === undefined ? {} : { about }),
  };
  return { search, asked, start, empty, lookedUp };
}

/**
 * Merges predicates on the same values of a resource, so that both bounds of a range narrow a single lookup. Also merges
 * predicates that require keys to be absent, so that an entry is read only once for all of them.
 */
function merged(predicates: readonly Predicate[]): readonly Predicate[] {
  const absent = predicates.filter(({ without }) => without !== undefined);
  const without = absent.flatMap((predicate) => predicate.without ?? []);
  const found: Predicate[] = without.length === 0 ? [] : [askedAs(askedBy(absent), noKeysPredicate(without))];
  for (const predicate of predicates) {
    if (predicate.without !== undefined) continue;
    const at = found.findIndex((each) => areSame(each.values, predicate.values));
    const [before, { values }] = [found[at], predicate];
    if (before?.values === undefined || values === undefined) found.push(predicate);
    else
      found[at] = askedAs(askedBy([before, predicate]), valuesPredicate(conjunction(before.values, values)));
  }
  return found;
}

function areSame(one: Values | undefined, other: Values | undefined): boolean {
  return (
    one?.single === true &&
    other?.single === true &&
    one.table === other.table &&
    one.keys.join() === other.keys.join()
  );
}

function conjunction(one: Values, other: Values): Values {
  const span = both(one.span, other.span);
  return {
    ...one,
    condition: (binds) => `(${one.condition(binds)}) and (${other.condition(binds)})`,
    ...(span === undefined ? {} : { span }),
  };
}

/** Conditions that are added to a search. */
interface Added {
  /** The record that contains all matches. */
  readonly record?: string;
  readonly predicates: readonly Predicate[];
  /** True if there are no matches because the caller can't see anything of the type or the record. */
  readonly empty?: true;
}

const NOTHING: Predicate = Object.assign(() => 'false', { ofEntry: true });

/**
 * Returns the record and the conditions for a search of a type; under a grant, the conditions include what the grant covers.
 * @param letters the letters that the grant must have on the matches' types
 * @param record the record of the search's own compartment
 */
function seenIn(sees: Seeing, letters: Letters, type: string, record: string | undefined): Added {
  const { within } = sees;
  const own = record === undefined ? {} : { record };
  if (within === undefined)
    return sees.types === undefined || seesType(sees, type, letters)
      ? { predicates: [], ...own }
      : { predicates: [NOTHING], empty: true, ...own };
  const home = findHome(type);
  const elsewhere = home === 'record' && record !== undefined && record !== within.record;
  const added = home === 'record' ? { record: within.record } : own;
  if (elsewhere || !seesType(sees, type, letters)) return { predicates: [NOTHING], empty: true, ...added };
  const isWhole = [...letters].every((letter) => categoriesFor(within.access, type, letter) === 'all');
  if (isWhole && type !== 'Provenance' && home !== 'either') return { predicates: [], ...added };
  return { predicates: [seenPredicate(sees, letters, type)], ...added };
}

/** Returns the predicate that a resource of a type is visible; it is the whole condition on the resource's row. */
function seenPredicate(sees: Seeing, letters: Letters, type: string): Predicate {
  return (binds: Binds) =>
    andSeen(sees, letters, { as: 'r', of: 'current', type }, binds.add.bind(binds)).replace(/^and /, '');
}

/**
 * The maximum number of resources to look up for a condition, which is also the number that a search may name. A condition
 * that leads to more becomes part of the search's statement.
 */
const MOST_FOUND = 1_000;

/** A condition that has been looked up. */
interface LookedUp {
  readonly predicate: Predicate;
  readonly sql: string;
  readonly values: readonly unknown[];
  /** The number of resources to which the condition leads; undefined if that is above the limit. */
  readonly found?: number;
}

/**
 * Replaces predicates with the ids of their targets, if there are only a few. Statements run one after the other, because
 * searches share a small number of connections. Several sets of records are reduced to their intersection.
 */
async function resolved(
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
    found.push(isMany ? predicate : askedAs(askedBy([predicate]), resolvable.referToNamed(rows)));
    lookedUp.push({ predicate, sql, values: binds.values, ...(isMany ? {} : { found: rows.length }) });
  }
  return { predicates: inCommonRecords(found), lookedUp };
}

/** Returns the predicates, with all predicates on records combined into one. */
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
