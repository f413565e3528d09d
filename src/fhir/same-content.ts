/** Compares the contents of two resources. */
import { isObject, type JsonObject } from '../shared/json/json.ts';
import { sameJson, sameLiterals } from '../shared/json/json-equal.ts';
import { without } from '../shared/json/json-value.ts';

/** Returns whether two resources are equal except for `meta` and `id`, which the service sets. */
export function sameContent(a: JsonObject, b: JsonObject): boolean {
  return sameJson(without(a, 'meta', 'id'), without(b, 'meta', 'id'));
}

/**
 * Returns whether a version only repeats the previous one: the same members in any order, the same digits in decimals, and the
 * same `meta` except for the version's number and time.
 */
export function repeats(before: JsonObject, after: JsonObject): boolean {
  return (
    sameLiterals(without(before, 'meta'), without(after, 'meta')) &&
    sameLiterals(ownMeta(before), ownMeta(after))
  );
}

function ownMeta({ meta }: JsonObject): JsonObject {
  return isObject(meta) ? without(meta, 'versionId', 'lastUpdated') : {};
}
