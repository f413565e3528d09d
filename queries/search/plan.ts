/**
 * Chooses how to find a page of a search, based only on the query, without looking at the database. `find.ts` runs a plan;
 * `explain.ts` prints it.
 */

import { inRecordsPredicate, rowsInRecords } from './kinds/record.ts';
import { conditionsOn, isEverywhere, type OrderKey } from './order.ts';
import type { Predicate } from './predicates/predicate.ts';
import { isInRecord, isNarrow, listSources, onlyRecord, type Selection, type Source } from './selection.ts';
import type { About } from './statements/about.ts';
import { withoutText } from './statements/entry-sort.ts';
import type { Wanted } from './statements/page.ts';
import { type Path, walkPath, withoutValue } from './statements/value-walk.ts';

/** The page that a search requests. */
export interface Asked extends Wanted {
  /**
   * The code that all matches have in common, if there is exactly one and the results are sorted by values that are stored
   * with codes.
   */
  readonly about?: About;
}

/** How a statement finds a page. */
export type Step =
  /** Reads the rows of a source or, without a source, all matches, and sorts them. */
  | {
      readonly kind: 'sort';
      readonly source: Source | undefined;
      /** If the source has more rows than this, the next step is run. */
      readonly most?: number;
      /** True if a source with more rows is remembered, so that this step is skipped for a while. */
      readonly remembered?: true;
    }
  /** Sorts all entries that an index finds, by a token or a reference in the entries. */
  | { readonly kind: 'sort-entries'; readonly source: Source | undefined }
  /** Walks through resources in the order of `_id` or `_lastUpdated`. */
  | ({ readonly kind: 'walk-resources'; readonly most?: number } & Walk)
  /** Walks through stored values in their order. */
  | ({ readonly kind: 'walk-values'; readonly path: Path } & Walk);

interface Walk {
  /** The source from which the total is counted. */
  readonly counted?: Source;
  /** If this step finds fewer matches than this, the next step is skipped. */
  readonly promising?: number;
}

/** A search's plan: for a page, or only for a total. */
export type Plan = PagePlan | CountPlan;

/** How a total is counted: from a source or, without a source, from all matches. */
export interface CountPlan {
  readonly kind: 'count';
  readonly source: Source | undefined;
}

/** How a page is found. Steps run one after the other until one of them finds the page; the last step always finds it. */
export type PagePlan =
  /** Ids, identifiers or records lead to the matches. */
  | { readonly kind: 'named'; readonly steps: readonly Step[] }
  /** Indexes over what resources say lead to the matches. */
  | { readonly kind: 'sources'; readonly steps: readonly Step[] }
  /** The matches can be found only by a walk along the order. */
  | {
      readonly kind: 'order';
      /** Absent if the page begins among resources that have no value for the sort key. */
      readonly step?: Step;
      /** If the step doesn't fill the page, the resources without a value for the sort key follow. */
      readonly without?: Predicate;
    };

/** The limits that determine which step is taken. */
export interface Limits {
  /** A source with more rows than this isn't sorted if a walk along the order can fill the page. */
  readonly few: number;
  /** How many rows such a walk reads before the source is sorted after all. */
  readonly far: number;
}

/** With a million resources, each of these steps takes about ten milliseconds at most. */
export const LIMITS: Limits = { few: 4_000, far: 20_000 };

/** For wide predicates, a source of up to this many pages of rows is sorted immediately. */
const PROBED = 4;

/** The number of rows that are read along the order after that: few in the first walk, more in the second. */
const WALKS = [250, 2_000] as const;

/**
 * The share of a page that a walk must find to justify the next walk, which is eight times as long and therefore usually fills
 * the page.
 */
const PROMISING = 1 / 8;

/** In several records, up to this many rows are sorted immediately. */
const FEW_IN_RECORDS = 1_000;

/** How many of a code's values in a record are read before the rows that the code's keys find are sorted instead. */
const FAR_IN_RECORD = 1_000;

/**
 * Quantities are sorted first only up to this number, because a walk along a different order soon finds enough matches for a
 * common range.
 */
const FEW_QUANTITIES = 500;

/** Chooses how a total is counted. */
export function countPlan(selection: Selection): CountPlan {
  const [source] = listSources(selection);
  return { kind: 'count', source: isNarrow(selection) && source?.kind !== 'keys' ? undefined : source };
}

