/** Returns the content of a resource, without the members that only its stored versions have. */
import { isObject, type JsonObject } from '../shared/json/json.ts';
import { without } from '../shared/json/json-value.ts';

/** Returns a resource without `meta.versionId` and `meta.lastUpdated`; without `meta` if nothing else is in it. */
export function withoutVersion(resource: JsonObject): JsonObject {
  const { meta } = resource;
  if (!isObject(meta)) return resource;
  const kept = without(meta, 'versionId', 'lastUpdated');
  return Object.keys(kept).length === 0 ? without(resource, 'meta') : { ...resource, meta: kept };
}
