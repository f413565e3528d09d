/** The included resources of a search: https://hl7.org/fhir/R4/search.html#include */
import type { Pool } from 'pg';
import { mayName } from '#src/fhir/search/inclusions.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { AnswerBudget } from '#src/shared/answer-budget.ts';
import type { Caller } from '#src/shared/caller.ts';
import type { Micros } from '#src/shared/time.ts';
import { bodyOrSize, sizeOf, withLargeBodies } from '../large-bodies.ts';
import { provenanceTexts, type RecordedVersion } from '../provenance/resource.ts';
import type { CurrentResource } from '../read.ts';
import { requireWhole } from '../sight.ts';
import type { Inclusion } from './inclusions.ts';
import { followedBack, keysOfReferrers, type Link, linksOf } from './links.ts';

/** Most included resources of a page. */
export const MAX_INCLUDED = 1_000;
/** Most rounds of `:iterate`. */
export const MAX_ROUNDS = 10;

/** The included resources. */
export interface Included {
  /** Each resource once, without the matches; never deleted ones or those of other tenants. */
  readonly resources: readonly CurrentResource[];
  /** True if there was more than `MAX_INCLUDED`, than the budget allows, or beyond `MAX_ROUNDS`. */
  readonly more: boolean;
}

/** Follows inclusions from the matches of a page. A reference that names a version leads to that version. */
export type Include = (
  caller: Caller,
  asked: {
    readonly matches: readonly CurrentResource[];
    readonly inclusions: readonly Inclusion[];
    /** Base URL of the FHIR interface, slash at its end. */
    readonly base: string;
    /** Budget for included resources. Default: its own. */
    readonly budget?: AnswerBudget;
  },
) => Promise<Included>;

/** Opens inclusions over a database: one statement a direction and round. */
export function openInclude(pool: Pool): Include {
  return async (caller, { matches, inclusions, base, budget = new AnswerBudget() }) => {
    if (inclusions.length === 0) return { resources: [], more: false };
    requireWhole(caller.sees);
    const scope = { tenant: caller.sees.ownerId, readBy: caller.calls.projectId, base };
    const shown = new Set(matches.flatMap((match) => [`${match.type}/${match.id}`, nameOf(match)]));
    const resources: CurrentResource[] = [];
    let frontier: readonly CurrentResource[] = matches;
    let followed = inclusions;
    for (let round = 0; frontier.length > 0 && followed.length > 0; round += 1) {
      const left = MAX_INCLUDED - resources.length;
      const links = distinct(frontier.flatMap((each) => linksOf(each, followed, base))).filter(
        (link) => !shown.has(nameOf(link)),
      );
      const reached = await Promise.all([
        forward(pool, scope.tenant, links, left + 1),
        backward(pool, scope, frontier, followed, shown, left + 1),
      ]);
      const fresh: CurrentResource[] = [];
      for (const { resource, name } of reached.flat()) {
        const version = nameOf(resource);
        if (!shown.has(name) && !shown.has(version)) fresh.push(resource);
        shown.add(name).add(version);
      }
      const wanted = fresh.slice(0, left);
      const fitting = roomFor(wanted, budget);
      const taken = await withLargeBodies(pool, caller.sees, wanted.slice(0, fitting));
      for (const resource of taken) resources.push(resource);
      if (fitting < fresh.length) return { resources, more: true };
      frontier = taken;
      followed = followed.filter(({ iterate }) => iterate);
      if (round === MAX_ROUNDS && fresh.length > 0 && followed.length > 0) return { resources, more: true };
    }
    return { resources, more: false };
  };
}

/**
 * Returns how many of the first resources fit the budget; possibly none.
 * @throws Refusal where pages aren't shortened
 */
function roomFor(resources: readonly CurrentResource[], budget: AnswerBudget): number {
  const sizes = resources.map(({ body }) => sizeOf(body));
  const [first = 0] = sizes;
  if (budget.shortens && (first > budget.bytesLeft || budget.resourcesLeft === 0)) return 0;
  return budget.takeRows(sizes);
}

