/** Which way a page is found: from what an index gives, when that is little, or along the order until it is full. */
import { LRUCache } from 'lru-cache';
import type { Micros } from '#src/shared/time.ts';
import { Binds } from '../binds.ts';
import { rowsIn } from '../joined-rows.ts';
import { type Asks, prepared } from '../prepared.ts';
import type { About } from './about.ts';
import { entrySort, withoutText } from './entry-sort.ts';
import { conditionsOn, isEverywhere, type OrderKey } from './order.ts';
import { candidates, resourceWalk, total, type Wanted } from './page.ts';
import type { Predicate } from './predicate.ts';
import { isNarrow, recordOf, type Selection, type Source, sourcesOf } from './selection.ts';
import { pathOf, valueWalk, withoutValue } from './value-walk.ts';

/** A page that is asked for. */
export interface Asked extends Wanted {
  /** The selection is of one code, the order that of its values. */
  readonly about?: About;
}

/** A row of a page: its place in the order, and the resource, which is null when it is just being deleted. */
export interface FoundRow {
  readonly place: string;
  readonly keys: readonly (string | null)[];
  readonly version: number | null;
  readonly last_updated: Micros;
  /** Or its size, where it is large (`large-bodies.ts`). */
  readonly body: string;
}

/** What a statement gives. */
interface Row {
  readonly total: number | null;
  readonly over: boolean;
  /** As `framed` joins them. */
  readonly rows: string | null;
}

/** A page, with its total where that was asked for. */
export interface Found {
  readonly total?: number;
  readonly rows: readonly FoundRow[];
}

/** Finds pages and totals. */
export interface Find {
  page(asked: Asked): Promise<Found>;
  total(selection: Selection): Promise<number>;
}

/** When which way is taken. */
export interface Limits {
  /** A source with more rows than this is not sorted when a walk along the order can fill the page. */
  readonly few: number;
  /** How far such a walk goes before the source is sorted after all. */
  readonly far: number;
}

/** At a million resources either way takes some ten milliseconds at most. */
export const LIMITS: Limits = { few: 4_000, far: 20_000 };

/** Sources that had more than a few rows, and for how long that is believed, in ms. Those of very many keys are not kept. */
const KNOWN = 1_000;
const KNOWN_LENGTH = 2_000;
const KNOWN_MS = 600_000;

/** How many times a page of what a wide predicate finds is sorted at once. */
const PROBED = 4;

/**
 * How many rows along the order are looked at then, and with what share of a page among them it's worth going on: a page
 * that a short walk fills by an eighth is filled by one eight times as long, as a rule.
 */
const WALKS = [
  [250, 1 / 8],
  [2_000, 1],
] as const;

/** How many values of a code in a record are passed before what its keys lead to is sorted after all. */
const FAR_IN_RECORD = 1_000;

/** Of quantities no more than so many are sorted first: a walk along another order soon meets enough of a common range. */
const FEW_QUANTITIES = 500;

/**
 * The sources that are tried before a walk, and up to how many rows each. Conditions on what is sorted by bound the walk
 * itself; of quantities without a span an index knows one end only.
 */
function tried(
  { about, order, selection }: Asked,
  sources: readonly Source[],
  few: number,
): [Source, number][] {
  const along = conditionsOn(order[0]?.place, selection.predicates);
  return sources.flatMap((source): [Source, number][] => {
    if (about !== undefined || isAlong(order, source)) return [];
    if (source.kind !== 'values') return [[source, few]];
    if (along.includes(source.of)) return [];
    if (source.values.table !== 'quantity') return [[source, few]];
    return source.values.span === undefined ? [] : [[source, Math.min(few, FEW_QUANTITIES)]];
  });
}

/** What a source is, as long as that is asked for in the same words; none where it is told by a statement alone. */
function nameOf(source: Source): string | undefined {
  if (source.kind === 'keys') return JSON.stringify(source.sets);
  if (source.kind === 'rows') return undefined;
  const { table, keys, condition } = source.values;
  const binds = new Binds();
  return JSON.stringify([table, keys, condition(binds), binds.values]);
}

/** Whether a source is a time of recording, and the order is that in which its index has them. */
function isAlong(order: readonly OrderKey[], source: Source): boolean {
  return order[0]?.by === '_lastUpdated' && source.kind === 'rows' && source.of.recorded === true;
}

