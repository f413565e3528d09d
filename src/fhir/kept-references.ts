/**
 * Determines, under a grant, which references a new version may keep from the stored version although the application may not
 * see their targets. Otherwise, the application couldn't write back what it has read.
 */
import type { JsonObject } from '#src/shared/json/json.ts';
import type { ResourceType } from './types.ts';
import { validateResource } from './validate.ts';

/**
 * Returns whether a reference may be kept.
 * @param path the Reference's path, as validation names it
 */
export type KeptReference = (reference: string, path: string) => boolean;

/** Keeps references anywhere in the resource, for callers who can read the stored version. */
export function keepListed(references: ReadonlySet<string>): KeptReference {
  return (reference) => references.has(reference);
}

/**
 * Allows references only at the places where the stored version has them. Otherwise, a caller could guess a reference and
 * learn, from the fact that it is accepted, that the stored version contains it.
 */
export function keptInPlace(stored: JsonObject, type: ResourceType, bases: readonly string[]): KeptReference {
  const kept = new Map<string, string>();
  validateResource(stored, type, {
    bases,
    reference(path, { reference }) {
      if (typeof reference === 'string') kept.set(path, reference);
    },
  });
  return (reference, path) => kept.get(path) === reference;
}