/** A resource, and the name of the reference that led to it. */
interface Reached {
  readonly resource: CurrentResource;
  readonly name: string;
}

/** Returns the name of a reference's target: the current resource, or one version of it. */
function nameOf({ type, id, version }: Link): string {
  return version === undefined ? `${type}/${id}` : `${type}/${id}/_history/${version}`;
}

function distinct(links: readonly Link[]): Link[] {
  return [...new Map(links.map((link) => [nameOf(link), link])).values()];
}

interface Row {
  readonly id: string;
  readonly type: ResourceType;
  readonly version: number;
  readonly last_updated: Micros;
  readonly body: string;
}

// Indexes: primary keys of resources.resource (id) and history.version (id, version); history.version_event (event_id)
// only for automatic Provenances, which aren't resources. Lateral with `offset 0` forces one lookup each; tenants are
// only checked, or the planner might read all rows of a tenant for each.
const FORWARD = `
  select k.n, k.version as asked, f.id, f.type, f.version, f.last_updated, f.body, f.event_id, f.operation, f.metadata
  from unnest($1::uuid[], $2::text[], $3::int[]) with ordinality k(id, type, version, n)
  cross join lateral (
    select r.id, r.type, r.version, r.last_updated, ${bodyOrSize('r.body')} as body,
      null::uuid as event_id, null as operation, null as metadata
    from resources.resource r
    where k.version is null and r.id = k.id and (r.tenant = $4) is true and not r.deleted
    union all
    select v.id, v.type, v.version, v.recorded_at, ${bodyOrSize('v.body')}, null, null, null
    from resources.resource r join history.version v on v.id = r.id
    where k.version is not null and r.id = k.id and (r.tenant = $4) is true and not r.deleted
      and v.version = k.version and v.body is not null
    union all
    select v.id, v.type, v.version, v.recorded_at, null, v.event_id, v.operation, v.metadata
    from history.version v
    where k.type = 'Provenance' and coalesce(k.version, 1) = 1 and v.event_id = k.id and (v.tenant = $4) is true
    offset 0
  ) f
  where f.event_id is not null or f.type = k.type
  order by k.n limit $5`;

/** Reads the targets of links. */
async function forward(
  pool: Pool,
  tenant: string,
  links: readonly Link[],
  limit: number,
): Promise<Reached[]> {
  if (links.length === 0) return [];
  const { rows } = await pool.query<
    (Row & { readonly asked: number | null }) & RecordedVersion & { readonly body: string | null }
  >({
    name: 'include-forward',
    text: FORWARD,
    values: [
      links.map(({ id }) => id),
      links.map(({ type }) => type),
      links.map(({ version }) => version ?? null),
      tenant,
      limit,
    ],
  });
  const made = rows.filter(({ body }) => body === null);
  const provenances = await automatic(
    pool,
    tenant,
    made.map((row) => ({ ...row, recorded_at: row.last_updated })),
  );
  const byRow = new Map(made.map((row, n) => [row, provenances[n]]));
  return rows.map((row) => {
    const resource = byRow.get(row) ?? current(row);
    const { type, id } = resource;
    const asked = row.asked ?? undefined;
    return { resource, name: nameOf(asked === undefined ? { type, id } : { type, id, version: asked }) };
  });
}

// Index: search.entry_keys, then the primary key of resources.resource. As the result of a subquery the keys
// would give the planner no estimate: it would read the whole table for a long list. Materialized, they
// aren't walked in order. They are looked up in groups, because the index compares all requested keys with
// every entry that has one of them.
const BACKWARD = `
  with referring as materialized (
    select distinct e.id
    from (select array_agg(k.key) as keys from unnest($1::int8[]) with ordinality k(key, n) group by k.n / 50) g
    cross join lateral (select e.id from search.entry e where e.keys && g.keys offset 0) e)
  select f.id, f.type, f.version, f.last_updated, f.body
  from (select id from referring order by id limit $3) e cross join lateral (
    select r.id, r.type, r.version, r.last_updated, ${bodyOrSize('r.body')} as body from resources.resource r
    where r.id = e.id and (r.tenant = $2) is true and not r.deleted offset 0) f
  order by f.id`;

