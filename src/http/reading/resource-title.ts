/** Describes in words what a resource is about. Pure. */
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { isObject, type Json } from '#src/shared/json/json.ts';

/** Elements that contain the concept that a resource is about. */
const CONCEPTS = [
  'code',
  'medicationCodeableConcept',
  'medicationReference',
  'vaccineCode',
  'type',
  'description',
] as const;

/** Returns what a resource is about; undefined if it doesn't say. */
export function titleOfResource(resource: Readonly<Record<string, Json>>): string | undefined {
  for (const name of CONCEPTS) {
    const value = resource[name];
    const words = conceptWords(Array.isArray(value) ? value[0] : value);
    if (words !== undefined) return words;
  }
  return undefined;
}

/** Returns the words in a CodeableConcept, a Coding or text. */
export function conceptWords(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (!isObject(value)) return undefined;
  const { text, display, coding, code } = value;
  if (text !== undefined || coding !== undefined) return nameConcept(value);
  return typeof display === 'string' || typeof code === 'string'
    ? nameConcept({ coding: [value] })
    : undefined;
}
