/** Determines where a resource belongs: in a patient's record, in the directory, or in neither. Pure. */
import { isResourceType, typeEntry } from '#src/fhir/types.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { typeAndId } from './references.ts';

/** Where a resource belongs. */
export type Home =
  | { readonly kind: 'patient' }
  /** The record of the patient that this reference names. */
  | { readonly kind: 'record'; readonly owner: string }
  /** The record that contains the Provenance's targets. */
  | { readonly kind: 'provenance'; readonly targets: readonly string[] }
  | { readonly kind: 'directory' }
  | { readonly kind: 'skipped'; readonly why: 'unsupported' | 'read-only' }
  | { readonly kind: 'fault'; readonly diagnostics: string };

/** Returns where a resource belongs, according to the table of types. `resource` has a `resourceType`. */
export function findHome(resource: JsonObject): Home {
  const type = resource.resourceType;
  if (!isResourceType(type)) return { kind: 'skipped', why: 'unsupported' };
  const { home, owner } = typeEntry(type);
  if (home === 'terminology') return { kind: 'skipped', why: 'read-only' };
  if (type === 'Patient') return { kind: 'patient' };
  if (home === 'directory' || owner === undefined) return { kind: 'directory' };
  if (owner === 'target') return { kind: 'provenance', targets: literals(resource.target) };
  const [reference] = literals(resource[owner]);
  if (reference !== undefined) return { kind: 'record', owner: reference };
  if (home === 'either' && resource[owner] === undefined) return { kind: 'directory' };
  return { kind: 'fault', diagnostics: `${type}.${owner} must be a reference to a patient` };
}

function literals(value: Json | undefined): string[] {
  const items = Array.isArray(value) ? value : [value];
  return items.flatMap((item) =>
    isObject(item) && typeof item.reference === 'string' ? [item.reference] : [],
  );
}

/**
 * Returns the key of the patient whose record contains a pooled resource. Returns `''` for the directory and for a Provenance,
 * whose record depends on its targets; otherwise the reason why the resource can't be placed.
 */
export function pooledOwner(home: Home, key: string): { owner: string } | { diagnostics: string } {
  if (home.kind === 'patient') return { owner: key };
  if (home.kind === 'fault') return { diagnostics: home.diagnostics };
  if (home.kind !== 'record') return { owner: '' };
  if (/^Patient\?/.test(home.owner)) return { owner: home.owner };
  const target = typeAndId(home.owner);
  if (target?.type === 'Patient' && !target.absolute) return { owner: `Patient/${target.id}` };
  return { diagnostics: `${home.owner} is not a patient in these files or on this server` };
}
