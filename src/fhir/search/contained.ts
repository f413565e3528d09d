/** Finds the contained resources that chained searches include: https://hl7.org/fhir/R4/references.html#contained */
import { createHash } from 'node:crypto';
import { isResourceType, type ResourceType } from '../types.ts';

/** Maximum number of contained resources per resource that searches find: the first ones that have supported types. */
const MOST_CONTAINED = 1_000;

/** A contained resource. */
export interface Contained {
  readonly type: ResourceType;
  /** The id of its row, which is never the same as a resource's id: see `containedId`. */
  readonly rowId: string;
  readonly resource: unknown;
}

/** One resource's contained resources, by their local ids. */
export type ContainedResources = ReadonlyMap<string, Contained>;

const NONE: ContainedResources = new Map();

/** Returns a resource's contained resources that have supported types. */
export function containedIn(id: string, resource: unknown): ContainedResources {
  const { contained } = resource as { readonly contained?: unknown };
  if (!Array.isArray(contained)) return NONE;
  const found = new Map<string, Contained>();
  for (const each of contained as readonly { readonly resourceType?: unknown; readonly id?: unknown }[]) {
    const { resourceType: type, id: local } = each;
    if (found.size === MOST_CONTAINED) break;
    if (typeof local !== 'string' || !isResourceType(type)) continue;
    found.set(local, { type, rowId: containedId(id, local), resource: each });
  }
  return found;
}

/** The UUID version of a contained resource's row id. Resource ids have version 7, and no other code creates version 8. */
export const CONTAINED_VERSION = 8;

/**
 * Returns the id of a contained resource's row: a version 8 UUID (https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-8),
 * which distinguishes the row from a resource's row.
 * @param id the id of the resource that contains it.
 * @param local its id within that resource, without `#`.
 */
function containedId(id: string, local: string): string {
  const hex = createHash('sha256').update(`${id}#${local}`).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `${CONTAINED_VERSION}${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
