/** Reading elements of stored resources, which are valid R4. */
import { isObject, type Json, type JsonObject } from '#src/shared/json.ts';

/** The objects of an element: none, one, or those of a list. */
export function objects(value: Json | undefined): JsonObject[] {
  if (Array.isArray(value)) return value.filter(isObject);
  return isObject(value) ? [value] : [];
}

/** The first object of an element. */
export function first(value: Json | undefined): JsonObject | undefined {
  return objects(value)[0];
}

/** A text; undefined for anything else. */
export function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The codings of CodeableConcepts. */
export function codings(value: Json | undefined): JsonObject[] {
  const found: JsonObject[] = [];
  eachCoding(value, (coding) => found.push(coding));
  return found;
}

/** Goes through them without a list: of thousands of resources only a code is looked at. */
function eachCoding(value: Json | undefined, look: (coding: JsonObject) => void): void {
  if (Array.isArray(value)) for (const concept of value) eachCoding(concept, look);
  else if (isObject(value) && Array.isArray(value.coding)) {
    for (const coding of value.coding) if (isObject(coding)) look(coding);
  }
}

/** The codes of CodeableConcepts. */
export function codes(value: Json | undefined): string[] {
  return codesIn(value, undefined);
}

/** Codes of LOINC in CodeableConcepts. */
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

/** The system of LOINC codes. */
export const LOINC = 'http://loinc.org';
