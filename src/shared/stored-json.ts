/** Bodies as they are stored: valid JSON objects, written without blanks. */
import { isObject, type JsonObject, parseJson } from './json.ts';

/** A stored body, parsed. `exact` says that it may hold `LosslessNumber`s and must go through `printJson` with that flag. */
export interface StoredJson {
  readonly value: JsonObject;
  readonly exact: boolean;
}

/** A number whose literal JavaScript would not keep. */
const OTHER_LITERAL = /[:,[]-?(?:\d[\d.]{15}|\d+\.\d*0[,}\]]|[\d.]+[eE])/;

/** A stored body; decimals whose text JavaScript would change are `LosslessNumber`s. @throws TypeError when it is no object */
export function parseStored(body: string): JsonObject {
  return readStored(body).value;
}

/** As `parseStored`, with whether there may be such decimals. @throws TypeError when it is no object */
export function readStored(body: string): StoredJson {
  const exact = OTHER_LITERAL.test(body);
  const value: unknown = exact ? parseJson(body).value : JSON.parse(body);
  if (!isObject(value)) throw new TypeError('a stored body is no object');
  return { value, exact };
}
