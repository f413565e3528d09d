/** A person's name as one text (https://hl7.org/fhir/R4/datatypes.html#HumanName). Pure. */
import { isObject, type Json } from '#src/shared/json.ts';

/**
 * The name to show of a resource's `name`: the official one, else the first that is not old; its `text`, else prefix,
 * given and family names and suffix as one writes them.
 * @param names the element as it stands in the resource; undefined when there is none.
 * @returns undefined when no part of it is a text.
 */
export function shownName(names: Json | undefined): string | undefined {
  const all = Array.isArray(names) ? names.filter(isObject) : [];
  const chosen = all.find(({ use }) => use === 'official') ?? all.find(({ use }) => use !== 'old');
  if (chosen === undefined) return undefined;
  const { text, prefix, given, family, suffix } = chosen;
  if (typeof text === 'string') return text;
  const parts = [prefix, given, family, suffix].flat().filter((part) => typeof part === 'string');
  return parts.length === 0 ? undefined : parts.join(' ');
}