/** The values of the code that an order is walked along, where they meet a condition on them. */
function valuesAbout({ about, order, selection }: Asked): readonly Source[] {
  if (about === undefined) return [];
  return conditionsOn(order[0]?.place, selection.predicates).flatMap((of): Source[] =>
    of.values === undefined
      ? []
      : [{ kind: 'values', values: { ...of.values, by: 'about', keys: [about.key] }, of }],
  );
}

/** The predicate that a resource has no value of an order's first key; undefined where all have one, or a table cannot say so. */
function withoutFirst(first: OrderKey): Predicate | undefined {
  if (first.inEntry !== undefined) return withoutText(first);
  const { place } = first;
  return place === undefined || place.keys.length > 1 ? undefined : withoutValue(place);
}

function foundRow(columns: readonly string[], order: readonly OrderKey[]): FoundRow {
  const [place = '', version = '', lastUpdated = '', ...others] = columns;
  const keys = order.map(({ type }, n) => {
    const key = others[n] ?? '';
    return type === 'text' ? (JSON.parse(key) as string | null) : key === '' ? null : key;
  });
  return {
    place,
    keys,
    version: version === '' ? null : Number(version),
    last_updated: Number(lastUpdated) as Micros,
    body: others[order.length] ?? '',
  };
}

/** Opens it over a database. */
export function openFind(pool: Asks, { few, far }: Limits): Find {
  const large = new LRUCache<string, true>({ max: KNOWN, ttl: KNOWN_MS });
  const run = async (
    { order }: Wanted,
    sql: (binds: Binds) => string,
  ): Promise<Found & { readonly over: boolean }> => {
    const binds = new Binds();
    const { rows } = await pool.query<Row>(prepared(sql(binds), binds.values));
    const [found] = rows;
    return {
      over: found?.over === true,
      ...(typeof found?.total === 'number' ? { total: found.total } : {}),
      rows: rowsIn(found?.rows).map((columns) => foundRow(columns, order)),
    };
  };

  const totalOf = async (selection: Selection): Promise<number> => {
    const binds = new Binds();
    const sources = sourcesOf(selection);
    const narrow = isNarrow(selection) && sources[0]?.kind !== 'keys';
    const sql = total(selection, narrow ? undefined : sources[0], binds);
    const { rows } = await pool.query<{ count: number }>(prepared(sql, binds.values));
    return rows[0]?.count ?? 0;
  };

  const fromSources = async (asked: Asked, sources: readonly Source[]): Promise<Found> => {
    const [first] = sources;
    if (!asked.total && asked.selection.predicates.some(({ wide }) => wide)) {
      const most = PROBED * asked.limit;
      const found = await run(asked, (binds) => candidates(asked, first, most, binds));
      if (!found.over) return found;
      for (const [length, least] of WALKS) {
        const walked = await walk(asked, undefined, Math.min(far, length));
        if (walked?.rows.length === asked.limit) return walked;
        if (walked === undefined || walked.rows.length < asked.limit * least) break;
      }
    }
    for (const [source, most] of tried(asked, sources, few)) {
      const name = nameOf(source);
      if (name !== undefined && large.has(name)) continue;
      const found = await run(asked, (binds) => candidates(asked, source, most, binds));
      if (!found.over) return found;
      if (name !== undefined && name.length <= KNOWN_LENGTH) large.set(name, true);
    }
    if (asked.order[0]?.inEntry !== undefined) return sortedEntries(asked, sources[0]);
    const walked = await walk(asked, sources[0], far);
    if (walked !== undefined && !walked.over && walked.rows.length === asked.limit) return walked;
    // All matches have a value to be sorted by, and none is left.
    const along = conditionsOn(asked.order[0]?.place, asked.selection.predicates);
    if (walked !== undefined && !walked.over && along.length > 0 && asked.order.length === 1) return walked;
    for (const source of valuesAbout(asked)) {
      const found = await run(asked, (binds) => candidates(asked, source, few, binds));
      if (!found.over) return found;
    }
    return run(asked, (binds) => candidates(asked, sources[0], undefined, binds));
  };

  /** By what entries say of a token or a reference: all that leads to them is sorted. */
  const sortedEntries = (asked: Asked, source: Source | undefined): Promise<Found> =>
    run(asked, (binds) =>
      source === undefined || source.kind === 'keys'
        ? entrySort(asked, source, asked.total ? total(asked.selection, source, binds) : undefined, binds)
        : candidates(asked, source, undefined, binds),
    );

  /** Undefined when the order cannot be walked. */
  const walk = async (
    asked: Asked,
    source: Source | undefined,
    most: number | undefined,
  ): Promise<(Found & { readonly over: boolean }) | undefined> => {
    const { selection, order, last } = asked;
    const [first] = order;
    if (first?.inEntry !== undefined) return undefined;
    const count = (binds: Binds) => (asked.total ? total(selection, source, binds) : undefined);
    if (first?.place === undefined) {
      if (order.length > 1) return undefined;
      return run(asked, (binds) => resourceWalk(asked, count(binds), most, binds));
    }
    const path = pathOf(first.place, most, asked.about);
    if (path === undefined || last?.keys[0] === null) return undefined;
    return run(asked, (binds) => valueWalk(asked, path, count(binds), binds));
  };

  /** Along the dates of one code in one record; undefined when there is more than these lead to. */
  const inRecord = async (asked: Asked): Promise<Found | undefined> => {
    const { about, order, last, limit, selection } = asked;
    const place = order[0]?.place;
    const record = recordOf(selection);
    if (about === undefined || record === undefined || place?.table !== 'period') return undefined;
    if (order.length > 1 || asked.total || last?.keys[0] === null) return undefined;
    const path = pathOf(place, FAR_IN_RECORD, about, record);
    if (path === undefined) return undefined;
    const walked = await run(asked, (binds) => valueWalk(asked, path, undefined, binds));
    const isWhole = conditionsOn(place, selection.predicates).length > 0 && !walked.over;
    return isWhole || walked.rows.length === limit ? walked : undefined;
  };

  /** Nothing but the order leads to the rows. */
  const alongOrder = async (asked: Asked): Promise<Found> => {
    const { order, limit, last } = asked;
    const [first] = order;
    const isEnd = last !== undefined && last.keys[0] === null;
    const walked =
      first?.inEntry === undefined
        ? await walk(asked, undefined, undefined)
        : isEnd
          ? undefined
          : await sortedEntries(asked, undefined);
    const without = first === undefined ? undefined : withoutFirst(first);
    if (without === undefined) {
      return walked ?? run(asked, (binds) => candidates(asked, undefined, undefined, binds));
    }
    const rows = walked?.rows ?? [];
    if (rows.length === limit) return { ...walked, rows };
    const rest = await withoutValues(asked, without, limit - rows.length, walked !== undefined);
    return { ...(walked ?? rest), rows: [...rows, ...rest.rows] };
  };

  /** The rows that have no value to be sorted by, which come last. */
  const withoutValues = async (
    asked: Asked,
    without: Predicate,
    limit: number,
    walked: boolean,
  ): Promise<Found> => {
    const { selection, order, last } = asked;
    const predicates = [...selection.predicates, without];
    const others = {
      ...asked,
      selection: { ...selection, predicates },
      limit,
      total: asked.total && !walked,
    };
    if (order.length > 1) {
      const uncounted = { ...others, total: false };
      const [found, sum] = await Promise.all([
        run(uncounted, (binds) => candidates(uncounted, undefined, undefined, binds)),
        others.total ? totalOf(selection) : undefined,
      ]);
      return { ...found, ...(sum === undefined ? {} : { total: sum }) };
    }
    const start = last?.keys[0] === null ? { last: { id: last.id, keys: [last.id] } } : { last: undefined };
    const { last: _, ...wanted } = others;
    const byId: Wanted = {
      ...wanted,
      ...(start.last === undefined ? {} : start),
      order: [{ by: '_id', type: 'uuid', descending: order[0]?.descending === true }],
    };
    const found = await run(byId, (binds) =>
      resourceWalk(byId, others.total ? total(selection, undefined, binds) : undefined, undefined, binds),
    );
    return { ...found, rows: found.rows.map((row) => ({ ...row, keys: [null] })) };
  };

  return {
    async page(asked) {
      const { selection, order } = asked;
      const sources = sourcesOf(selection);
      const [source] = sources;
      if (sources.every((each) => isAlong(order, each)) && !isNarrow(selection)) return alongOrder(asked);
      if (isNarrow(selection)) {
        const walked = await inRecord(asked);
        if (walked !== undefined) return walked;
        return order.length === 1 && order.every(isEverywhere) && source === undefined
          ? run(asked, (binds) =>
              resourceWalk(
                asked,
                asked.total ? total(selection, undefined, binds) : undefined,
                undefined,
                binds,
              ),
            )
          : run(asked, (binds) =>
              candidates(asked, source?.kind === 'keys' ? source : undefined, undefined, binds),
            );
      }
      return fromSources(asked, sources);
    },
    total: totalOf,
  };
}