// Indexes: primary key of history.version (id, version), a look-up each; version_agents.
const AUTOMATIC = `
  select distinct on (f.recorded_at, f.event_id)
    f.event_id, f.id, f.type, f.version, f.recorded_at, f.operation, f.metadata
  from (
    select v.* from unnest($1::uuid[]) k(id) cross join lateral (
      select v.event_id, v.id, v.type, v.version, v.recorded_at, v.operation, v.metadata
      from history.version v where v.id = k.id and (v.tenant = $3) is true offset 0) v
    union all
    select v.event_id, v.id, v.type, v.version, v.recorded_at, v.operation, v.metadata
    from history.version v
    where cardinality($2::text[]) > 0 and v.agents && array(select k.agent from unnest($2::text[]) k(agent))
      and (v.tenant = $3) is true
  ) f
  order by f.recorded_at, f.event_id limit $4`;

/** Reads the resources that refer to others: those that clients wrote, and automatic Provenances. */
async function backward(
  pool: Pool,
  scope: { readonly tenant: string; readonly readBy: string; readonly base: string },
  resources: readonly CurrentResource[],
  inclusions: readonly Inclusion[],
  shown: ReadonlySet<string>,
  limit: number,
): Promise<Reached[]> {
  const keys = keysOfReferrers(resources, inclusions, scope);
  const { targets, agents } = automaticallyNamed(resources, inclusions);
  // Resources that are already shown don't count towards the limit.
  const most = limit + shown.size;
  const [rows, versions] = await Promise.all([
    keys.length === 0
      ? []
      : pool
          .query<Row>({ name: 'include-backward', text: BACKWARD, values: [keys, scope.tenant, most] })
          .then((found) => found.rows),
    targets.length + agents.length === 0
      ? []
      : pool
          .query<RecordedVersion>({
            name: 'include-automatic',
            text: AUTOMATIC,
            values: [targets, agents, scope.tenant, most],
          })
          .then((found) => found.rows),
  ]);
  return [...rows.map(current), ...(await automatic(pool, scope.readBy, versions))].map((resource) => ({
    resource,
    name: `${resource.type}/${resource.id}`,
  }));
}

/** Returns the links of automatic Provenances: their targets by id, their agents by reference. */
function automaticallyNamed(
  resources: readonly CurrentResource[],
  inclusions: readonly Inclusion[],
): { targets: string[]; agents: string[] } {
  const targets = new Set<string>();
  const agents = new Set<string>();
  for (const [source, code, target] of followedBack(inclusions)) {
    if (source !== 'Provenance' || (code !== 'target' && code !== 'patient' && code !== 'agent')) continue;
    for (const { type, id } of resources) {
      if ((target !== undefined && target !== type) || !mayName(source, code, type)) continue;
      if (code === 'agent') agents.add(`${type}/${id}`);
      else targets.add(id);
    }
  }
  return { targets: [...targets], agents: [...agents] };
}

function current({ id, type, version, last_updated, body }: Row): CurrentResource {
  return { id, type, version, lastUpdated: last_updated, body };
}

async function automatic(
  pool: Pool,
  readBy: string,
  rows: readonly RecordedVersion[],
): Promise<CurrentResource[]> {
  const texts = await provenanceTexts(pool, readBy, rows);
  return rows.map(({ event_id: id, recorded_at: lastUpdated }, n) => ({
    id,
    type: 'Provenance',
    version: 1,
    lastUpdated,
    body: texts[n] ?? null,
  }));
}
