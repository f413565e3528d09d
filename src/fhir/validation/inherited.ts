/**
 * Filters out faults that a change doesn't affect. A stored resource was valid under the rules in force when it was written,
 * so a PATCH of one element must not fail because of a rule for another element that has been added since.
 */
import type { Issue } from '#src/shared/issue.ts';
import { isObject, type Json, type JsonObject, printJson } from '#src/shared/json/json.ts';

/**
 * Returns the faults of a resource that its previous version does not have. Two faults are the same if they have the same
 * rule, the same element (at any index of a list) and the same content of the element.
 * @param faults the faults of `after`.
 * @param earlier the faults of `before`.
 */
export function newFaults(
  after: JsonObject,
  faults: readonly Issue[],
  before: JsonObject,
  earlier: readonly Issue[],
): Issue[] {
  const left = new Map<string, number>();
  for (const fault of earlier) {
    const key = issueKey(before, fault);
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  return faults.filter((fault) => {
    const key = issueKey(after, fault);
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    return count <= 0;
  });
}

function issueKey(resource: JsonObject, { code, diagnostics, expression = '' }: Issue): string {
  const rule = diagnostics.replace(/\[\d+\]/g, '');
  return printJson([code, rule, contentAt(resource, expression)]);
}

/** Returns the content at a path, including ids and extensions of primitives; null for the resource itself. */
function contentAt(resource: JsonObject, path: string): Json {
  const steps = path.split('.').slice(1);
  if (steps.length === 0) return null;
  let found: Json[] = [resource];
  for (const step of steps) {
    const [, name = '', index] = /^(\w+)(?:\[(\d+)\])?/.exec(step) ?? [];
    found = found.flatMap((holder) => (isObject(holder) ? listMembers(holder, name, index) : []));
  }
  return found;
}

/** Returns the JSON members of an element: its value and `_name`; for a choice, the members whose names include a type. */
function listMembers(holder: JsonObject, name: string, index: string | undefined): Json[] {
  return Object.entries(holder).flatMap(([key, value]) => {
    const suffix = key.replace(/^_/, '').startsWith(name) ? key.replace(/^_/, '').slice(name.length) : '-';
    if (!/^(?:[A-Z]\w*)?$/.test(suffix)) return [];
    const item = index !== undefined && Array.isArray(value) ? value[Number(index)] : value;
    return item === undefined ? [] : [item];
  });
}
