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

/** What looks like a number between two delimiters; now and then it is part of a string, which does no harm. */
const NUMBER = /[:,[](-?\d[\d.eE+-]*)(?=[,\]}])/g;

/** Whether JavaScript would print every number of a text as it stands there. */
function isExact(body: string): boolean {
  NUMBER.lastIndex = 0;
  for (let found = NUMBER.exec(body); found !== null; found = NUMBER.exec(body)) {
    const literal = found[1] ?? '';
    if (String(Number(literal)) !== literal) return false;
  }
  return true;
}

/** Reads a stored resource; numbers keep their literals. The quick way where none can change. */
export function sourceOf(type: string, id: string, body: string): Source {
  const value: unknown = isExact(body) ? JSON.parse(body) : parseJson(body).value;
  return { key: `${type}/${id}`, type, id, body, value: isObject(value) ? value : {} };
}
