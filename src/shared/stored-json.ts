/** Bodies as they are stored: valid JSON objects, written without blanks. */
import { isObject, type JsonObject, parseJson } from './json.ts';

/** A number whose literal JavaScript would not keep. */
const OTHER_LITERAL = /[:,[]-?(?:\d[\d.]{15}|\d+\.\d*0[,}\]]|[\d.]+[eE])/;

/** A stored body; decimals whose text JavaScript would change are `LosslessNumber`s. @throws TypeError when it is no object */
export function parseStored(body: string): JsonObject {
  const value: unknown = OTHER_LITERAL.test(body) ? parseJson(body).value : JSON.parse(body);
  if (!isObject(value)) throw new TypeError('a stored body is no object');
  return value;
}
