/** Tells JSON objects from other values, also in scripts of pages, which can't load the parser. */
import { isLosslessNumber } from 'lossless-json';
import type { JsonObject } from './json.ts';

/** Tells whether a value is a JSON object (not an array, null or a number). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}
