/**
 * Determines from a resource's own content which record it belongs to (docs/spec/decisions.md, section 5 "Record,
 * directory, terminology").
 */
import type { Issue } from '#src/shared/issue.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json.ts';
import { parseReference } from './references.ts';
import { type ResourceType, typeEntry } from './types.ts';

/** A resource that a Provenance is about. */
export interface Target {
  readonly type: ResourceType;
  readonly id: string;
  /** Set when the target names a version. */
  readonly version?: string;
}

/** The record or directory that a resource belongs to. */
export type Owner =
  /** A Patient: the resource is its own record. */
  | { readonly kind: 'self' }
  /** The record of the Patient with this id. */
  | { readonly kind: 'patient'; readonly id: string }
  /** The record that these targets belong to. */
  | { readonly kind: 'targets'; readonly targets: readonly Target[] }
  /** The project's directory, outside any record. */
  | { readonly kind: 'directory' };

/**
 * Returns the owner of a resource that is about to be written.
 * @param bases our FHIR bases, each with a slash at its end. The caller has replaced references by urn.
 * @returns the owner, or one fault: the element that determines the record is missing (`required`), or it does not name
 *   a patient here (`value`).
 */
export function findOwner(
  resource: JsonObject,
  type: ResourceType,
  bases: readonly string[],
): Owner | { readonly issue: Issue } {
  const { home, owner } = typeEntry(type);
  if (type === 'Patient') return { kind: 'self' };
  if (home === 'terminology') {
    return { issue: { code: 'not-supported', diagnostics: `${type} is read-only`, expression: type } };
  }
  if (owner === undefined) return { kind: 'directory' };
  const value = resource[owner];
  if (owner === 'target') return targetsOf(value, bases);
  if (value === undefined && home === 'either') return { kind: 'directory' };
  return patientOf(value, `${type}.${owner}`, bases);
}

function patientOf(
  value: Json | undefined,
  expression: string,
  bases: readonly string[],
): Owner | { readonly issue: Issue } {
  const parsed = literal(value, bases);
  if (parsed === undefined) {
    const diagnostics = `${expression} is required: a reference Patient/<id> to the patient whose record this belongs to`;
    return { issue: { code: 'required', diagnostics, expression } };
  }
  if (parsed.kind === 'local' && parsed.type === 'Patient') return { kind: 'patient', id: parsed.id };
  const named = 'type' in parsed ? `not to ${parsed.type}` : 'not to something elsewhere';
  const diagnostics = `${expression} must refer to a Patient of this service, ${named}`;
  return { issue: { code: 'value', diagnostics, expression } };
}

function targetsOf(value: Json | undefined, bases: readonly string[]): Owner | { readonly issue: Issue } {
  const targets: Target[] = [];
  for (const [index, item] of (Array.isArray(value) ? value : []).entries()) {
    const parsed = literal(item, bases);
    if (parsed?.kind !== 'local') {
      const expression = `Provenance.target[${index}]`;
      const diagnostics = `${expression} must refer to a resource of this service: Type/<id> or Type/<id>/_history/<version>`;
      return { issue: { code: parsed === undefined ? 'required' : 'value', diagnostics, expression } };
    }
    const { type, id, version } = parsed;
    targets.push({ type, id, ...(version !== undefined && { version }) });
  }
  if (targets.length > 0) return { kind: 'targets', targets };
  const expression = 'Provenance.target';
  return { issue: { code: 'required', diagnostics: `${expression} is required`, expression } };
}

function literal(
  value: Json | undefined,
  bases: readonly string[],
): ReturnType<typeof parseReference> | undefined {
  return isObject(value) && typeof value.reference === 'string'
    ? parseReference(value.reference, bases)
    : undefined;
}
