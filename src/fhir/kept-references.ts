/**
 * Determines which references a new version may keep from the stored one under a grant, although the application may not see
 * what they point to. Otherwise, the application couldn't write back what it reads.
 */
import type { JsonObject } from '#src/shared/json/json.ts';
import type { ResourceType } from './types.ts';
import { validateResource } from './validate.ts';

/**
 * Returns whether a reference may stay.
 * @param path the Reference's path, as named by validation
 */
export type KeptReference = (reference: string, path: string) => boolean;

/** Keeps references anywhere in the resource, for callers who can read the stored version. */
export function keepListed(references: ReadonlySet<string>): KeptReference {
  return (reference) => references.has(reference);
}

/**
 * Keeps references only where they are. Otherwise, a caller could guess a reference and learn from its acceptance that the
 * stored version contains it.
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
