/**
 * Compares values with fixed values and patterns:
 * https://hl7.org/fhir/R4/elementdefinition-definitions.html#ElementDefinition.pattern_x_
 */
import { isObject, type Json } from '#src/shared/json/json.ts';
import { equalValues } from '../fhirpath/nodes.ts';

/** Returns whether a value is exactly the fixed value. */
export function isFixed(value: Json | undefined, fixed: Json): boolean {
  return value !== undefined && equalValues(value, fixed) === true;
}

/** Returns whether a value contains everything in a pattern; it may contain more. */
export function matchesPattern(value: Json | undefined, pattern: Json): boolean {
  if (value === undefined) return false;
  if (Array.isArray(pattern)) {
    return Array.isArray(value) && pattern.every((part) => value.some((item) => matchesPattern(item, part)));
  }
  if (isObject(pattern)) {
    return (
      isObject(value) &&
      Object.entries(pattern).every(([key, part]) => matchesPattern(value[key] ?? undefined, part))
    );
  }
  return isFixed(value, pattern);
}
