/**
 * Defines forms: texts that represent searchable values. A resource has one form for each way in which a search may name a
 * value. A projection stores the forms' hashes (`searchKey`), and a query hashes the form that it searches for, so equal texts
 * match. The hashes of a tenant's values are cached by code and form, because the same values recur in many resources.
 */
import { hash } from 'node:crypto';

/**
 * A token's forms: `c:` for a code in any system, `t:` for a code in one system (empty for none), `s:` for any code in a
 * system.
 */
export const tokenForm = {
  /** Codes are compared case-insensitively (https://hl7.org/fhir/R4/search.html#token). */
  code: (code: string): string => `c:${code.toLowerCase()}`,
  pair: (system: string, code: string): string => `t:${system}|${code.toLowerCase()}`,
  system: (system: string): string => `s:${system}`,
  /** The form for `:of-type`: an identifier's type and value. */
  ofType: (system: string, type: string, value: string): string =>
    `o:${system}|${type.toLowerCase()}|${value.toLowerCase()}`,
};

/**
 * A reference's forms: `i:` for an id with any type, `r:` for a type and id, `u:` for an unchanged URL, `n:` for a contained
 * resource by its row's id (`containedId`).
 */
export const referenceForm = {
  id: (id: string): string => `i:${id}`,
  relative: (reference: string): string => `r:${reference}`,
  url: (url: string): string => `u:${url}`,
  contained: (id: string): string => `n:${id}`,
};

/** Returns the form of a code that represents how a word sounds. */
export const soundForm = (sound: string): string => `m:${sound}`;

/** Returns a URI's form. */
export const uriForm = (uri: string): string => `u:${uri}`;

/** Returns the form of a composite's value, made from the forms of its two parts. */
export const pairForm = (first: string, second: string): string => `${first} $ ${second}`;

/** The form stored if a parameter has any value, for `:missing`. */
export const PRESENT = 'p';

/** Returns the key for a form of a type's parameter in a tenant. */
export function valueKey(tenant: string, type: string, code: string, form: string): string {
  return `${tenant} ${type} ${code} ${form}`;
}

/** Returns the type name used in the keys of contained resources, so that a search for the type doesn't find them. */
export function containedType(type: string): string {
  return `#${type}`;
}

/** Returns the key shared by all of a tenant's contained resources of a given type. */
export function containedKey(tenant: string, type: string): string {
  return valueKey(tenant, containedType(type), '', PRESENT);
}

/** Returns the key shared by all resources in a record. */
export function recordKey(record: string): string {
  return `record ${record}`;
}

/** Returns the key stored with a parameter's strings, moments and quantities. */
export function parameterKey(tenant: string, type: string, code: string): string {
  return `${tenant} ${type} ${code}`;
}

/** Returns the text to hash for the system of the code that a value belongs to. */
export function systemKey(system: string): string {
  return `system ${system}`;
}

/**
 * Returns the text to hash for a code's values, or for one of its tokens, in one record.
 * @param about the hash of the code that the values belong to, or of the token.
 */
export function inRecordKey(about: string, record: string): string {
  return `${about} in ${record}`;
}

/** Parameters that searches often combine with `patient` (US Core requires every server to support these combinations). */
const READ_BY = new Set(['category', 'code']);

/**
 * Returns whether resources have a key that combines this form and their record (`inRecordKey`). With the form's key only, an
 * index would find resources in the whole project; with the record's key only, the whole record. Either may be many times the
 * number of matches.
 * @param code the parameter's code.
 */
export function hasKeyInRecord(code: string, form: string): boolean {
  return READ_BY.has(code) && (form.startsWith('c:') || form.startsWith('t:'));
}

/** Returns the text to hash for a quantity's dimension in canonical units. */
export function dimensionKey(dimension: string): string {
  return `dimension ${dimension}`;
}

/** Maximum number of cached hashes per type and tenant, and in total; each takes about 250 bytes. */
const REMEMBERED = 20_000;
const REMEMBERED_IN_ALL = 30_000;

