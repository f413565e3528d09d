/**
 * Parses the text of references (https://hl7.org/fhir/R4/references.html#literal; docs/spec/decisions.md, section 5
 * "References").
 */
import { isR4ResourceType } from './definitions/tables.ts';
import { isResourceType, type ResourceType } from './types.ts';

export { rewriteReferences } from './rewrite.ts';

/** A parsed reference. */
export type ParsedReference =
  /** One of the 26 types, relative or below our base. `version` is that of `…/_history/<version>`. */
  | { readonly kind: 'local'; readonly type: ResourceType; readonly id: string; readonly version?: string }
  /** `#id`, a contained resource; an empty id is the container. */
  | { readonly kind: 'contained'; readonly id: string }
  /** `urn:uuid:…` or any other urn. */
  | { readonly kind: 'urn' }
  /** A URL elsewhere. */
  | { readonly kind: 'absolute' }
  /** `Patient?identifier=…`, in transactions. */
  | { readonly kind: 'conditional'; readonly type: string; readonly query: string }
  /** Relative, or below our base, to an R4 type outside the 26. */
  | { readonly kind: 'foreign-type'; readonly type: string; readonly id: string; readonly version?: string }
  /** None of these: not a valid reference in R4. */
  | { readonly kind: 'malformed' };

const LITERAL = /^([A-Z][A-Za-z]*)\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/([A-Za-z0-9\-.]{1,64}))?$/;
const CONDITIONAL = /^([A-Z][A-Za-z]*)\?(\S+)$/;
const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/;

/**
 * Parses a reference.
 * @param text the value of `Reference.reference`.
 * @param bases our FHIR bases, each with a slash at its end (`https://host/fhir/R4/`); if empty, every absolute URL
 *   counts as another server's.
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
