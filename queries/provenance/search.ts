/**
 * Searches Provenance: automatic Provenances and clients' own Provenances in one list, sorted by the time that they state,
 * newest first.
 */
import type { Pool } from 'pg';
import { z } from 'zod';
import { requiredValueSets, type Terminology } from '#src/fhir/terminology.ts';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import type { Letters } from '#src/shared/access/access.ts';
import type { Caller, Calls } from '#src/shared/access/caller.ts';
import { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import { type Micros, nowMicros } from '#src/shared/time/time.ts';
import { decodeCursor } from '../cursor.ts';
import { Binds } from '../database/binds.ts';
import { type Asks, plannedEachTime, prepared } from '../database/prepared.ts';
import { bodyOrSize, bodySize, withLargeBodies } from '../read.ts';
import type { SearchRequest } from '../search/ask.ts';
import { type ParsedSearch, understand } from '../search/parse.ts';
import { combinePredicates } from '../search/predicates/conditions.ts';
import { parseRaw } from '../search/raw.ts';
import { referableIn } from '../search/referable.ts';
import type { SearchPage } from '../search/search.ts';
import type { Sort } from '../search/shape.ts';
import { cursorAfter, cursorBefore, cursorsAround, end, lastPage, type Start } from '../search/start.ts';
import { loadTerms } from '../search/terms.ts';
import { type Seeing, seenProvenance } from '../sight.ts';
import { type ProvenancePredicate, provenancePredicate } from './parameters.ts';
import { provenanceTexts, type RecordedVersion } from './resource.ts';

/**
 * Searches Provenance; `record` limits the search to one patient's record.
 * @throws Refusal `malformed` naming a parameter
 */
export type SearchProvenance = (caller: Caller, request: Omit<SearchRequest, 'type'>) => Promise<SearchPage>;

const SORTS: readonly Sort[] = [
  { by: 'recorded', descending: true },
  { by: 'recorded', descending: false },
  { by: '_lastUpdated', descending: true },
  { by: '_lastUpdated', descending: false },
  { by: '_id', descending: false },
  { by: '_id', descending: true },
];

/** The columns by which rows are sorted before their ids. */
const KEYS: Readonly<Record<string, { readonly automatic: string; readonly own: string }>> = {
  recorded: { automatic: 'v.recorded_at', own: 'r.recorded' },
  _lastUpdated: { automatic: 'v.recorded_at', own: 'r.last_updated' },
};
/** Sorts only by id, because this key is the same for all rows. */
const BY_ID = { automatic: '0::int8', own: '0::int8' };

/** [last time, last id]; with `before`, the cursor is for the page before this row. */
const cursorSchema = z.union([
  z.tuple([z.int(), z.uuid()]),
  z.tuple([z.literal('before'), z.int(), z.uuid()]),
  end,
]);

/** The start of a page, and its maximum number of rows. */
interface Place extends Pick<Start, 'backward'> {
  readonly last?: readonly [time: number, id: string];
  readonly most: number;
}

function placeIn({ cursor, count }: ParsedSearch<unknown>): Place {
  if (cursor === undefined) return { most: count };
  const [kind, ...rest] = decodeCursor(cursor, cursorSchema);
  if (kind === 'end') return { backward: true, most: Math.min(count, Number(rest[0])) };
  if (kind !== 'before') return { last: [kind, String(rest[0])], most: count };
  return { backward: true, last: [Number(rest[0]), String(rest[1])], most: count };
}

type Row = { readonly total: number | null; readonly key: Micros; readonly provenance: string | null } & (
  | ({ readonly automatic: true } & RecordedVersion)
  | {
      readonly automatic: false;
      readonly version: number;
      readonly recorded_at: Micros;
      readonly body: string;
    }
);

/** Creates the search on a database. */
export function openSearchProvenance(
  pool: Pool,
  terminology: Terminology = requiredValueSets,
): SearchProvenance {
  return async (caller, request) => {
    const { search, place, sql, values } = await provenanceStatement(pool, terminology, caller, request);
    const form = caller.sees.within === undefined ? prepared : plannedEachTime;
    const { rows } = await pool.query<Row>(form(sql, values));
    const shown = rows.slice(0, place.most).filter((row) => row.automatic);
    const texts = await provenanceTexts(pool, caller.calls.projectId, shown);
    const automatic = new Map(shown.map((row, n) => [row.event_id, texts[n] ?? null]));
    const { matches, ...page } = toPage(rows, search, place, automatic, request.budget ?? new AnswerBudget());
    return { ...page, matches: await withLargeBodies(pool, caller.sees, matches) };
  };
}

/** The searching caller: the data that it can see, and the project whose keys and applications it can see by name. */
type Searcher = Pick<Caller, 'sees'> & { readonly calls: Pick<Calls, 'project'> };

/**
 * Returns the statement for a search for Provenance.
 * @throws Refusal `malformed` naming a parameter
 */
export async function provenanceStatement(
  pool: Asks,
  terminology: Terminology,
  { sees, calls: { project } }: Searcher,
  { query, base, record, letters = 's' }: Omit<SearchRequest, 'type'>,
): Promise<{ search: ParsedSearch<ProvenancePredicate>; place: Place; sql: string; values: unknown[] }> {
  const raw = parseRaw(query);
  const terms = await loadTerms(raw, terminology, base);
  const { ownerId: tenant, within } = sees;
  const referable = within && (await referableIn(pool, tenant, within, `${query}`));
  const scope = {
    type: 'Provenance' as const,
    tenant,
    sees,
    project,
    base,
    now: nowMicros(),
    terms,
    steps: { taken: 0 },
    ...(referable === undefined ? {} : { referable }),
  };
  const search = understand(raw, SORTS, (parameter) => provenancePredicate(parameter, scope));
  const binds = new Binds();
  const found = foundIn(search, { sees, letters, record }, binds);
  const place = placeIn(search);
  const descending = search.sort.descending !== (place.backward === true);
  const read = { ...search, sort: { ...search.sort, descending } };
  return { search, place, sql: statement(read, place, found, binds), values: binds.values };
}

/** Rows of history.version `v`: all rows that a condition selects, or one scan per type, in the types' order. */
interface Versions {
  readonly where: string;
  readonly types?: readonly string[];
}

/**
 * Where a search's results are: automatic Provenances, and clients' own Provenances, which are rows `r` of
 * history.client_provenance.
 */
interface Found {
  readonly automatic: readonly Versions[];
  readonly own: string;
}

/**
 * Returns where a search's matches are. If its parameters or its record lead to the rows, the tenant is checked without an
 * index, because the planner would otherwise choose the index over all of a tenant's rows. If not, there is one scan of
 * version_of_tenant (tenant, type, recorded_at, event_id) per type; under a grant, there is one scan of version_of_record
 * (record, recorded_at, event_id), plus scans for the directory's types.
 */
function foundIn(
  search: ParsedSearch<ProvenancePredicate>,
  { sees, letters, record }: { sees: Seeing; letters: Letters; record: string | undefined },
  binds: Binds,
): Found {
  const owner = binds.add(sees.ownerId, 'uuid');
  const { within } = sees;
  const isLed = record !== undefined || search.predicates.some(({ selective }) => selective);
  const checked = (alias: 'v' | 'r') => `(${alias}.tenant = ${owner}) is true`;
  const inRecord = (alias: 'v' | 'r', of: string) => `${alias}.record = ${binds.add(of, 'uuid')}`;
  const all = (kind: 'automatic' | 'own') =>
    combinePredicates(
      search.predicates.map((each) => each[kind]),
      binds,
    );
  const seen = seenProvenance(sees, letters, binds.add.bind(binds));
  const versions = () => `${seen.automatic('v')} and ${all('automatic')}`;
  const own = () => `not r.deleted ${seen.own('r')} and ${all('own')}`;
  if (isLed) {
    const of = (alias: 'v' | 'r') =>
      record === undefined ? checked(alias) : `${checked(alias)} and ${inRecord(alias, record)}`;
    return { automatic: [{ where: `${of('v')} ${versions()}` }], own: `${of('r')} and ${own()}` };
  }
  if (within === undefined)
    return {
      automatic: [{ where: `v.tenant = ${owner} ${versions()}`, types: TYPE_NAMES }],
      own: `r.tenant = ${owner} and ${own()}`,
    };
  const directory = seen.directoryTypes;
  return {
    automatic: [
      { where: `${checked('v')} and ${inRecord('v', within.record)} ${versions()}` },
      ...(directory.length === 0
        ? []
        : [{ where: `v.tenant = ${owner} and v.record is null ${versions()}`, types: directory }]),
    ],
    own: `${checked('r')} and ${inRecord('r', within.record)} and ${own()}`,
  };
}

/** @param search the search, sorted in the order in which the page is read */
function statement(
  search: ParsedSearch<ProvenancePredicate>,
  place: Place,
  found: Found,
  binds: Binds,
): string {
  const total = search.total || search.onlyTotal ? counted(found, binds) : 'select null::int8 as total';
  if (search.onlyTotal) return `select t.total, null as provenance from (${total}) t`;
  const order = search.sort.descending ? 'desc' : 'asc';
  return `
    select t.total, p.automatic, p.provenance, p.key, p.event_id, p.id, p.type, p.version, p.recorded_at,
      p.operation, p.metadata, p.body
    from (${total}) t left join (${page(search, place, found, binds)}) p on true
    order by p.key ${order}, p.provenance ${order}`;
}

function counted({ automatic, own }: Found, binds: Binds): string {
  const versions = automatic.map(({ where, types }) => {
    const isOfThem =
      types === undefined || types === TYPE_NAMES ? '' : `and v.type = any(${binds.add(types, 'text[]')})`;
    return `(select count(*) from history.version v where ${where} ${isOfThem})`;
  });
  return `select ${versions.join(' + ')}
    + (select count(*) from history.client_provenance r where ${own}) as total`;
}

/** Returns SQL for the page's rows: one page of each kind, merged. */
function page(
  search: ParsedSearch<ProvenancePredicate>,
  place: Place,
  { automatic, own }: Found,
  binds: Binds,
): string {
  const order = search.sort.descending ? 'desc' : 'asc';
  const limit = binds.add(place.most + 1, 'int4');
  const keys = KEYS[search.sort.by] ?? BY_ID;
  const after = beyond(search, place, binds);
  const versions = (where: string) => `
    select true as automatic, v.event_id as provenance, ${keys.automatic} as key, v.event_id, v.id, v.type, v.version,
      v.recorded_at, v.operation, v.metadata, null as body
    from history.version v
    where ${where} ${after(keys.automatic, 'v.event_id')}
    order by ${keys.automatic} ${order}, v.event_id ${order} limit ${limit}`;
  const parts = automatic.map(({ where, types }) =>
    types === undefined
      ? versions(where)
      : `
    select s.automatic, s.provenance, s.key, s.event_id, s.id, s.type, s.version, s.recorded_at, s.operation,
      s.metadata, s.body
    from unnest(${binds.add(types, 'text[]')}) k(type)
    cross join lateral (${versions(`v.type = k.type and ${where}`)}) s`,
  );
  return `
    select u.automatic, u.provenance, u.key, u.event_id, u.id, u.type, u.version, u.recorded_at, u.operation,
      u.metadata, u.body
    from (
      ${parts.map((part) => `(${part})`).join(' union all ')}
      union all
      (select false, r.id, ${keys.own}, r.id, r.id, 'Provenance', r.version, r.last_updated, null, null, ${bodyOrSize('b.body')}
      from history.client_provenance r join history.version b on b.id = r.id and b.version = r.version
      where ${own} ${after(keys.own, 'r.id')}
      order by ${keys.own} ${order}, r.id ${order} limit ${limit})
    ) u
    order by u.key ${order}, u.provenance ${order} limit ${limit}`;
}

/** Returns the condition that a row comes after the row in the cursor. */
function beyond(
  { sort }: ParsedSearch<unknown>,
  { last }: Place,
  binds: Binds,
): (key: string, id: string) => string {
  if (last === undefined) return () => '';
  const at = `(${binds.add(last[0], 'int8')}, ${binds.add(last[1], 'uuid')})`;
  return (key, column) => `and (${key}, ${column}) ${sort.descending ? '<' : '>'} ${at}`;
}

/** @param automatic the text of the page's automatic Provenances, by id */
function toPage(
  rows: readonly Row[],
  { used, unknown, count }: ParsedSearch<unknown>,
  place: Place,
  automatic: ReadonlyMap<string, string | null>,
  budget: AnswerBudget,
): SearchPage {
  const found = rows.filter((row): row is Row & { provenance: string } => row.provenance !== null);
  const asked = found.slice(0, place.most).map((row) => ({
    id: row.provenance,
    type: 'Provenance' as const,
    version: row.automatic ? 1 : row.version,
    lastUpdated: row.recorded_at,
    body: row.automatic ? (automatic.get(row.provenance) ?? null) : row.body,
  }));
  const fitting = budget.takeRows(asked.map(({ body }) => bodySize(body)));
  const matches = asked.slice(0, fitting);
  const total = rows[0]?.total ?? undefined;
  const around = cursorsAround(place, found.slice(0, fitting), found.length > fitting, {
    after: ({ key, provenance }) => cursorAfter(key, { id: provenance, keys: [] }),
    before: ({ key, provenance }) => cursorBefore(key, { id: provenance, keys: [] }),
  });
  return {
    ...(total === undefined ? {} : { total }),
    matches: place.backward === true ? matches.reverse() : matches,
    ...around,
    ...lastPage(count, total, around),
    ...(fitting < asked.length ? { isShortened: true as const } : {}),
    used,
    unknown,
  };
}
