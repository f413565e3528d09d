/**
 * Handles references to other records, which an application under a grant may not see (docs/spec/decisions.md, section 1). The
 * application bases its writes on the data that it sees, so hidden references must survive them: if it sends back a Reference
 * unchanged, the Reference gets its `reference` again.
 */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { sameJson } from '#src/shared/json/json-equal.ts';
import { recordTarget } from './record-target.ts';

/** A stored version as an application sees it. */
export interface ShownVersion {
  readonly shown: JsonObject;
  /** Maps a path without indexes to the objects at that path that lost their reference, in order. */
  readonly leftOut: ReadonlyMap<string, readonly LeftOut[]>;
}

interface LeftOut {
  readonly shown: JsonObject;
  readonly stored: JsonObject;
}

/**
 * Returns a stored version without references to other records.
 * @param record the real id of its Patient
 * @param withinRecord returns which of the given ids belong to resources in a record or in its project's directory; not called
 *   if no reference can point outside
 * @throws the same errors as `withinRecord`
 */
export async function shownVersion(
  stored: JsonObject,
  record: string,
  bases: readonly string[],
  withinRecord: (record: string, ids: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<ShownVersion> {
  const targets = new Map<string, { readonly type: string; readonly id: string }>();
  for (const reference of referencesIn(stored)) {
    const target = recordTarget(reference, bases);
    if (target !== undefined && !(target.type === 'Patient' && target.id === record))
      targets.set(reference, target);
  }
  const asked = [...targets.values()].flatMap(({ type, id }) => (type === 'Patient' ? [] : [id]));
  const known = asked.length === 0 ? new Set<string>() : await withinRecord(record, asked);
  const foreign = new Map(
    [...targets].flatMap(([reference, { type, id }]) =>
      type !== 'Patient' && known.has(id) ? [] : [[reference, type] as const],
    ),
  );
  if (foreign.size === 0) return { shown: stored, leftOut: new Map() };
  const leftOut = new Map<string, LeftOut[]>();
  const strip = (object: JsonObject, place: string): JsonObject => {
    const { reference } = object;
    const type = typeof reference === 'string' ? foreign.get(reference) : undefined;
    if (type === undefined) return object;
    const { reference: _, _reference, ...rest } = object;
    const shown = Object.keys(rest).length === 0 ? { type } : rest;
    leftOut.set(place, [...(leftOut.get(place) ?? []), { shown, stored: object }]);
    return shown;
  };
  return { shown: mapped(stored, '', strip), leftOut };
}

/**
 * Returns a new version with the references that its application couldn't see, for every object that the application left
 * unchanged.
 */
export function withLeftOut(value: JsonObject, { leftOut }: Pick<ShownVersion, 'leftOut'>): JsonObject {
  if (leftOut.size === 0) return value;
  const waiting = new Map([...leftOut].map(([place, all]) => [place, [...all]]));
  return mapped(value, '', (object, place) => {
    const here = waiting.get(place) ?? [];
    const at = here.findIndex(({ shown }) => sameJson(shown, object));
    const [found] = at < 0 ? [] : here.splice(at, 1);
    return found?.stored ?? object;
  });
}

/** Returns every `reference` in a resource. */
export function referencesIn(value: Json): Set<string> {
  const found = new Set<string>();
  const walk = (each: Json): void => {
    if (Array.isArray(each)) each.forEach(walk);
    else if (isObject(each)) {
      if (typeof each.reference === 'string') found.add(each.reference);
      Object.values(each).forEach(walk);
    }
  };
  walk(value);
  return found;
}

/** Replaces objects, inner ones before outer ones. Unchanged parts are shared. */
function mapped(
  object: JsonObject,
  place: string,
  replace: (object: JsonObject, place: string) => JsonObject,
): JsonObject {
  const inner = (value: Json, where: string): Json => {
    if (Array.isArray(value)) {
      const items = value.map((item) => inner(item, where));
      return items.some((item, n) => item !== value[n]) ? items : value;
    }
    return isObject(value) ? mapped(value, where, replace) : value;
  };
  let copy: JsonObject | undefined;
  for (const [name, value] of Object.entries(object)) {
    const replaced = inner(value, `${place}.${name}`);
    if (replaced === value) continue;
    copy ??= { ...object };
    copy[name] = replaced;
  }
  return replace(copy ?? object, place);
}
