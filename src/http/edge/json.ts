/** Exchanges the text in parsed JSON. */

import { SHORTEST } from '#src/shared/access/id-exchange.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import type { Steps } from '#src/shared/load/slices.ts';

/** Number of values processed in one step. */
const STEP = 5_000;

/** The functions that replace text. */
export interface Replaces {
  readonly inward: (text: string) => string;
  /** Used for text that may be percent-decoded later. */
  readonly inwardUrl: (text: string) => string;
}

/** Members of Bundle entries and references whose values are percent-decoded when they are followed. */
const URLS: ReadonlySet<string> = new Set(['fullUrl', 'ifNoneExist', 'reference', 'url']);

/**
 * Replaces every string in a value, including member names. The value is changed in place; numbers keep their original digits.
 * @returns the value, or its replacement if it is a string
 */
export function* exchangeJson(value: Json, { inward, inwardUrl }: Replaces): Steps<Json> {
  if (typeof value === 'string') return inward(value);
  const open: (Json[] | JsonObject)[] = isContainer(value) ? [value] : [];
  let looked = 0;
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const keys = Object.keys(one);
    let renamed = false;
    for (const key of keys) {
      looked += 1;
      if (looked % STEP === 0) yield;
      const member: Json | undefined = Reflect.get(one, key);
      if (typeof member === 'string') {
        const exchanged = URLS.has(key) ? inwardUrl(member) : inward(member);
        if (exchanged !== member) put(one, key, exchanged);
      } else if (member !== undefined && isContainer(member)) open.push(member);
      renamed ||= key.length >= SHORTEST && inward(key) !== key;
    }
    if (renamed && isObject(one)) rename(one, keys, inward);
  }
  return value;
}

function isContainer(value: Json): value is Json[] | JsonObject {
  return Array.isArray(value) || isObject(value);
}

/** Renames members without changing their order. */
function rename(object: JsonObject, keys: readonly string[], exchange: (text: string) => string): void {
  const members = keys.map((key) => [exchange(key), object[key] ?? null] as const);
  for (const key of keys) delete object[key];
  for (const [key, member] of members) put(object, key, member);
}

/** Sets a member, even if its name is `__proto__`. */
function put(object: Json[] | JsonObject, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
