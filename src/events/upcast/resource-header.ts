/**
 * The header of resource events: the members before `resource`, which is the last one. Only the header is parsed and
 * upcast; the resource is cut out as it was written.
 */
import { CATALOG, type ResourceEvent } from '../catalog.ts';
import { upcast } from './upcast.ts';

type ResourceEventType = ResourceEvent['type'];

/** One pattern for each version up to `V`. */
type PatternsTo<V extends number, P extends readonly RegExp[] = readonly []> = P['length'] extends V
  ? P
  : PatternsTo<V, readonly [...P, RegExp]>;

const VERSION_1 =
  /^\{"resource_type":"(\w+)","resource_id":"([0-9a-f-]{36})","version":(\d+)(?:,"resource":|\}$)/;

/**
 * Event type → the header's text in each version of the type, from version 1. The compiler demands one for each version.
 * The groups of the current version are the resource's type, its id and its version.
 */
export const HEADERS: {
  readonly [T in ResourceEventType]: PatternsTo<(typeof CATALOG)[T]['version']>;
} = {
  ResourceCreated: [VERSION_1],
  ResourceUpdated: [VERSION_1],
  ResourceDeleted: [VERSION_1],
};

const PATTERNS: Readonly<Record<ResourceEventType, readonly RegExp[]>> = HEADERS;

/** The header in its current form. */
export interface ResourceHeader {
  readonly fields: { readonly resourceType: string; readonly resourceId: string; readonly version: number };
  /** Number of characters before the resource. */
  readonly length: number;
}

/**
 * Reads the header of a resource event's data.
 * @param version that the data have; at most the current one.
 * @throws TypeError, or ZodError after upcasting, for a header that is not of the form of that version.
 */
export function readHeader(type: ResourceEventType, version: number, data: string): ResourceHeader {
  const header = PATTERNS[type][version - 1]?.exec(data) ?? null;
  if (header === null) throw new TypeError(`the data are not of the form of ${type} version ${version}`);
  const [text, resourceType = '', resourceId = '', number] = header;
  const fields =
    version === CATALOG[type].version
      ? { resourceType, resourceId, version: Number(number) }
      : upcastFields(type, version, text);
  return { fields, length: text.length };
}

function upcastFields(type: ResourceEventType, version: number, text: string): ResourceHeader['fields'] {
  const header: unknown = JSON.parse(text.replace(/(?:,"resource":|\})$/, '}'));
  // The schema's `resource` is left empty: the one in the event is neither parsed nor changed.
  const current = CATALOG[type].data.parse({ ...upcast(type, version, header), resource: {} });
  return {
    resourceType: current.resource_type,
    resourceId: current.resource_id,
    version: current.version,
  };
}
