/**
 * The columns that every row in a read model has: its owner, that is, the tenant and the record; and the columns that
 * determine who sees it under a grant (docs/spec/decisions.md, section 9, "Categories"): `categories` for types that have
 * them, and `targets` for clients' Provenances. A deleted version has the values of the previous version.
 */
import { arrayLiteral } from '#src/database/array-literal.ts';
import type { ResourceEvent, StoredEvent } from '#src/events/catalog.ts';
import { recordPatient } from '#src/events/streams.ts';
import { categoryKeys, hasCategory, readCategories } from '#src/fhir/search/categories.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { someMembers } from '#src/shared/json/json-members.ts';

/** A stored event about one version of one resource. */
export type StoredResourceEvent = StoredEvent & { readonly event: ResourceEvent };

/** Returns true if an event concerns a resource. */
export function isResourceEvent(stored: StoredEvent): stored is StoredResourceEvent {
  const { type } = stored.event;
  return type === 'ResourceCreated' || type === 'ResourceUpdated' || type === 'ResourceDeleted';
}

/**
 * Returns the tenant (as `tenantId`) and the record (the patient's id; null in a directory) of a resource event.
 * @throws Error if the metadata names no owner, because the row could never be shown
 */
export function readOwner(stored: StoredEvent): { tenant: string; record: string | null } {
  const { owner } = stored.metadata;
  if (owner === undefined) throw new Error('its metadata has no owner');
  return { tenant: tenantId(owner), record: recordPatient(stored.stream) ?? null };
}

/** Returns true if an event reports that a record was erased. */
export function isErasure({ event }: StoredEvent): boolean {
  return event.type === 'RecordErased';
}

/** Returns the patients whose erasure is reported in a batch. */
export function erasedIn(events: readonly StoredEvent[]): string[] {
  return events.flatMap(({ event }) => (event.type === 'RecordErased' ? [event.data.patient] : []));
}

/** The columns `categories` and `targets`, in PostgreSQL's array syntax. */
export interface SightColumns {
  /** Hashes (`categoryKeys`); empty without a category; null for types without `category`. */
  readonly categories: string | null;
  /** The targets of a Provenance: `<id>`, or `<id>/<version>`; null for other types. */
  readonly targets: string | null;
}

/** Their types. */
export const SIGHT = { categories: 'int8[]', targets: 'text[]' } as const;

const NEITHER: SightColumns = { categories: null, targets: null };

const found = new WeakMap<ResourceEvent, SightColumns>();

/**
 * Returns the columns for an event's version, computed only once for all projections in the process; undefined for a deletion,
 * which gets the previous version's columns.
 */
export function readSight(event: ResourceEvent): SightColumns | undefined {
  if (event.type === 'ResourceDeleted') return undefined;
  const { resourceType: type, body } = event;
  if (type !== 'Provenance' && !hasCategory(type)) return NEITHER;
  const before = found.get(event);
  if (before !== undefined) return before;
  const columns =
    type === 'Provenance'
      ? { categories: null, targets: arrayLiteral(readTargets(body)) }
      : categoriesIn(type, body);
  found.set(event, columns);
  return columns;
}

/** Returns a deletion's columns if they don't depend on the previous version; undefined for types where they do. */
export function sightOfDeletion(type: string): SightColumns | undefined {
  return type === 'Provenance' || hasCategory(type) ? undefined : NEITHER;
}

const CATEGORY: ReadonlySet<string> = new Set(['category']);
const NO_CATEGORY: SightColumns = { categories: '{}', targets: null };
/** The known values of `category`, by their text: there are only a few. */
const known = new Map<string, Json>();
/** The columns of known values, by type. */
const knownColumns = new Map<string, WeakMap<object, SightColumns>>();

function categoriesIn(type: string, body: string): SightColumns {
  if (!body.includes('"category":')) return NO_CATEGORY;
  const resource: JsonObject = someMembers(body, CATEGORY, known) ?? JSON.parse(body);
  const { category } = resource;
  const hashed = (): SightColumns => ({
    categories: `{${categoryKeys(type, readCategories(type, resource)).join()}}`,
    targets: null,
  });
  if (typeof category !== 'object' || category === null) return hashed();
  const ofType = knownColumns.get(type) ?? new WeakMap<object, SightColumns>();
  const columns = ofType.get(category) ?? hashed();
  knownColumns.set(type, ofType.set(category, columns));
  return columns;
}

/** Matches a literal reference to something that can be stored in this service, with or without a base URL. */
const REFERENCE =
  /(?:^|\/)[A-Z][A-Za-z]*\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/_history\/([1-9]\d{0,8}))?$/i;

function readTargets(body: string): string[] {
  const { target } = JSON.parse(body) as { target: readonly { readonly reference?: string }[] };
  const all = target.flatMap(({ reference = '' }) => {
    const [, id, version] = REFERENCE.exec(reference) ?? [];
    if (id === undefined) return [];
    return version === undefined ? [id.toLowerCase()] : [`${id.toLowerCase()}/${version}`];
  });
  return [...new Set(all)];
}
