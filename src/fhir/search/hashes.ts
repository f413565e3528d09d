/**
 * Caches the hashes of a tenant's search values of one type, by code and form, since resources repeat the same values.
 */
import { searchKey } from '#src/shared/search-key.ts';
import { parameterKey, tokenForm, valueKey } from './keys.ts';

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
 * Returns the cache of a tenant's type, for one resource or a few: all caches are cleared together when they are full.
 * @param type its name, or that of its contained resources (`containedType`).
 */
export function hashesOf(tenant: string, type: string): Hashes {
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
