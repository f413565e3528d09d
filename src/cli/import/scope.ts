/** Resolves references within a bundle, or within the pool of resources whose ids are valid across files. Pure. */
import { isResourceType } from '#src/fhir/types.ts';
import { typeAndId } from './references.ts';

/** The target of a reference within one source or one import. */
export type Target =
  | { readonly kind: 'entry'; readonly key: string }
  | { readonly kind: 'dropped'; readonly uri: string; readonly type: string; readonly display?: string };

/** Finds a reference's target; undefined if it has none here. */
export type Scope = (reference: string) => Target | undefined;

/** Returns the scope of a bundle, which consists of its entries' names. Versions and fragments are ignored. */
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
 * Resolves a reference to `Type/id`, the name of a resource in the pool of NDJSON and PUT entries; a dropped target for types
 * that aren't stored.
 */
export const pooledScope: Scope = (reference) => {
  const target = typeAndId(reference);
  if (target === undefined || target.absolute) return undefined;
  const key = `${target.type}/${target.id}`;
  return isResourceType(target.type)
    ? { kind: 'entry', key }
    : { kind: 'dropped', uri: key, type: target.type };
};
