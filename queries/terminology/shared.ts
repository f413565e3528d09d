/**
 * CodeSystem, ValueSet and ConceptMap are shared by all projects and read-only (docs/spec/decisions.md, section 5). Their read
 * models have the same tables as the read models for other resources, but in separate schemas, under a tenant that no project
 * uses.
 */
import type { Pool, QueryConfig } from 'pg';
import { publishedUrls, type Terminology } from '#src/fhir/terminology.ts';
import { type ResourceType, typeEntry } from '#src/fhir/types.ts';
import { type Caller, type Sees, type Tenant, tenantId } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Read } from '../read.ts';
import { openSearch, type Search } from '../search/search.ts';
import type { Vread } from '../vread.ts';

/** The tenant that owns these rows. No project can have this name, because project ids begin with `proj_`. */
export const SHARED_OWNER: Tenant = { project: 'terminology', environment: 'production' };

/** Returns the schema that contains the terminology's rows in a read model. */
export function sharedSchema(readModel: string): string {
  return `terminology_${readModel}`;
}

const SCHEMAS = /\b(resources|search|history)\.(?=[a-z_]+\b)/g;

/** Returns the same database, but with the terminology's read models instead of the resources' read models. */
function sharedModels(pool: Pool): Pool {
  const elsewhere = (text: string): string =>
    text.replace(SCHEMAS, (_, readModel: string) => `${sharedSchema(readModel)}.`);
  const query = ({ name, text, ...rest }: QueryConfig) =>
    pool.query({
      ...rest,
      ...(name === undefined ? {} : { name: `terminology-${name}` }),
      text: elsewhere(text),
    });
  return Object.assign(Object.create(pool) as Pool, { query });
}

/** The database that contains the terminology. */
interface Shared {
  readonly pool: Pool;
  /** Resolves when the terminology is installed. */
  readonly ready: () => Promise<void>;
}

const isShared = (type: ResourceType): boolean => typeEntry(type).home === 'terminology';

const SHARED_SIGHT: Sees = { owner: SHARED_OWNER, ownerId: tenantId(SHARED_OWNER) };

/** Returns the caller with access to the shared terminology and nothing else. */
const asShared = (caller: Caller): Caller => ({ ...caller, sees: SHARED_SIGHT });

/** Returns the read models that contain a type, and what the caller sees there; for terminology, the shared read models. */
export function chooseModels(type: ResourceType, pool: Pool, sees: Sees): { pool: Pool; sees: Sees } {
  return isShared(type) ? { pool: sharedModels(pool), sees: SHARED_SIGHT } : { pool, sees };
}

/** Searches any type; for terminology, searches the shared read models. */
export function withSharedSearch(
  { pool, ready }: Shared,
  ofTenant: Search,
  terminology?: Terminology,
): Search {
  const shared = openSearch(sharedModels(pool), terminology);
  return async (caller, request) => {
    if (!isShared(request.type)) return ofTenant(caller, request);
    await ready();
    return shared(asShared(caller), request);
  };
}

// Index: primary key of terminology.resource (id).
const READ = 'select t.id, t.changed_at, t.body from terminology.resource t where t.id = $1 and t.type = $2';

// Index: unique (type, url).
const READ_PUBLISHED = `
  select t.id, t.changed_at, t.body from terminology.resource t
  where t.type = $2 and t.url = any($1::text[])
  order by array_position($1::text[], t.url) limit 1`;

/** Reads any type; for terminology, reads the shared read models, by our id or the published id. */
export function withSharedRead({ pool, ready }: Shared, ofTenant: Read): Read {
  return async (caller, type, id, budget) => {
    if (!isShared(type)) return ofTenant(caller, type, id, budget);
    await ready();
    const asked = isUuid(id)
      ? { name: 'read-terminology', text: READ, values: [id, type] }
      : { name: 'read-published', text: READ_PUBLISHED, values: [publishedUrls(type, id), type] };
    const { rows } = await pool.query<{ id: string; changed_at: Micros; body: string }>(asked);
    const [row] = rows;
    return row && { id: row.id, type, version: 1, lastUpdated: row.changed_at, body: row.body };
  };
}

/** Reads a version of any type; terminology has only version 1, which is the same as the current content. */
export function withSharedVread(read: Read, ofTenant: Vread): Vread {
  return async (caller, type, id, version, budget) => {
    if (!isShared(type)) return ofTenant(caller, type, id, version, budget);
    return version === 1 ? read(caller, type, id) : undefined;
  };
}
