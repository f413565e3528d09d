/**
 * The statements for inclusions. Under a grant, each statement contains the condition from `sight.ts`, with the letter `s`
 * (docs/spec/decisions.md, section 9, "Letters"). The condition is applied before the limit, so hidden resources don't count
 * towards the limit.
 */
import { recordKey, searchKey } from '#src/fhir/search/keys.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { prepared } from '../database/prepared.ts';
import { bodyOrSize, type CurrentResource } from '../read.ts';
import { andSeen, andSeenProvenance, bindTo, findHome, isLimited, type Seeing, seesType } from '../sight.ts';
import type { Inclusion } from './inclusions.ts';
import { keysOfReferrers, type Link } from './links.ts';

/** The scope in which an inclusion is followed. */
export interface IncludeScope {
  readonly sees: Seeing;
  /** `Calls.projectId`: the names of keys and applications are visible only to their own project. */
  readonly readBy: string;
  /** Base URL of the FHIR interface, with a trailing slash. */
  readonly base: string;
}

/** A statement in the form that `pg` accepts. */
interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

/** The letter that a grant must have on the types to which an inclusion leads. */
const LETTER = 's';

/** Returns the statement with the given name; under a grant, with a name for its shape. */
function nameStatement(sees: Seeing, name: string, text: string, values: unknown[]): Statement {
  return isLimited(sees) ? prepared(text, values) : { name, text, values };
}

// Indexes: primary keys of resources.resource (id) and history.version (id, version); history.version_event (event_id)
// only for automatic Provenances, which aren't resources. Lateral with `offset 0` forces one lookup each; tenants are
// only checked, or the planner might read all rows of a tenant for each.
const forward = (seen: Record<'current' | 'version' | 'automatic', string>): string => `
  select k.n, k.version as asked, f.id, f.type, f.version, f.last_updated, f.body, f.event_id, f.operation, f.metadata
  from unnest($1::uuid[], $2::text[], $3::int[]) with ordinality k(id, type, version, n)
  cross join lateral (
    select r.id, r.type, r.version, r.last_updated, ${bodyOrSize('r.body')} as body,
      null::uuid as event_id, null as operation, null as metadata
    from resources.resource r
    where k.version is null and r.id = k.id and (r.tenant = $4) is true and not r.deleted ${seen.current}
    union all
    select v.id, v.type, v.version, v.recorded_at, ${bodyOrSize('v.body')}, null, null, null
    from resources.resource r join history.version v on v.id = r.id
    where k.version is not null and r.id = k.id and (r.tenant = $4) is true and not r.deleted
      and v.version = k.version and v.body is not null ${seen.version}
    union all
    select v.id, v.type, v.version, v.recorded_at, null, v.event_id, v.operation, v.metadata
    from history.version v
    where k.type = 'Provenance' and coalesce(k.version, 1) = 1 and v.event_id = k.id and (v.tenant = $4) is true
      ${seen.automatic}
    offset 0
  ) f
  where f.event_id is not null or f.type = k.type
  order by k.n limit $5`;

/** Returns the statement that reads the targets of links. */
export function forwardStatement(sees: Seeing, links: readonly Link[], limit: number): Statement {
  const values: unknown[] = [
    links.map(({ id }) => id),
    links.map(({ type }) => type),
    links.map(({ version }) => version ?? null),
    sees.ownerId,
    limit,
  ];
  const bind = bindTo(values);
  const text = forward({
    current: andSeen(sees, LETTER, { as: 'r', of: 'current' }, bind),
    version: andSeen(sees, LETTER, { as: 'v', of: 'version' }, bind),
    automatic: andSeenProvenance(sees, LETTER, 'v', bind),
  });
  return nameStatement(sees, 'include-forward', text, values);
}

/** Looks up keys in groups, because the index compares all requested keys with every entry that has one of them. */
const groups = (keys: string): string =>
  `(select array_agg(k.key) as keys from unnest(${keys}::int8[]) with ordinality k(key, n) group by k.n / 50) g`;

// Index: search.entry_keys, then the primary key of resources.resource. As the result of a subquery the keys
// would give the planner no estimate: it would read the whole table for a long list. Materialized, they
// aren't walked in order.
const BACKWARD = `
  with referring as materialized (
    select distinct e.id
    from ${groups('$1')}
    cross join lateral (select e.id from search.entry e where e.keys && g.keys offset 0) e)
  select f.id, f.type, f.version, f.last_updated, f.body
  from (select id from referring order by id limit $3) e cross join lateral (
    select r.id, r.type, r.version, r.last_updated, ${bodyOrSize('r.body')} as body from resources.resource r
    where r.id = e.id and (r.tenant = $2) is true and not r.deleted offset 0) f
  order by f.id`;

