/** Determines how directory entries are matched across files. Pure. */
import { createHash } from 'node:crypto';
import { isObject, type Json, type JsonObject, printJson } from '#src/shared/json/json.ts';
import type { Entry } from './entry.ts';

/**
 * Returns the keys by which an entry is matched: `Type|system|value` for each identifier, or its content if it has no
 * identifiers; also its old id.
 */
export function listIdentities(
  entry: Entry,
  resource: JsonObject,
  content: string,
  pooled: boolean,
): string[] {
  const { type, condition, key } = entry;
  const identifiers = listIdentifiers(resource).map(({ system, value }) => `${type}|${system}|${value}`);
  const named = condition === undefined ? identifiers : [`${type}?${condition.criteria}`, ...identifiers];
  const recognised = named.length > 0 ? named : [`${type}#${content}`];
  return [...recognised, ...(pooled ? [key] : [])].map((identity) => identity.replaceAll('\n', ' '));
}

/** Returns a resource's identifiers that have a value; replaces a missing system with an empty string. */
export function listIdentifiers(resource: JsonObject): { system: string; value: string }[] {
  const all = Array.isArray(resource.identifier) ? resource.identifier : [];
  return all.flatMap((identifier: Json) =>
    isObject(identifier) && typeof identifier.value === 'string'
      ? [{ system: typeof identifier.system === 'string' ? identifier.system : '', value: identifier.value }]
      : [],
  );
}

/**
 * Returns `identifier=system|value`, or a list of these if there are several, escaped as search values (R4,
 * search.html#escaping).
 */
export function writeCriteria(
  identifiers: readonly { readonly system: string; readonly value: string }[],
): string {
  const part = (text: string): string => encodeURIComponent(text.replace(/[\\|,$]/g, '\\$&'));
  return `identifier=${identifiers.map(({ system, value }) => `${part(system)}|${part(value)}`).join(',')}`;
}

/** Returns the hash of an entry's content without its id and `meta`; the order of members doesn't matter. */
export function hashContent({ id: _, meta: _m, ...said }: JsonObject): string {
  return createHash('sha256')
    .update(printJson(sorted(said)))
    .digest('hex');
}

/** The prefix of keys for resources whose id isn't valid across files. */
const UNNAMED = '#';

/**
 * Returns a key for a resource without an id. The key doesn't depend on the resource's place, which may be different when the
 * import is repeated.
 */
export function unnamedKey(resource: JsonObject): string {
  return `${UNNAMED}${hashContent(resource)}`;
}

/** Returns whether a key is an `unnamedKey` or the key of a copy of such a resource. */
export function isUnnamed(key: string): boolean {
  return key.startsWith(UNNAMED);
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(
    names.flatMap((name) => (value[name] === undefined ? [] : [[name, sorted(value[name])]])),
  );
}
