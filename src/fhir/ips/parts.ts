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

/** The codes of CodeableConcepts. */
export function codes(value: Json | undefined): string[] {
  return codings(value).flatMap(({ code }) => text(code) ?? []);
}

/** The codings of CodeableConcepts. */
export function codings(value: Json | undefined): JsonObject[] {
  return objects(value).flatMap((concept) => objects(concept.coding));
}

/** Codes of LOINC in CodeableConcepts. */
export function loincCodes(value: Json | undefined): string[] {
  return codings(value).flatMap(({ system, code }) => (system === LOINC ? (text(code) ?? []) : []));
}

/** The system of LOINC codes. */
export const LOINC = 'http://loinc.org';
