/**
 * Pages of the lists that the read model `timeline` maintains: all pages are as of the same time, newest entries first, and
 * each page is read by one index scan.
 */
import { z } from 'zod';
import { searchKey } from '#src/fhir/search/keys.ts';
import { categoriesFor, type Letters } from '#src/shared/access/access.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { type Micros, nowMicros } from '#src/shared/time/time.ts';
import { bucketNumber, bucketStart } from '#src/shared/time/time-bucket.ts';
import { partOfCategory } from '#src/v1/lists.ts';
import { decodeCursorFor, encodeCursorFor } from '../cursor.ts';
import { columnsIn, joinedColumns, joinedRows, rowsIn } from '../database/binds.ts';
import { type Asks, prepared } from '../database/prepared.ts';
import { type DayRange, type DayScan, planScans, rangeMoments } from '../day-scans.ts';
import { bodyOrSize, sizeOfLarge } from '../read.ts';
import { andSeen, type Bind, bindTo, type Seeing } from '../sight.ts';

/** A list of entries in a patient's record. */
export interface ListOf extends DayRange {
  /** The letters that a grant must have on the listed types: `s` for a list, `rs` for the timeline. */
  readonly letters: Letters;
  readonly patient: string;
  /** The types in the lists. */
  readonly types: readonly string[];
  /** Names of lists (`listNames`); the lists are merged. */
  readonly lists: readonly string[];
}

/** A list, and what its reader may see. */
interface SeenList extends ListOf {
  readonly sees: Seeing;
}