/** Caches hashes for one type in one tenant. The cache is keyed by codes and forms, which are shorter than the hashed texts. */
export class Hashes {
  readonly #tenant: string;
  readonly #type: string;
  readonly #parameters = new Map<string, string>();
  readonly #values = new Map<string, Map<string, string>>();
  readonly #codes = new Map<string, Map<string, string>>();
  #size = 0;

  constructor(tenant: string, type: string) {
    this.#tenant = tenant;
    this.#type = type;
  }

  /** Returns the hash stored with a parameter's strings, moments and quantities (`parameterKey`). */
  parameter(code: string): string {
    let key = this.#parameters.get(code);
    if (key === undefined) {
      key = searchKey(parameterKey(this.#tenant, this.#type, code));
      this.#parameters.set(code, key);
      inAll += 1;
    }
    return key;
  }

  /** Returns a form's hash (`valueKey`). */
  value(code: string, form: string): string {
    const known = this.#of(this.#values, code);
    let key = known.get(form);
    if (key === undefined) {
      key = searchKey(valueKey(this.#tenant, this.#type, code, form));
      this.#remember(known, form, key);
    }
    return key;
  }

  /** Returns the hash of a code that a parameter's values belong to. It is the hash of the code's form in any system. */
  about(code: string, token: string): string {
    const known = this.#of(this.#codes, code);
    let key = known.get(token);
    if (key === undefined) {
      key = searchKey(valueKey(this.#tenant, this.#type, code, tokenForm.code(token)));
      this.#remember(known, token, key);
    }
    return key;
  }

  #of(maps: Map<string, Map<string, string>>, code: string): Map<string, string> {
    let map = maps.get(code);
    if (map === undefined) {
      map = new Map();
      maps.set(code, map);
    }
    return map;
  }

  #remember(known: Map<string, string>, text: string, key: string): void {
    if (this.#size >= REMEMBERED) {
      this.#values.clear();
      this.#codes.clear();
      this.#size = 0;
    }
    known.set(text, key);
    this.#size += 1;
    inAll += 1;
  }
}

const types = new Map<string, Map<string, Hashes>>();
/** The number of hashes cached since the caches were last cleared. */
let inAll = 0;

/**
 * Returns the cache for a tenant's type. Use it for at most a few resources, because all caches are cleared together when they
 * are full.
 * @param type its name, or the name for its contained resources (`containedType`).
 */
export function typeHashes(tenant: string, type: string): Hashes {
  if (inAll >= REMEMBERED_IN_ALL) {
    types.clear();
    inAll = 0;
  }
  let tenants = types.get(type);
  if (tenants === undefined) {
    tenants = new Map();
    types.set(type, tenants);
  }
  let hashes = tenants.get(tenant);
  if (hashes === undefined) {
    hashes = new Hashes(tenant, type);
    tenants.set(tenant, hashes);
    inAll += 1;
  }
  return hashes;
}

/** The maximum number of hashes in one generation of `searchKey`'s cache. */
const HASHES = 10_000;

/**
 * A cache with two generations: when the younger one is full, the older one is dropped. Codes recur in every resource, and an
 * LRU cache would be slower than hashing.
 */
let young = new Map<string, string>();
let old = new Map<string, string>();

/** Returns the first 64 bits of a text's SHA-256, as the decimal text of a PostgreSQL `int8`. */
export function searchKey(text: string): string {
  const hit = young.get(text);
  if (hit !== undefined) return hit;
  const key = old.get(text) ?? firstBits(text);
  if (young.size >= HASHES) {
    old = young;
    young = new Map();
  }
  // Long texts are rarely codes, so they aren't cached.
  if (text.length < 200) young.set(text, key);
  return key;
}

/**
 * Returns the first 64 bits of a text's hash, read from a hexadecimal digest, which takes a third of the time of reading a
 * digest from a buffer.
 */
function firstBits(text: string): string {
  return BigInt.asIntN(64, BigInt(`0x${hash('sha256', text).slice(0, 16)}`)).toString();
}
