/** Removes nulls that carry no meaning: https://hl7.org/fhir/R4/json.html#primitive */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';

/**
 * Returns a copy without trailing nulls in the arrays of primitives' ids and extensions: `"_given": [null, null]` is removed,
 * and `"_given": [{…}, null]` keeps its first item. All other nulls stay.
 */
export function withoutTrailingNulls(object: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(object)) {
    const copy = copied(value);
    if (!key.startsWith('_') || !Array.isArray(copy)) kept[key] = copy;
    else {
      const filled = copy.slice(0, copy.findLastIndex((item) => item !== null) + 1);
      if (filled.length > 0) kept[key] = filled;
    }
  }
  return kept;
}

function copied(value: Json): Json {
  if (Array.isArray(value)) return value.map(copied);
  return isObject(value) ? withoutTrailingNulls(value) : value;
}
