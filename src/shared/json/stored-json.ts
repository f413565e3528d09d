/** Reads bodies as they are stored: valid JSON objects without blanks. */
import { isObject, type JsonObject, parseJson } from './json.ts';

/**
 * A parsed body. `exact` means that it may contain `LosslessNumber`s and must be printed by `printJson` with that flag.
 */
export interface StoredJson {
  readonly value: JsonObject;
  readonly exact: boolean;
}

/** Matches a number whose literal JavaScript would not keep. */
const OTHER_LITERAL = /[:,[]-?(?:\d[\d.]{15}|\d+\.\d*0[,}\]]|[\d.]+[eE])/;

/**
 * Parses a stored body; decimals that JavaScript would print differently become `LosslessNumber`s.
 * @throws TypeError if it isn't an object
 */
export function parseStored(body: string): JsonObject {
  return readStored(body).value;
}

/**
 * Parses like `parseStored`, and tells whether such decimals may occur.
 * @throws TypeError if it isn't an object
 */
export function readStored(body: string): StoredJson {
  const exact = OTHER_LITERAL.test(body);
  const value: unknown = exact ? parseJson(body).value : JSON.parse(body);
  if (!isObject(value)) throw new TypeError('a stored body is not an object');
  return { value, exact };
}