/** Which page to read. */
export interface PageOf {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** The start of a page: the time of the first page, its total, and the last row before this page. */
interface Start {
  readonly made: Micros;
  readonly total: number;
  readonly at: string;
  readonly id: string;
}

const place = z
  .tuple([z.int(), z.int(), z.string().regex(/^-?\d{1,18}$/), z.uuid()])
  .transform(([made, total, at, id]): Start => ({ made, total, at, id }));

/** A statement that returns one `PageRow`. */
interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

/**
 * A page as the database returns it. All rows form one text, which costs PostgreSQL and this process a third less than
 * separate columns.
 */
interface PageRow {
  /** True if the tenant has the patient. */
  readonly seen: true | null;
  /** True if the read model contains every acknowledged write, because those writes waited for `history`. */
  readonly fresh: boolean;
  /** The number of items in the whole list; set only on the first page. */
  readonly total: number | null;
  /** The joined rows (`joined-rows.ts`), each with: at, id, listed, and the item's columns. */
  readonly rows: string | null;
}

/** A page's rows, with data about the whole page. */
export interface PlacesPage<Row> extends Pick<PageRow, 'fresh'> {
  /** True if the caller may see the patient. */
  readonly seen: boolean;
  readonly rows: readonly Row[];
  readonly total: number;
  readonly next: string | undefined;
}

/** A requested page. */
interface Page {
  readonly statement: Statement;
  of(found: PageRow | undefined): PlacesPage<readonly string[]>;
  /** Returns the cursor for the page that begins after a row. */
  after(row: readonly string[], page: Pick<PlacesPage<unknown>, 'total'>): string;
}

/**
 * The maximum total length of the items on a page: the page ends before an item that would exceed it. No single item is longer
 * than this.
 */
const MOST = 25_000_000;

/** The size in bytes from which an entry's own text is read by a separate statement. */
const LONG = 32_000;

/** The part of an entry's newest version `e` that a list shows. */
export interface Shown {
  /**
   * The columns to show, which are never null, and are JSON except for numbers and codes. They are followed by the body of the
   * Medication to which the entry refers, empty if there is none.
   */
  readonly columns: readonly string[];
  /** Those columns whose text may be long; the length of the others, such as titles, is limited. */
  readonly unbounded: readonly string[];
}

/**
 * Reads a page of a record.
 * @throws Refusal invalid (422) for a cursor from a different list
 */
export type Pages<Item> = (caller: Caller, of: ListOf, page: PageOf) => Promise<PlacesPage<Item>>;

/** The page for a patient that the caller can't see. */
const UNSEEN = { seen: false, fresh: true, rows: [], total: 0, next: undefined } as const;

/**
 * Creates the pages of a list. A resource is left out if its newest version is no longer in the list.
 * @param name the statements' name
 * @param shown what to show from the newest version `e`
 * @param selectItem returns the item for a resource's id and its columns
 */
export function openPages<Item>(
  pool: Asks,
  name: string,
  shown: Shown,
  selectItem: (id: string, columns: readonly string[]) => Item,
): Pages<Item> {
  return async ({ sees }, list, page) => {
    const of = { ...list, sees };
    // An invalid cursor is refused whatever the patient, as for an API key.
    const asked = pageStatement(name, shown, of, page);
    if (sees.within !== undefined && sees.within.record !== list.patient) return UNSEEN;
    const { rows: answer } = await pool.query<PageRow>(asked.statement);
    const found = asked.of(answer[0]);
    const rows: Item[] = [];
    let length = 0;
    let last: readonly string[] | undefined;
    for (const row of found.rows) {
      const [, id = '', listed, ...short] = row;
      // Long items are read separately, so that no page takes more memory than allowed.
      const item = isLeftOut(short) ? await wholeItem(pool, name, shown.columns, of, id) : short;
      length += item.reduce((sum, column) => sum + column.length, 0);
      if (length > MOST && last !== undefined) return { ...found, rows, next: asked.after(last, found) };
      if (listed === 't' && item.length > 0) rows.push(selectItem(id, item));
      last = row;
    }
    return { ...found, rows };
  };
}

/**
 * Returns true if an item is too long for a page's statement: its columns, or those of its Medication, contain sizes instead.
 */
function isLeftOut(columns: readonly string[]): boolean {
  const [first = '', ...others] = columns;
  const last = others.at(-1) ?? first;
  return sizeOfLarge(last) !== undefined;
}

/** Returns the current columns of one entry; returns nothing if the entry has been purged in the meantime. */
async function wholeItem(
  pool: Asks,
  name: string,
  columns: readonly string[],
  of: SeenList,
  id: string,
): Promise<string[]> {
  const values: unknown[] = [id, of.sees.ownerId];
  const text = `select ${joinedColumns([...columns, referred('v.body')])} as item from (
      select e.* from timeline.entry e where e.id = $1 and (e.tenant = $2::uuid) is true
      order by e.version desc limit 1) e
    where true ${andListed(of, 'e', bindTo(values))}`;
  const statement = isLimited(of) ? prepared(text, values) : { name: `${name}-whole`, text, values };
  const { rows } = await pool.query<{ item: string }>(statement);
  return rows.flatMap(({ item }) => columnsIn(item));
}

/**
 * Returns true if a grant covers only some categories of the listed types. If it covers whole types, only the record and the
 * types have to be compared, and the lists' keys contain both.
 */
function isLimited({ sees: { within }, letters, types }: SeenList): boolean {
  return (
    within !== undefined &&
    types.some((type) => [...letters].some((letter) => categoriesFor(within.access, type, letter) !== 'all'))
  );
}

/** Returns the condition that versions `as` of timeline.entry are visible; empty if everything in the lists is visible. */
function andListed(of: SeenList, as: string, bind: Bind): string {
  if (!isLimited(of)) return '';
  const [type] = of.types.length === 1 ? of.types : [];
  return andSeen(of.sees, of.letters, { as, of: 'item', type }, bind);
}

/** Returns the condition that the versions at places `p` are visible. Index: primary key of timeline.entry (id, version). */
function andPlaced(of: SeenList, bind: Bind): string {
  const seen = andListed(of, 's', bind);
  return seen === ''
    ? ''
    : `and exists (select from timeline.entry s where s.id = p.id and s.version = p.version ${seen})`;
}

/**
 * Returns the statement for a page of places `p` (at, id, version, until), which uses only the index place_pkey. A later page
 * shows the list as of the first page's time: newer entries have no place in it, and moved entries keep their place. The
 * statement also returns whether the caller can see the patient, and whether the read model shows all writes.
 * @param name the name for this kind of statement
 * @param shown what to show from the newest version `e` at a place
 * @throws Refusal invalid (422) for a cursor from a different list
 */
function pageStatement(name: string, shown: Shown, of: SeenList, { limit, cursor }: PageOf): Page {
  const { patient, lists, from, to } = of;
  const tenant = of.sees.ownerId;
  const { asOf } = of.sees;
  const list = JSON.stringify([name, { tenant, patient, lists, from, to, asOf }]);
  const start = cursor === undefined ? undefined : decodeCursorFor(list, cursor, place);
  const made = start?.made ?? asOf ?? nowMicros();
  const values: unknown[] = [of.patient, lists.map(searchKey), limit + 1, tenant];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const seeing = bindTo(values);
  const then = start === undefined ? 'p.until is null' : currentAt(bind(made));
  const isOfDays = from !== undefined || to !== undefined;
  const scan = isOfDays ? scansSql(planScans(lists, of), start, bind) : wholeLists(start, bind);
  const total = start === undefined ? totalFor(of, scan, bind, seeing) : 'null::int8';
  const text = `
    with p as materialized (
      select p.* from ${scan.from} cross join lateral (
        select p.at, p.id, p.version, p.until from timeline.place p
        where ${scan.where} and ${then} ${andPlaced(of, seeing)}
        order by p.at desc, p.id desc limit $3) p
      order by p.at desc, p.id desc limit $3
    )
    select (${SEEN}) as seen, (${FRESH}) as fresh, (${total}) as total, (
      select ${joinedRows(joinedColumns(['p.at', 'p.id', 'e.listed', 'e.item']), 'p.at desc, p.id desc')}
      from p ${newest(shown, andListed(of, 'e', seeing))}) as rows`;
  const after: Page['after'] = ([at = '', id = ''], { total: all }) =>
    encodeCursorFor(list, [made, all, at, id]);
  const kind = `${name}${start === undefined ? '-first' : ''}${isOfDays ? '-days' : ''}`;
  return {
    statement: isLimited(of) ? prepared(text, values) : { name: kind, text, values },
    of: (found) => {
      const rows = rowsIn(found?.rows);
      const all = start?.total ?? Number(found?.total ?? 0);
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      return {
        seen: found?.seen === true,
        fresh: found?.fresh === true,
        rows: rows.slice(0, limit),
        total: all,
        next: last === undefined ? undefined : after(last, { total: all }),
      };
    },
    after,
  };
}

/** SQL for a page's places `p`: the joins and the condition. Index: place_pkey. */
interface Scan {
  readonly from: string;
  readonly where: string;
}

/** Returns SQL for the places in whole lists that come after the last row of the previous page. */
function wholeLists(start: Pick<Start, 'at' | 'id'> | undefined, bind: (value: unknown) => string): Scan {
  const after =
    start === undefined ? '' : ` and (p.at, p.id) < (${bind(start.at)}::int8, ${bind(start.id)}::uuid)`;
  return { from: 'unnest($2::int8[]) l(list)', where: `p.record = $1 and p.list = l.list${after}` };
}

/** Sorts before every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Returns SQL for a page's scans `l`. Each scan has a single upper bound, which is either its own or the last row of the
 * previous page. If there were several upper bounds, PostgreSQL would start at the first, which may be far from the page.
 */
function scansSql(
  scans: readonly DayScan[],
  start: Pick<Start, 'at' | 'id'> | undefined,
  bind: (value: unknown) => string,
): Scan {
  const ends = scans.map(({ high }) =>
    start === undefined || high <= Number(start.at) ? { at: high, id: NO_ID } : start,
  );
  const columns = [
    `${bind(scans.map(({ list }) => list))}::int8[]`,
    `${bind(scans.map(({ low }) => low))}::int8[]`,
    `${bind(ends.map(({ at }) => at))}::int8[]`,
    `${bind(ends.map(({ id }) => id))}::uuid[]`,
    `${bind(scans.map(({ first }) => first))}::int[]`,
    `${bind(scans.map(({ last }) => last))}::int[]`,
  ];
  return { from: `unnest(${columns.join(', ')}) l(list, low, high, id, first, last)`, where: IN_SCAN };
}

/** The condition that a place `p` is in a scan `l`. */
const IN_SCAN = `p.record = $1 and p.list = l.list and p.at >= l.low and (p.at, p.id) < (l.high, l.id)
          and p.day >= l.first and p.day <= l.last`;

/** Returns SQL for the total size, in bytes, of the given columns of `e`. */
const sumBytes = (columns: readonly string[]): string =>
  columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ');

// Joins the newest version, which determines a resource's item; under a grant, this version must be visible. Index: primary
// key of timeline.entry (id, version), backwards.
const newest = ({ columns, unbounded }: Shown, seen: string): string => `cross join lateral (
  select (e.lists && $2::int8[] ${seen}) is true as listed, case when ${sumBytes(unbounded)} <= ${LONG}
    then ${joinedColumns([...columns, referred(bodyOrSize('v.body'))])} else (${sumBytes(unbounded)})::text end as item
  from timeline.entry e where e.id = p.id and (e.tenant = $4::uuid) is true
  order by e.version desc limit 1) e`;

// Index: primary key of resources.resource (id).
const SEEN = `select true from resources.resource o
  where o.id = $1 and (o.tenant = $4::uuid) is true and o.type = 'Patient' and not o.deleted`;

const FRESH = `select t.position >= h.position from timeline.checkpoint t, history.checkpoint h`;

/**
 * Returns SQL for the body of the Medication that names an entry: the referenced version, if the reference names a version;
 * for a deleted Medication, the last body. Empty if the entry contains its own name, or refers to no Medication. Index:
 * primary key of history.version (id, version), backwards.
 * @param body SQL for the columns to read from the Medication
 */
const referred = (body: string): string => `coalesce(case when e.refers is not null then (
    select ${body} from history.version v
    where v.id = e.refers and (v.tenant = e.tenant and v.type = 'Medication') is true and v.body is not null
      and v.version = coalesce(e.refers_version, v.version)
    order by v.version desc limit 1) end, '')`;

function currentAt(made: string): string {
  return `p.since <= ${made}::int8 and (p.until is null or p.until > ${made}::int8)`;
}

/** Returns SQL for the current number of items that the caller can see. */
function totalFor(of: SeenList, scan: Scan, bind: (value: unknown) => string, seeing: Bind): string {
  // As of an earlier time, each entry's current version must be visible too.
  const lists = !isLimited(of) ? of.lists : of.sees.asOf === undefined ? listsWithin(of) : undefined;
  return lists === undefined ? totalSeen(of, scan, seeing) : countItems(of, lists, bind);
}

/**
 * Returns the lists that contain the entries of the given lists that belong to a grant's only category; undefined if there are
 * no such lists.
 */
function listsWithin({ sees: { within }, letters, types, lists }: SeenList): readonly string[] | undefined {
  const [type, ...more] = types;
  if (within === undefined || type === undefined || more.length > 0 || letters.length > 1) return undefined;
  const limit = categoriesFor(within.access, type, letters);
  const [category, ...others] = limit === 'all' ? [] : limit;
  if (category === undefined || others.length > 0) return undefined;
  const parts = lists.map((list) => partOfCategory(list, category.system, category.code));
  return parts.every((part) => part !== undefined) ? parts : undefined;
}

/**
 * Returns SQL for the current number of items that a grant's categories cover, counted one by one. A resource in several of
 * the categories counts once.
 * @param scan the first page's scan
 */
function totalSeen(of: SeenList, { from, where }: Scan, seeing: Bind): string {
  return `(select count(*) from ${from} join timeline.place p on ${where}
      where p.until is null ${andPlaced(of, seeing)})`;
}

/**
 * Returns SQL for the current number of items: the sums of the time buckets that lie entirely within the days, plus the rows
 * in the buckets at either end, plus the rows for dates with only a month or a year that begin earlier.
 */
function countItems(range: DayRange, lists: readonly string[], bind: (value: unknown) => string): string {
  const keys = `${bind(lists.map(searchKey))}::int8[]`;
  const buckets = `select coalesce(sum(t.count), 0) from timeline.tally t where t.record = $1 and t.list = any(${keys})`;
  if (range.from === undefined && range.to === undefined) return `(${buckets})`;
  const { high, surely } = rangeMoments(range);
  const [first, last] = [bucketNumber(surely.low), bucketNumber(surely.high)];
  const [within, beyond] = first >= last ? [high, high] : [bucketStart(first + 1), bucketStart(last)];
  const scans = planScans(lists, range);
  const own = scans.slice(0, lists.length);
  const rows = [
    ...own.map((scan) => ({ ...scan, high: within })),
    ...own.map((scan) => ({ ...scan, low: beyond })),
    ...scans.slice(lists.length),
  ];
  const scan = scansSql(rows, undefined, bind);
  return `(${buckets} and t.stretch > ${bind(first)} and t.stretch < ${bind(last)})
    + (select count(*) from ${scan.from} join timeline.place p on ${scan.where} where p.until is null)`;
}