// Index: search.entry_keys, for referrers in the record together with the record's key, so that none of another record is
// read; then the primary key of resources.resource.
const backwardSeen = (seen: string): string => `
  with referring as materialized (
    select e.id from ${groups('$1')}
    cross join lateral (select e.id from search.entry e where e.keys && g.keys and e.keys && $4::int8[] offset 0) e
    union
    select e.id from ${groups('$5')}
    cross join lateral (select e.id from search.entry e where e.keys && g.keys and e.record is null offset 0) e)
  select f.id, f.type, f.version, f.last_updated, f.body
  from (select id from referring order by id) e cross join lateral (
    select r.id, r.type, r.version, r.last_updated, ${bodyOrSize('r.body')} as body from resources.resource r
    where r.id = e.id and (r.tenant = $2) is true and not r.deleted ${seen} offset 0) f
  order by e.id limit $3`;

/**
 * Returns the statement that reads the resources that refer to the given resources; undefined if no resource can refer to
 * them.
 */
export function backwardStatement(
  { sees, base }: IncludeScope,
  resources: readonly Pick<CurrentResource, 'type' | 'id'>[],
  inclusions: readonly Inclusion[],
  limit: number,
): Statement | undefined {
  const tenant = sees.ownerId;
  const referrerKeys = (some: readonly Inclusion[]) => keysOfReferrers(resources, some, { tenant, base });
  const { within } = sees;
  const seen = (type: ResourceType) => seesType(sees, type, LETTER);
  if (within === undefined) {
    const keys = referrerKeys(bySources(inclusions, seen));
    if (keys.length === 0) return undefined;
    return { name: 'include-backward', text: BACKWARD, values: [keys, tenant, limit] };
  }
  const inRecord = referrerKeys(
    bySources(inclusions, (type) => seen(type) && findHome(type) !== 'directory'),
  );
  const inDirectory = referrerKeys(
    bySources(inclusions, (type) => seen(type) && findHome(type) !== 'record'),
  );
  if (inRecord.length + inDirectory.length === 0) return undefined;
  const values: unknown[] = [inRecord, tenant, limit, [searchKey(recordKey(within.record))], inDirectory];
  const text = backwardSeen(andSeen(sees, LETTER, { as: 'r', of: 'current' }, bindTo(values)));
  return prepared(text, values);
}

/** Returns the inclusions, limited to the given source types. */
function bySources(
  inclusions: readonly Inclusion[],
  isTaken: (type: ResourceType) => boolean,
): readonly Inclusion[] {
  return inclusions.map((each) => ({
    ...each,
    sources: new Map([...each.sources].filter(([type]) => isTaken(type))),
  }));
}

// Indexes: primary key of history.version (id, version), a look-up each; version_agents.
const automatic = (ofTarget: string, ofAgent: string): string => `
  select distinct on (f.recorded_at, f.event_id)
    f.event_id, f.id, f.type, f.version, f.recorded_at, f.operation, f.metadata
  from (
    select v.* from unnest($1::uuid[]) k(id) cross join lateral (
      select v.event_id, v.id, v.type, v.version, v.recorded_at, v.operation, v.metadata
      from history.version v where v.id = k.id and (v.tenant = $3) is true ${ofTarget} offset 0) v
    union all
    select v.event_id, v.id, v.type, v.version, v.recorded_at, v.operation, v.metadata
    from history.version v
    where cardinality($2::text[]) > 0 and v.agents && array(select k.agent from unnest($2::text[]) k(agent))
      and (v.tenant = $3) is true ${ofAgent}
  ) f
  order by f.recorded_at, f.event_id limit $4`;

/** Returns the statement that reads automatic Provenances with the given targets, by id, or the given agents, by reference. */
export function automaticStatement(
  sees: Seeing,
  { targets, agents }: { readonly targets: readonly string[]; readonly agents: readonly string[] },
  limit: number,
): Statement {
  const values: unknown[] = [targets, agents, sees.ownerId, limit];
  const bind = bindTo(values);
  const seen = () => andSeenProvenance(sees, LETTER, 'v', bind);
  return nameStatement(sees, 'include-automatic', automatic(seen(), seen()), values);
}
