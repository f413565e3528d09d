/**
 * Faults that a change leaves as they were. What is stored passed the rules of its day; a PATCH of another element must
 * not fail because a rule was added since.
 */
import type { Issue } from '#src/shared/issue.ts';
import { isObject, type Json, type JsonObject, printJson } from '#src/shared/json.ts';

/**
 * The faults that a resource has and the version that it was made from has not. A fault is the same where its rule, its
 * element (in whatever place of a list) and the content of that element are.
 * @param faults of `after`.
 * @param earlier faults of `before`.
 */
export function newFaults(
  after: JsonObject,
  faults: readonly Issue[],
  before: JsonObject,
  earlier: readonly Issue[],
): Issue[] {
  const left = new Map<string, number>();
  for (const fault of earlier) {
    const key = keyOf(before, fault);
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  return faults.filter((fault) => {
    const key = keyOf(after, fault);
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    return count <= 0;
  });
}

function keyOf(resource: JsonObject, { code, diagnostics, expression = '' }: Issue): string {
  const rule = diagnostics.replace(/\[\d+\]/g, '');
  return printJson([code, rule, contentAt(resource, expression)]);
}

/** What is at a path, with ids and extensions of primitives; nothing for the resource itself. */
function contentAt(resource: JsonObject, path: string): Json {
  const steps = path.split('.').slice(1);
  if (steps.length === 0) return null;
  let found: Json[] = [resource];
  for (const step of steps) {
    const [, name = '', index] = /^(\w+)(?:\[(\d+)\])?/.exec(step) ?? [];
    found = found.flatMap((holder) => (isObject(holder) ? membersOf(holder, name, index) : []));
  }
  return found;
}

/** The JSON members of an element: its value, `_name`, and of a choice the one with the type. */
function membersOf(holder: JsonObject, name: string, index: string | undefined): Json[] {
  return Object.entries(holder).flatMap(([key, value]) => {
    const suffix = key.replace(/^_/, '').startsWith(name) ? key.replace(/^_/, '').slice(name.length) : '-';
    if (!/^(?:[A-Z]\w*)?$/.test(suffix)) return [];
    const item = index !== undefined && Array.isArray(value) ? value[Number(index)] : value;
    return item === undefined ? [] : [item];
  });
}
