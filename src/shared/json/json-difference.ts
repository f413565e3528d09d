/** Compares two JSON values element by element: versions of a resource, or columns of a row. */
import { isObject, type Json, type JsonObject, printJson } from './json.ts';

/** A changed element. Without `before`, the element was added; without `after`, it was removed. */
export interface Difference {
  /** The element's place in FHIR's notation: `name[0].given[1]`. For a removed element, its place in the earlier version. */
  readonly path: string;
  readonly before?: Json;
  readonly after?: Json;
}

/**
 * Returns the changed elements in the order of the later version, with removed elements at the end. Numbers are compared by
 * their literals (1.50 is not 1.5: decimals carry their precision, R4 datatypes.html#decimal). If two lists begin or end with
 * the same items, those items are skipped; the items in between are compared one by one.
 * @param before undefined for a first version, in which every element was added
 */
export function differences(before: JsonObject | undefined, after: JsonObject): Difference[] {
  return before === undefined ? [...leaves('', after, 'after')] : [...compare('', before, after)];
}

function* compare(path: string, before: Json, after: Json): Generator<Difference> {
  if (Array.isArray(before) && Array.isArray(after)) yield* compareLists(path, before, after);
  else if (isObject(before) && isObject(after)) yield* compareObjects(path, before, after);
  else if (isSimple(before) && isSimple(after)) {
    if (printJson(before) !== printJson(after)) yield { path, before, after };
  } else {
    yield* leaves(path, after, 'after');
    yield* leaves(path, before, 'before');
  }
}

function* compareObjects(path: string, before: JsonObject, after: JsonObject): Generator<Difference> {
  for (const [name, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    if (old === undefined) yield* leaves(member(path, name), value, 'after');
    else yield* compare(member(path, name), old, value);
  }
  for (const [name, value] of Object.entries(before)) {
    if (!Object.hasOwn(after, name)) yield* leaves(member(path, name), value, 'before');
  }
}

function* compareLists(path: string, before: readonly Json[], after: readonly Json[]): Generator<Difference> {
  const [was, is] = [before.map((item) => printJson(item)), after.map((item) => printJson(item))];
  const shorter = Math.min(was.length, is.length);
  let start = 0;
  while (start < shorter && was[start] === is[start]) start += 1;
  let end = 0;
  while (end < shorter - start && was.at(-1 - end) === is.at(-1 - end)) end += 1;
  for (let at = start; at < Math.max(was.length, is.length) - end; at += 1) {
    const old = at < was.length - end ? before[at] : undefined;
    const now = at < is.length - end ? after[at] : undefined;
    const place = `${path}[${at}]`;
    if (old !== undefined && now !== undefined) yield* compare(place, old, now);
    else if (now !== undefined) yield* leaves(place, now, 'after');
    else if (old !== undefined) yield* leaves(place, old, 'before');
  }
}

/** Yields every simple value in a tree, and every empty list and object. */
function* leaves(path: string, value: Json, side: 'before' | 'after'): Generator<Difference> {
  const inside: [string, Json][] = Array.isArray(value)
    ? value.map((item, at) => [`${path}[${at}]`, item])
    : isObject(value)
      ? Object.entries(value).map(([name, item]) => [member(path, name), item])
      : [];
  if (inside.length === 0) yield side === 'before' ? { path, before: value } : { path, after: value };
  for (const [place, item] of inside) yield* leaves(place, item, side);
}

const member = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

const isSimple = (value: Json): boolean => !Array.isArray(value) && !isObject(value);
