/** References in searches for Provenance, which may name a version. https://hl7.org/fhir/R4/search.html#versions */
import type { SearchScope } from '../search/predicates/parameter.ts';
import { badParameter, parameterKey, type RawParameter, refuseModifier, unescaped } from '../search/raw.ts';

/** A reference to a resource, or to one version of it. */
export interface Versioned {
  readonly type: string;
  readonly id: string;
  readonly version?: number;
}

const REFERENCE = /^(?:([A-Z][A-Za-z]{1,63})\/)?([A-Za-z0-9.-]{1,64})(?:\/_history\/([1-9]\d{0,8}))?$/;

/**
 * Parses `Type/id` or `Type/id/_history/n`, either alone or below our base URL; a bare id may be of any of the types. Other
 * URLs match nothing.
 * @throws Refusal `malformed` for an invalid reference, and for a modifier that isn't one of the types
 */
export function parseVersioned(
  parameter: RawParameter,
  { base, referable }: SearchScope,
  types: readonly string[],
): Versioned[] {
  refuseModifier(parameter, types);
  return parameter.values.flatMap((value) => {
    const text = unescaped(value);
    const relative = text.startsWith(base) ? text.slice(base.length) : text;
    const [, type = parameter.modifier, id, version] = REFERENCE.exec(relative) ?? [];
    if (id === undefined) {
      if (/^(?:https?|urn):/.test(text)) return [];
      throw badParameter(parameterKey(parameter), 'the value is not a reference such as Type/<id>');
    }
    if (referable?.(type, id) === false) return [];
    const exact = version === undefined ? {} : { version: Number(version) };
    return (type === undefined ? types : [type]).map((each) => ({ type: each, id, ...exact }));
  });
}

/** Returns the forms in which metadata can contain references: relative or absolute. */
export function written(references: readonly Versioned[], { base }: SearchScope): string[] {
  return references.flatMap(({ type, id, version }) => {
    const relative = version === undefined ? `${type}/${id}` : `${type}/${id}/_history/${version}`;
    return [relative, base + relative];
  });
}
