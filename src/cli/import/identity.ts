/** By what directory entries are recognised across files. Pure. */
import { createHash } from 'node:crypto';
import { isObject, type Json, type JsonObject, printJson } from '#src/shared/json.ts';
import type { Entry } from './entry.ts';

/** By what an entry is recognised: `Type|system|value` of each identifier, else its content; and its old id. */
export function identitiesOf(entry: Entry, resource: JsonObject, content: string, pooled: boolean): string[] {
  const { type, condition, key } = entry;
  const identifiers = identifiersOf(resource).map(({ system, value }) => `${type}|${system}|${value}`);
  const named = condition === undefined ? identifiers : [`${type}?${condition.criteria}`, ...identifiers];
  const recognised = named.length > 0 ? named : [`${type}#${content}`];
  return [...recognised, ...(pooled ? [key] : [])].map((identity) => identity.replaceAll('\n', ' '));
}

function identifiersOf(resource: JsonObject): { system: string; value: string }[] {
  const all = Array.isArray(resource.identifier) ? resource.identifier : [];
  return all.flatMap((identifier: Json) =>
    isObject(identifier) && typeof identifier.value === 'string'
      ? [{ system: typeof identifier.system === 'string' ? identifier.system : '', value: identifier.value }]
      : [],
  );
}

/** `identifier=system|value` of the first identifier, escaped as search values are (R4, search.html#escaping). */
export function criteriaOf(resource: JsonObject): string | undefined {
  const [identifier] = identifiersOf(resource);
  if (identifier === undefined) return undefined;
  const value = (text: string): string => encodeURIComponent(text.replace(/[\\|,$]/g, '\\$&'));
  return `identifier=${value(identifier.system)}|${value(identifier.value)}`;
}

/** The hash of what an entry says, whatever the order of its members; ids and `meta` are not part of it. */
export function contentOf({ id: _, meta: _m, ...said }: JsonObject): string {
  return createHash('sha256')
    .update(printJson(sorted(said)))
    .digest('hex');
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(
    names.flatMap((name) => (value[name] === undefined ? [] : [[name, sorted(value[name])]])),
  );
}
