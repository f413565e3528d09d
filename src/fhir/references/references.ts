/**
 * Parses the text of references (https://hl7.org/fhir/R4/references.html#literal), and determines from a resource's content
 * which record the resource belongs to (docs/spec/decisions.md, section 5 "References" and "Record, directory, terminology").
 */
import type { Issue } from '#src/shared/issue.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { isR4ResourceType } from '../definitions/tables.ts';
import { isResourceType, type ResourceType, typeEntry } from '../types.ts';

export { rewriteReferences } from '../rewrite.ts';

export type ParsedReference =
  /** A reference to one of the 26 types, relative or below our base URL. `version` is from `…/_history/<version>`. */
  | { readonly kind: 'local'; readonly type: ResourceType; readonly id: string; readonly version?: string }
  /** `#id`, a contained resource; if the id is empty, the container. */
  | { readonly kind: 'contained'; readonly id: string }
  /** `urn:uuid:…` or any other URN. */
  | { readonly kind: 'urn' }
  /** A URL elsewhere. */
  | { readonly kind: 'absolute' }
  /** `Patient?identifier=…`, in transactions. */
  | { readonly kind: 'conditional'; readonly type: string; readonly query: string }
  /** A reference to an R4 type that isn't one of the 26, relative or below our base URL. */
  | { readonly kind: 'foreign-type'; readonly type: string; readonly id: string; readonly version?: string }
  /** Any other text, which isn't a valid reference in R4. */
  | { readonly kind: 'malformed' };

const LITERAL = /^([A-Z][A-Za-z]*)\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/([A-Za-z0-9\-.]{1,64}))?$/;
const CONDITIONAL = /^([A-Z][A-Za-z]*)\?(\S+)$/;
const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/;

/**
 * Parses a reference.
 * @param text the value of `Reference.reference`.
 * @param bases our FHIR base URLs, each with a trailing slash (`https://host/fhir/R4/`); if empty, every absolute URL is
 *   treated as another server's.
 */
export function parseReference(text: string, bases: readonly string[] = []): ParsedReference {
  if (text.startsWith('#')) return { kind: 'contained', id: text.slice(1) };
  if (text.startsWith('urn:')) return { kind: 'urn' };
  if (!ABSOLUTE.test(text)) return parseRelative(text);
  const base = bases.find((candidate) => text.startsWith(candidate));
  if (base === undefined) return { kind: 'absolute' };
  const below = parseRelative(text.slice(base.length));
  return below.kind === 'malformed' ? { kind: 'absolute' } : below;
}

function parseRelative(text: string): ParsedReference {
  const [, type = '', id = '', version] = LITERAL.exec(text) ?? [];
  if (id !== '') {
    const place = { id, ...(version !== undefined && { version }) };
    if (isResourceType(type)) return { kind: 'local', type, ...place };
    return isR4ResourceType(type) ? { kind: 'foreign-type', type, ...place } : { kind: 'malformed' };
  }
  const [, searched = '', query = ''] = CONDITIONAL.exec(text) ?? [];
  return isR4ResourceType(searched) ? { kind: 'conditional', type: searched, query } : { kind: 'malformed' };
}

/** A resource that a Provenance is about. */
interface Target {
  readonly type: ResourceType;
  readonly id: string;
  /** Set if the target names a version. */
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
 * Returns the owner of a resource that is about to be written. The caller must already have replaced URN references.
 * @param bases our FHIR base URLs, each with a trailing slash.
 * @returns the owner, or one fault: the element that determines the record is missing (`required`), or it doesn't name a
 *   patient on this service (`value`).
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
  if (owner === 'target') return readTargets(value, bases);
  if (value === undefined && home === 'either') return { kind: 'directory' };
  return readPatientOwner(value, `${type}.${owner}`, bases);
}

function readPatientOwner(
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

function readTargets(value: Json | undefined, bases: readonly string[]): Owner | { readonly issue: Issue } {
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
