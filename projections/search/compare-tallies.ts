/**
 * Compares tallies with the entries that they count (docs/decisions/0036-tallies-on-request.md). A single statement reads each
 * tally and counts its entries, so both come from one snapshot: an event that is projected in the meantime changes both or
 * neither.
 */
import type { ClientBase } from 'pg';
import { containedIn } from '#src/fhir/search/contained.ts';
import { extract } from '#src/fhir/search/extract.ts';
import { PRESENT, typeHashes } from '#src/fhir/search/keys.ts';
import type { AskedTally } from '#src/fhir/search/tallies.ts';
import { isResourceType } from '#src/fhir/types.ts';
import { type Tenant, tenantId } from '#src/shared/access/caller.ts';
import { parseJson } from '#src/shared/json/json.ts';
import { inSlices } from '#src/shared/load/slices.ts';
import type { TableComparison } from '../compare.ts';

/** Number of tallies to count per statement. */
const AT_ONCE = 20;
/** Number of projects to read at a time. */
const PROJECTS = 1_000;

// Indexes: tally_pkey, entry_keys.
const count = (which: string) => `
select t.tenant, t.type, t.keys::text as keys, (t.counted + t.changed)::text as tally,
  (select count(*) from search.entry e where e.keys @> t.keys)::text as entries
from (select * from search.tally where counted is not null and ${which}) t order by t.keys`;
const NEXT = count(`keys > $1::int8[] order by keys limit ${AT_ONCE}`);
const AGAIN = count('keys::text = any($1::text[])');

const SAMPLE = `
select r.id, r.body from search.entry e join resources.resource r on r.id = e.id and r.version = e.version
where e.keys @> $1::int8[] and r.body is not null limit 1`;

interface Counted extends AskedTally {
  readonly tally: string;
  readonly entries: string;
}

/**
 * Compares all tallies that have a count.
 * @param limit the maximum number of differences to list
 */
export async function compareTallies(session: ClientBase, limit: number): Promise<TableComparison> {
  const differing: Counted[] = [];
  let compared = 0;
  for (let after = '{}'; ; ) {
    const { rows } = await session.query<Counted>(NEXT, [after]);
    compared += rows.length;
    differing.push(...(await confirm(session, rows.filter(isWrong))));
    const last = rows.at(-1);
    if (last === undefined || differing.length > limit) break;
    after = last.keys;
  }
  const tenants = await findTenants(session, new Set(differing.map(({ tenant }) => tenant)));
  const differences: TableComparison['differences'][number][] = [];
  for (const { tally, entries, ...of } of differing.slice(0, limit)) {
    differences.push({
      table: 'tally',
      key: {
        ...(tenants.get(of.tenant) ?? { tenant: of.tenant }),
        type: of.type,
        query: (await describeQuery(session, of)) ?? 'unknown: no current resource matches',
        keys: of.keys,
      },
      what: 'changed',
      columns: ['counted', 'changed'],
      changes: [{ path: 'total', before: entries, after: tally }],
      record: null,
    });
  }
  return { table: 'tally', rows: [compared, compared], differences, more: differing.length > limit };
}

const isWrong = ({ tally, entries }: Counted): boolean => tally !== entries;

/**
 * Counts again, because a rebuild may have swapped the schemas while the names of a statement's two tables were being
 * resolved.
 */
async function confirm(session: ClientBase, wrong: readonly Counted[]): Promise<readonly Counted[]> {
  if (wrong.length === 0) return [];
  const { rows } = await session.query<Counted>(AGAIN, [wrong.map(({ keys }) => keys)]);
  return rows.filter(isWrong);
}

/** Finds the projects whose hashed ids are the given tenants. */
async function findTenants(
  session: ClientBase,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Tenant>> {
  const found = new Map<string, Tenant>();
  for (let after = ''; found.size < wanted.size; ) {
    const { rows } = await session.query<{ id: string }>(
      'select p.id from projects.project p where p.id > $1 order by p.id limit $2',
      [after, PROJECTS],
    );
    for (const { id: project } of rows) {
      for (const environment of ['sandbox', 'production'] as const) {
        const tenant = { project, environment };
        if (wanted.has(tenantId(tenant))) found.set(tenantId(tenant), tenant);
      }
    }
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.id;
  }
  return found;
}

/**
 * Returns the query whose total is the tally; undefined if no resource matches it. The query is found through a matching
 * resource, because keys are hashes.
 */
async function describeQuery(
  session: ClientBase,
  { tenant, type, keys }: AskedTally,
): Promise<string | undefined> {
  const { rows } = await session.query<{ id: string; body: string }>(SAMPLE, [keys]);
  const [sample] = rows;
  if (sample === undefined || !isResourceType(type)) return undefined;
  const { value: resource } = parseJson(sample.body);
  const within = { contained: containedIn(sample.id, resource), container: `${type}/${sample.id}` };
  const { forms } = await inSlices(extract(type, resource, within));
  const hashes = typeHashes(tenant, type);
  const wanted = keys.slice(1, -1).split(',');
  const named = wanted.map((key) => forms.find(({ code, value }) => hashes.value(code, value) === key));
  return named.map((form) => (form === undefined ? 'unknown' : writeCondition(form))).join('&');
}

/** Writes a form (`src/fhir/search/keys.ts`) in the syntax of a search. */
function writeCondition({ code, value }: { readonly code: string; readonly value: string }): string {
  if (value === PRESENT) return `${code}:missing=false`;
  return `${code}=${value.slice(2)}${value.startsWith('s:') ? '|' : ''}`;
}
