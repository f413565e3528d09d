/** Formats a person's name as text (https://hl7.org/fhir/R4/datatypes.html#HumanName). Pure. */

import type { Json } from '#src/shared/json/json-value.ts';
import { isObject } from '#src/shared/json/json-value.ts';

/**
 * Returns the name to show: the official name, otherwise the first name that isn't old. Uses its `text`, otherwise its prefix,
 * given and family names, and suffix.
 * @param names the element `name`, if present
 * @returns undefined if the name contains no text
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