/** Chooses how a page is found. */
export function planPage(asked: Asked, limits: Limits = LIMITS): PagePlan {
  const { selection, order } = asked;
  const sources = listSources(selection);
  if (isNarrow(selection)) return { kind: 'named', steps: namedSteps(asked, sources, limits) };
  if (sources.every((each) => isAlong(order, each))) return alongOrder(asked);
  return { kind: 'sources', steps: sourceSteps(asked, sources, limits) };
}

function namedSteps(asked: Asked, sources: readonly Source[], limits: Limits): Step[] {
  const { order } = asked;
  const [source] = sources;
  const inRecord = walkInRecord(asked);
  const walks = order.length === 1 && order.every(isEverywhere) && source === undefined;
  return [
    ...(inRecord === undefined ? [] : [inRecord]),
    ...stepsInRecords(asked, source, limits),
    ...stepsInRecord(asked, sources, limits),
    walks
      ? { kind: 'walk-resources' }
      : { kind: 'sort', source: source?.kind === 'keys' ? source : undefined },
  ];
}

/**
 * Returns the steps for one record: if it has few rows, all are sorted. Otherwise, walks along the order come first, and the
 * values that meet a condition on dates or quantities, if they are few in the whole project. An order by `_id` or
 * `_lastUpdated` needs no walk, because PostgreSQL sorts quickly by them; dates of a code have their own (`walkInRecord`).
 */
function stepsInRecord(asked: Asked, [source, ...others]: readonly Source[], { few, far }: Limits): Step[] {
  const { about, selection, order, total } = asked;
  const record = onlyRecord(selection);
  if (record === undefined || (source !== undefined && source.kind !== 'keys')) return [];
  const windows = others.flatMap((other) =>
    other.kind === 'values' && other.values.table !== 'string' ? sortedValues(other, few) : [],
  );
  // Conditions on resources would be looked up once more for each row of a record that is sorted.
  const isOfEntries = about === undefined && selection.predicates.every(({ ofEntry }) => ofEntry);
  const walks = isOfEntries && order[0]?.place !== undefined ? walksFor(asked, far) : [];
  // A walk with a total counts as well: it runs once, and only if the count reads no values.
  const counts = selection.predicates.every((each) => each.inRecords !== undefined);
  const taken = total ? (counts ? walks.slice(-1) : []) : walks;
  if (windows.length + taken.length === 0) return [];
  const own = selection.predicates.find((each) => isInRecord(each, record));
  const of = own ?? inRecordsPredicate([record], selection);
  const all: Source = { kind: 'rows', rows: rowsInRecords([record], selection), of };
  return [{ kind: 'sort', source: source ?? all, most: few, remembered: true }, ...taken, ...windows];
}

/**
 * Returns the steps for several records: if the records have few rows, all rows are sorted; otherwise a walk along the order
 * comes first. There are no such steps for a search with a total, which reads all rows anyway, or for a search sorted by
 * `_id`, which PostgreSQL does quickly.
 */
function stepsInRecords(asked: Asked, source: Source | undefined, { few, far }: Limits): Step[] {
  const { predicates } = asked.selection;
  const of = predicates.find(({ inRecords = [] }) => inRecords.length > 1);
  if (
    of?.inRecords === undefined ||
    asked.total ||
    asked.order[0]?.by === '_id' ||
    isNarrow({ predicates: predicates.filter((each) => each !== of) })
  )
    return [];
  const records: Source = { kind: 'rows', rows: rowsInRecords(of.inRecords, asked.selection), of };
  const from = source?.kind === 'keys' ? source : records;
  const [sorted, ...walks] = probes(asked, from, Math.min(few, FEW_IN_RECORDS), far);
  return sorted === undefined || walks.length === 0 ? [] : [sorted, ...walks];
}

/** Returns the walk along the dates of one code in one record; undefined if the search or its order needs more than that. */
function walkInRecord({ about, order, last, total, selection }: Asked): Step | undefined {
  const place = order[0]?.place;
  const record = onlyRecord(selection);
  if (about === undefined || record === undefined || place?.table !== 'period') return undefined;
  if (order.length > 1 || total || last?.keys[0] === null) return undefined;
  const path = walkPath(place, FAR_IN_RECORD, about, record);
  return path === undefined ? undefined : { kind: 'walk-values', path };
}

