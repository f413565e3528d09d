/** Reads elements of stored resources, which are valid R4. */

import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import { isObject } from '#src/shared/json/json-value.ts';

/** A code with its system. */
export interface SystemCode {
  readonly system: string;
  readonly code: string;
}

/** Returns the objects in an element: none, one, or all the objects in a list. */
export function objects(value: Json | undefined): JsonObject[] {
  if (Array.isArray(value)) return value.filter(isObject);
  return isObject(value) ? [value] : [];
}

/** Returns an element's first object. */
export function first(value: Json | undefined): JsonObject | undefined {
  return objects(value)[0];
}

/** Returns a non-empty string; undefined for any other value. */
export function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the codings in CodeableConcepts. */
export function codings(value: Json | undefined): JsonObject[] {
  const found: JsonObject[] = [];
  eachCoding(value, (coding) => found.push(coding));
  return found;
}

/** Calls `look` for each coding. It builds no list, because thousands of resources are visited to find only one code each. */
function eachCoding(value: Json | undefined, look: (coding: JsonObject) => void): void {
  if (Array.isArray(value)) for (const concept of value) eachCoding(concept, look);
  else if (isObject(value) && Array.isArray(value.coding)) {
    for (const coding of value.coding) if (isObject(coding)) look(coding);
  }
}

/** Returns the codes in CodeableConcepts. */
export function codes(value: Json | undefined): string[] {
  return codesIn(value, undefined);
}

/** Returns the LOINC codes in CodeableConcepts. */
export function loincCodes(value: Json | undefined): string[] {
  return codesIn(value, LOINC);
}

function codesIn(value: Json | undefined, wanted: string | undefined): string[] {
  const found: string[] = [];
  eachCoding(value, ({ system, code }) => {
    if (typeof code === 'string' && (wanted === undefined || system === wanted)) found.push(code);
  });
  return found;
}

/** LOINC's code system URL. */
export const LOINC = 'http://loinc.org';

/** Returns the contained resource that a reference such as `#med` names. */
export function containedIn({ contained }: JsonObject, reference: Json | undefined): JsonObject | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  return objects(contained).find(({ id }) => `#${text(id) ?? ''}` === reference);
}
