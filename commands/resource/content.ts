/** Whether two resources say the same. */
import type { JsonObject } from '#src/shared/json.ts';
import { sameJson, without } from '#src/shared/json-equal.ts';

/** Equal but for `meta` and `id`, which are the service's. */
export function sameContent(a: JsonObject, b: JsonObject): boolean {
  return sameJson(without(a, 'meta', 'id'), without(b, 'meta', 'id'));
}
