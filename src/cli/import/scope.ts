/** Resolves references within a bundle, or within the pool of resources whose ids are valid across files. Pure. */
import { isResourceType } from '#src/fhir/types.ts';
import { typeAndId } from './references.ts';

/** The target of a reference within one source or one import. */
export type Target =
  | { readonly kind: 'entry'; readonly key: string }
  | { readonly kind: 'dropped'; readonly uri: string; readonly type: string; readonly display?: string };

/** Finds a reference's target; undefined if the target isn't in this scope. */
export type Scope = (reference: string) => Target | undefined;

/**
 * Returns the scope of a bundle, in which references resolve to the bundle's entries by name. Versions and fragments are
 * ignored.
 */
export function scopeOver(aliases: ReadonlyMap<string, Target>): Scope {
  return (reference) => {
    const exact =
      aliases.get(reference) ?? aliases.get(reference.replace(/(\/_history\/[^/#]+)?(#.*)?$/, ''));
    if (exact !== undefined) return exact;
    const target = typeAndId(reference);
    return target === undefined || target.absolute ? undefined : aliases.get(`${target.type}/${target.id}`);
  };
}

/**
 * Resolves a reference to `Type/id`, which names a resource in the pool of NDJSON and PUT entries. For a type that isn't
 * stored, it returns a dropped target.
 */
export const pooledScope: Scope = (reference) => {
  const target = typeAndId(reference);
  if (target === undefined || target.absolute) return undefined;
  const key = `${target.type}/${target.id}`;
  return isResourceType(target.type)
    ? { kind: 'entry', key }
    : { kind: 'dropped', uri: key, type: target.type };
};
