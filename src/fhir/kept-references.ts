/**
 * References that a new version may keep from the stored one under a grant, though the application doesn't see where they
 * lead: it could otherwise not write back what it reads.
 */
import type { JsonObject } from '#src/shared/json/json.ts';
import type { ResourceType } from './types.ts';
import { validateResource } from './validate.ts';

/** Tells whether a reference may stay. @param path of the Reference, as validation names it */
export type KeptReference = (reference: string, path: string) => boolean;

/** Keeps references wherever they are: for those who can read the stored version. */
export function keepListed(references: ReadonlySet<string>): KeptReference {
  return (reference) => references.has(reference);
}

/** Keeps references where they are: others would learn from an accepted guess that the stored version has it. */
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
