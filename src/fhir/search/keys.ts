/**
 * Forms: texts that represent searchable values. A resource has one for each way in which a search may name a value. A
 * projection stores their hashes (`searchKey`), and a query hashes the form that it looks for; equal texts match. Hashes of a
 * tenant's values are cached by code and form, since resources repeat the same values.
 */
import { hash } from 'node:crypto';

/**
 * The forms of a token: `c:` a code in any system, `t:` a code in one system (empty: none), `s:` any code of a system.
 */
export const tokenForm = {
  /** Codes are compared without case (https://hl7.org/fhir/R4/search.html#token). */
  code: (code: string): string => `c:${code.toLowerCase()}`,
  pair: (system: string, code: string): string => `t:${system}|${code.toLowerCase()}`,
  system: (system: string): string => `s:${system}`,
  /** The form for `:of-type`: an identifier's type and its value. */
  ofType: (system: string, type: string, value: string): string =>
    `o:${system}|${type.toLowerCase()}|${value.toLowerCase()}`,
};

/**
 * The forms of a reference: `i:` by its id with any type, `r:` by type and id, `u:` a URL unchanged, `n:` a contained
 * resource by its row's id (`containedId`).
 */
export const referenceForm = {
  id: (id: string): string => `i:${id}`,
  relative: (reference: string): string => `r:${reference}`,
  url: (url: string): string => `u:${url}`,
  contained: (id: string): string => `n:${id}`,
};

/** Returns the form of a code for how a word sounds. */
export const soundForm = (sound: string): string => `m:${sound}`;

/** Returns the form of a uri. */
export const uriForm = (uri: string): string => `u:${uri}`;

/** Returns the form of a composite's value: the forms of its two parts. */
export const pairForm = (first: string, second: string): string => `${first} $ ${second}`;

/** The form of a parameter that has any value, for `:missing`. */
export const PRESENT = 'p';

/** Returns the key of a form of a type's parameter in a tenant. */
export function valueKey(tenant: string, type: string, code: string, form: string): string {
  return `${tenant} ${type} ${code} ${form}`;
}

/** Returns the type name in the keys of contained resources, so that a search of the type doesn't find them. */
export function containedType(type: string): string {
  return `#${type}`;
}

/** Returns the key that all contained resources of a type in a tenant have. */
export function containedKey(tenant: string, type: string): string {
  return valueKey(tenant, containedType(type), '', PRESENT);
}

/** Returns the key that all resources of a record have. */
export function recordKey(record: string): string {
  return `record ${record}`;
}

/** Returns the key stored with a parameter's strings, moments and quantities. */
export function parameterKey(tenant: string, type: string, code: string): string {
  return `${tenant} ${type} ${code}`;
}

/** Returns the text to hash for the system of the code to which a value belongs. */
export function systemKey(system: string): string {
  return `system ${system}`;
}

/**
 * Returns the text to hash for the values of a code in one record, or for one of its tokens.
 * @param about the hash of the code to which the values belong, or of the token.
 */
export function inRecordKey(about: string, record: string): string {
  return `${about} in ${record}`;
}

/** Parameters often combined with `patient` in searches (US Core requires the combinations of every server). */
const READ_BY = new Set(['category', 'code']);

/**
 * Returns whether resources have a combined key for this form and their record (`inRecordKey`). With only the form's
 * key, an index finds resources of the whole project, and with only the record's key the whole record: either may be
 * many times the matches.
 * @param code of the parameter.
 */
export function hasKeyInRecord(code: string, form: string): boolean {
  return READ_BY.has(code) && (form.startsWith('c:') || form.startsWith('t:'));
}

/** Returns the text to hash for the dimension of a quantity in canonical units. */
export function dimensionKey(dimension: string): string {
  return `dimension ${dimension}`;
}

/** Maximum number of cached hashes per type and tenant, and in total; each takes about 250 bytes. */
const REMEMBERED = 20_000;
const REMEMBERED_IN_ALL = 30_000;

/**
 * Caches hashes of one type of one tenant. The keys of the cache are codes and forms, which are shorter than the texts
 * that are hashed.
 */
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

  /** Returns the hash of a form (`valueKey`). */
  value(code: string, form: string): string {
    const known = this.#of(this.#values, code);
    let key = known.get(form);
    if (key === undefined) {
      key = searchKey(valueKey(this.#tenant, this.#type, code, form));
      this.#remember(known, form, key);
    }
    return key;
  }

  /** Returns the hash of a code to which a parameter's values belong: that of the code's form in any system. */
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
/** Hashes cached since the caches were last cleared. */
let inAll = 0;

/**
 * Returns the cache of a tenant's type. Use it for one resource or a few only: all caches are cleared together when
 * they are full.
 * @param type its name, or that of its contained resources (`containedType`).
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

/** Hashes that a generation of `searchKey`'s cache holds. */
const HASHES = 10_000;

/**
 * A cache in two generations: the older is dropped when the younger is full. Codes repeat in every resource, and an LRU
 * would take longer than the hash.
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
  // Long texts are rarely codes.
  if (text.length < 200) young.set(text, key);
  return key;
}

/** Returns the bits by way of hexadecimal text, a third of the time of a digest in a buffer. */
function firstBits(text: string): string {
  return BigInt.asIntN(64, BigInt(`0x${hash('sha256', text).slice(0, 16)}`)).toString();
}