function sourceSteps(asked: Asked, sources: readonly Source[], { few, far }: Limits): Step[] {
  const [first] = sources;
  const steps = [
    ...(!asked.total && asked.selection.predicates.some(({ wide }) => wide)
      ? probes(asked, first, PROBED * asked.limit, far)
      : []),
    ...tried(asked, sources, few),
  ];
  const all = { kind: 'sort', source: first } as const;
  if (asked.order[0]?.inEntry !== undefined) {
    return [...steps, first === undefined || first.kind === 'keys' ? { ...all, kind: 'sort-entries' } : all];
  }
  const walk = walkAlong(asked, first, far);
  const about = valuesAbout(asked).map((source): Step => ({ kind: 'sort', source, most: few }));
  return [...steps, ...(walk === undefined ? [] : [walk]), ...about, all];
}

/** Returns steps that sort a few rows of a source, followed by short walks along the order. */
function probes(asked: Asked, source: Source | undefined, most: number, far: number): Step[] {
  return [{ kind: 'sort', source, most }, ...walksFor(asked, far)];
}

/** Returns short walks along the order; none if no index has that order. */
function walksFor(asked: Asked, far: number): Step[] {
  const [short, ...longer] = WALKS.flatMap(
    (length) => walkAlong(asked, undefined, Math.min(far, length)) ?? [],
  );
  return short === undefined ? [] : [{ ...short, promising: asked.limit * PROMISING }, ...longer];
}

/** Returns the sources to sort before a walk, if they have few rows. Conditions on the sort key limit the walk itself. */
function tried({ about, order, selection }: Asked, sources: readonly Source[], few: number): Step[] {
  const along = conditionsOn(order[0]?.place, selection.predicates);
  return sources.flatMap((source): Step[] => {
    if (about !== undefined || isAlong(order, source)) return [];
    if (source.kind !== 'values') return [{ kind: 'sort', source, most: few, remembered: true }];
    return along.includes(source.of) ? [] : sortedValues(source, few);
  });
}

/** Returns a step that sorts a few values; none for quantities without a span, because an index covers only one end. */
function sortedValues(source: Extract<Source, { kind: 'values' }>, few: number): Step[] {
  const { table, span } = source.values;
  if (table === 'quantity' && span === undefined) return [];
  const most = table === 'quantity' ? Math.min(few, FEW_QUANTITIES) : few;
  return [{ kind: 'sort', source, most, remembered: true }];
}

/** Returns true if a source is a condition on the recording time and the order is that of the source's index. */
function isAlong(order: readonly OrderKey[], source: Source): boolean {
  return order[0]?.by === '_lastUpdated' && source.kind === 'rows' && source.of.recorded === true;
}

/** Returns the values by which matches are ordered and which are stored with the code, bounded by each condition on them. */
function valuesAbout({ about, order, selection }: Asked): readonly Source[] {
  if (about === undefined) return [];
  return conditionsOn(order[0]?.place, selection.predicates).flatMap((of): Source[] =>
    of.values === undefined
      ? []
      : [{ kind: 'values', values: { ...of.values, by: 'about', keys: [about.key] }, of }],
  );
}

/**
 * Returns a walk along the order; undefined if no index has that order.
 * @param counted the source from which the total is counted
 * @param most the number of rows to read; undefined for all rows
 */
function walkAlong(
  { order, last, about }: Asked,
  counted: Source | undefined,
  most: number | undefined,
): (Step & Walk) | undefined {
  const [first, ...others] = order;
  if (first?.inEntry !== undefined) return undefined;
  const of = counted === undefined ? {} : { counted };
  if (first?.place === undefined) {
    if (others.length > 0) return undefined;
    return { kind: 'walk-resources', ...of, ...(most === undefined ? {} : { most }) };
  }
  const path = walkPath(first.place, most, about);
  return path === undefined || last?.keys[0] === null ? undefined : { kind: 'walk-values', path, ...of };
}

function alongOrder(asked: Asked): PagePlan {
  const { order, last } = asked;
  const [first] = order;
  const without = first === undefined ? undefined : withoutFirst(first);
  const isEnd = last !== undefined && last.keys[0] === null;
  const entries: Step | undefined = isEnd ? undefined : { kind: 'sort-entries', source: undefined };
  const step = first?.inEntry === undefined ? walkAlong(asked, undefined, undefined) : entries;
  if (without === undefined) return { kind: 'order', step: step ?? { kind: 'sort', source: undefined } };
  return { kind: 'order', without, ...(step === undefined ? {} : { step }) };
}

/**
 * Returns the predicate that a resource has no value for the first key of an order; undefined if all resources have a value,
 * or no table shows whether they have one.
 */
function withoutFirst(first: OrderKey): Predicate | undefined {
  if (first.inEntry !== undefined) return withoutText(first);
  const { place } = first;
  return place === undefined || place.keys.length > 1 ? undefined : withoutValue(place);
}
