/** Removes the members that only stored versions have from a resource's content. */
import { isObject, type JsonObject } from '../shared/json/json.ts';
import { without } from '../shared/json/json-value.ts';

/** Returns a resource without `meta.versionId` and `meta.lastUpdated`, and without `meta` if it contains nothing else. */
export function withoutVersion(resource: JsonObject): JsonObject {
  const { meta } = resource;
  if (!isObject(meta)) return resource;
  const kept = without(meta, 'versionId', 'lastUpdated');
  return Object.keys(kept).length === 0 ? without(resource, 'meta') : { ...resource, meta: kept };
}
