/** A FHIR search as the page builds it. Outside this module, a search exists only as the path of its URL. */

/** One `name:modifier=value` in a search. */
export interface Part {
  readonly name: string;
  /** Empty if the part has no modifier. */
  readonly modifier: string;
  readonly value: string;
}

export interface Query {
  readonly type: string;
  readonly parts: readonly Part[];
}

/** A search of a type. */
const SEARCH = /^\/fhir\/R4\/([A-Z]\w*)(?:\?(.*))?$/s;

/** Returns true if a path is a search for one type. */
export function isSearch(path: string): boolean {
  return SEARCH.test(path);
}

/** Reads a search's path, such as `/fhir/R4/Patient?name=a`; any other path becomes a search for Observations. */
export function readQuery(path: string): Query {
  const [, type = 'Observation', query = ''] = SEARCH.exec(path) ?? [];
  const parts = [...new URLSearchParams(query)].map(([key, value]) => ({ ...splitKey(key), value }));
  return { type, parts };
}

/** Splits `name:modifier`. */
export function splitKey(key: string): Pick<Part, 'name' | 'modifier'> {
  const [name = '', ...modifier] = key.split(':');
  return { name, modifier: modifier.join(':') };
}

/** Returns `name:modifier`. */
export function joinKey({ name, modifier }: Pick<Part, 'name' | 'modifier'>): string {
  return modifier === '' ? name : `${name}:${modifier}`;
}

/** Returns the search without empty parts, which the service ignores. */
export function withoutEmpty({ type, parts }: Query): Query {
  return { type, parts: parts.filter(({ name, value }) => name !== '' && value !== '') };
}

/** Returns a search's path. */
export function printQuery({ type, parts }: Query): string {
  const written = parts.map((part) => `${encode(joinKey(part))}=${encode(part.value)}`);
  return `/fhir/R4/${type}${written.length === 0 ? '' : `?${written.join('&')}`}`;
}

/** Encodes text for a URL, except for characters that are readable there. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(?:2C|2F|3A|24)/g, decodeURIComponent);
}

/** Returns the value of a part without a modifier; empty if there is none. */
export function readValue({ parts }: Query, name: string): string {
  return parts.find((part) => joinKey(part) === name)?.value ?? '';
}

/** Returns the search with the given value or, if the value is empty, without the part. */
export function withValue({ type, parts }: Query, name: string, value: string): Query {
  const at = parts.findIndex((part) => joinKey(part) === name);
  const by = value === '' ? [] : [{ name, modifier: '', value }];
  return { type, parts: parts.toSpliced(at < 0 ? parts.length : at, 1, ...by) };
}

const PREFIXED = /^(eq|ne|gt|lt|ge|le|sa|eb|ap)?(.*)$/s;

/** Splits off the prefix of a date or a quantity. */
export function splitPrefix(value: string): readonly [prefix: string, rest: string] {
  const [, prefix = '', rest = ''] = PREFIXED.exec(value) ?? [];
  return [prefix, rest];
}
