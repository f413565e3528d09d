/**
 * Determines which resources a search under a grant may name in references. Responses leave out references to other records
 * (docs/spec/decisions.md, section 1), so a search by such a reference must find nothing. Otherwise an application that knows
 * an id from another record could find out whether this record refers to it.
 */
import { isResourceType, typeEntry } from '#src/fhir/types.ts';
import type { Asks } from '../database/prepared.ts';
import type { Seeing } from '../sight.ts';

/**
 * Returns true if references to a resource are shown.
 * @param type undefined if the reference is a bare id
 */
export type Referable = (type: string | undefined, id: string) => boolean;

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

// Index: primary key of resources.resource (id).
const WITHIN = `
  select r.id from resources.resource r
  where r.id = any($1::uuid[]) and r.tenant = $2 and (r.record = $3 or r.record is null)`;

/**
 * Looks up the ids in a query under a grant; without a grant, all references are shown.
 * @param within the grant's record
 */
export async function referableIn(
  database: Asks,
  ownerId: string,
  within: Pick<NonNullable<Seeing['within']>, 'record'>,
  texts: string,
): Promise<Referable> {
  const ids = [...new Set(texts.match(UUIDS) ?? [])];
  const values = [ids, ownerId, within.record];
  const { rows } =
    ids.length === 0
      ? { rows: [] }
      : await database.query<{ id: string }>({ name: 'referable-within', text: WITHIN, values });
  const known = new Set(rows.map(({ id }) => id));
  return (type, id) => known.has(id) || (type === undefined ? !ids.includes(id) : !isInRecords(type));
}

function isInRecords(type: string): boolean {
  if (!isResourceType(type)) return false;
  const { home } = typeEntry(type);
  return home === 'record' || home === 'either';
}
