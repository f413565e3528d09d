/** Whether two resources say the same. */
import { isObject, type JsonObject } from '../shared/json.ts';
import { sameJson, sameLiterals, without } from '../shared/json-equal.ts';

/** Equal but for `meta` and `id`, which are the service's. */
export function sameContent(a: JsonObject, b: JsonObject): boolean {
  return sameJson(without(a, 'meta', 'id'), without(b, 'meta', 'id'));
}

/**
 * Whether a version would only repeat the one before: the same members in any order, decimals to the digit, and `meta` but
 * for the version's number and time.
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
