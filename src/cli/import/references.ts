/**
 * Finds and rewrites a resource's references, including the references in contained resources. A reference is a string member
 * named `reference` (https://hl7.org/fhir/R4/references.html).
 */
import { isResourceType } from '#src/fhir/types.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';

/** How a reference was resolved. */
export type Resolution =
  /** It stays unchanged. */
  | { readonly kind: 'keep' }
  /** Points to a loaded resource: the `urn:` of an entry in the same transaction, or `Type/id`. */
  | { readonly kind: 'to'; readonly reference: string }
  /** Becomes an identifier, because the target isn't loaded. `uri` is the source's name for the target. */
  | {
      readonly kind: 'dropped' | 'missing';
      readonly uri: string;
      readonly type?: string;
      readonly display?: string;
    };

/** The number of references that lost their target, by reason. */
export interface Lost {
  /** References whose target has a type that the service doesn't store. */
  readonly dropped: number;
  /** References whose target isn't in the sources. */
  readonly missing: number;
}

/** Parses `Type/id` from a relative reference or from the end of an absolute one, without `/_history/v` or a fragment. */
export function typeAndId(reference: string): { type: string; id: string; absolute: boolean } | undefined {
  const match =
    /^(https?:\/\/.*\/)?([A-Z][A-Za-z]+)\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/[^/#]+)?(?:#.*)?$/.exec(
      reference,
    );
  const [, base, type, id] = match ?? [];
  return type === undefined || id === undefined ? undefined : { type, id, absolute: base !== undefined };
}

/** Returns a resource's references to other resources (not `#contained`), in order, without duplicates. */
export function listReferences(resource: Json): string[] {
  const found = new Set<string>();
  collect(resource, found);
  return [...found];
}

function collect(value: Json, found: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, found);
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (name === 'reference' && typeof member === 'string') {
        if (!member.startsWith('#')) found.add(member);
      } else if (typeof member === 'object') collect(member, found);
    }
  }
}

/**
 * Returns a resource with its references rewritten; unchanged parts are shared with the original.
 * @param resolve is called for each reference to another resource.
 */
export function rewriteReferences(
  resource: JsonObject,
  resolve: (reference: string) => Resolution,
): { resource: JsonObject; lost: Lost } {
  const lost = { dropped: 0, missing: 0 };
  const visit = (value: Json): Json => {
    if (Array.isArray(value)) {
      const items = value.map(visit);
      return items.some((item, i) => item !== value[i]) ? items : value;
    }
    return isObject(value) ? visitObject(value) : value;
  };
  const visitObject = (object: JsonObject): JsonObject => {
    let changed: JsonObject | undefined;
    for (const [name, member] of Object.entries(object)) {
      if (typeof member !== 'object' || member === null) continue;
      const next = visit(member);
      if (next !== member) {
        changed ??= { ...object };
        changed[name] = next;
      }
    }
    const { reference } = object;
    if (typeof reference !== 'string' || reference.startsWith('#')) return changed ?? object;
    const resolution = resolve(reference);
    if (resolution.kind === 'keep') return changed ?? object;
    if (resolution.kind === 'to') return { ...(changed ?? object), reference: resolution.reference };
    lost[resolution.kind] += 1;
    return withoutTarget(changed ?? object, resolution);
  };
  return { resource: visitObject(resource), lost };
}

/**
 * Returns a Reference by identifier for a target that isn't loaded; R4 allows `identifier` where `reference` is impossible. If
 * the source's Reference already has an identifier, that is kept, because it is more useful than an old id.
 */
function withoutTarget(
  { reference: _, ...rest }: JsonObject,
  { uri, type, display }: { uri: string; type?: string; display?: string },
): JsonObject {
  const named = rest.type ?? type;
  return {
    ...rest,
    ...(named === undefined ? {} : { type: named }),
    identifier: rest.identifier ?? { system: 'urn:ietf:rfc:3986', value: uri },
    display: rest.display ?? display ?? `${typeof named === 'string' ? named : 'Resource'}, not imported`,
  };
}

/**
 * Resolves a reference whose target isn't in the import. Old ids aren't valid on this server, so a relative reference becomes
 * an identifier, except if its id is a UUID and its type is supported: the server may already have that resource.
 */
export function unresolved(reference: string): Resolution {
  if (reference.startsWith('urn:')) return { kind: 'missing', uri: reference };
  const target = typeAndId(reference);
  if (target === undefined || target.absolute) return { kind: 'keep' };
  if (!isResourceType(target.type)) return { kind: 'dropped', uri: reference, type: target.type };
  return UUID_V7.test(target.id) ? { kind: 'keep' } : { kind: 'missing', uri: reference, type: target.type };
}

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Returns a name for a resource, to be used as the `display` of a reference when the resource isn't loaded. */
export function findLabel(resource: JsonObject): string | undefined {
  const { code, type, name } = resource;
  const concept = isObject(code) ? code : isObject(type) ? type : {};
  const [coding] = Array.isArray(concept.coding) ? concept.coding : [];
  const said = [concept.text, isObject(coding) ? coding.display : undefined, name];
  return said.find((text) => typeof text === 'string');
}
