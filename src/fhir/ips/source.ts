/** Resources as the summary is made of them: their stored text, and what it says. */
import { isObject, type JsonObject, parseJson } from '#src/shared/json.ts';

/** A resource. */
export interface Source {
  /** `Type/id`. */
  readonly key: string;
  readonly type: string;
  readonly id: string;
  /** FHIR JSON as it is stored: compact, decimals as they came. */
  readonly body: string;
  readonly value: JsonObject;
}

/** A number that JavaScript might print in other words than it was written in; also finds some that it would not. */
const INEXACT = /\d\.\d*0[\],}]|\d[eE][+-]?\d|\d{16}|\d\.\d{15}|:-0/;

/** Reads a stored resource. The quick way where no literal can change. */
export function sourceOf(type: string, id: string, body: string): Source {
  const value: unknown = INEXACT.test(body) ? parseJson(body).value : JSON.parse(body);
  return { key: `${type}/${id}`, type, id, body, value: isObject(value) ? value : {} };
}
