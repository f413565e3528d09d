/**
 * The texts that stand for searchable values. A resource has one for each way in which a search may name a value; a
 * projection hashes them (`searchKey`), a query hashes what it looks for, and equal texts find each other.
 */

/** The forms of a token: `c:` a code in any system, `t:` a code in one (empty: none), `s:` any code of a system. */
export const tokenForm = {
  /** Codes are compared without case (https://hl7.org/fhir/R4/search.html#token). */
  code: (code: string): string => `c:${code.toLowerCase()}`,
  pair: (system: string, code: string): string => `t:${system}|${code.toLowerCase()}`,
  system: (system: string): string => `s:${system}`,
  /** `:of-type`: an identifier's type and its value. */
  ofType: (system: string, type: string, value: string): string =>
    `o:${system}|${type.toLowerCase()}|${value.toLowerCase()}`,
};

/**
 * The forms of a reference: `i:` by its id whatever the type, `r:` by type and id, `u:` a URL as it stands, `n:` a contained
 * resource by the id that rows have of it (`containedId`).
 */
export const referenceForm = {
  id: (id: string): string => `i:${id}`,
  relative: (reference: string): string => `r:${reference}`,
  url: (url: string): string => `u:${url}`,
  contained: (id: string): string => `n:${id}`,
};

/** The form of how a name's word sounds. */
export const soundForm = (sound: string): string => `m:${sound}`;

/** The form of a uri. */
export const uriForm = (uri: string): string => `u:${uri}`;

/** The form of a composite's value: those of its two parts. */
export const pairForm = (first: string, second: string): string => `${first} $ ${second}`;

/** There is a value at all: what `:missing` asks. */
export const PRESENT = 'p';

/** The key of a form of a parameter of a type, among a tenant's. */
export function valueKey(tenant: string, type: string, code: string, form: string): string {
  return `${tenant} ${type} ${code} ${form}`;
}

/** The name under which contained resources of a type have keys: a search of the type doesn't find them. */
export function containedType(type: string): string {
  return `#${type}`;
}

/** The key that all contained resources of a type have among a tenant's. */
export function containedKey(tenant: string, type: string): string {
  return valueKey(tenant, containedType(type), '', PRESENT);
}

/** The key that all resources of a record have. */
export function recordKey(record: string): string {
  return `record ${record}`;
}

/** The key that a parameter's strings, moments and quantities bear. */
export function parameterKey(tenant: string, type: string, code: string): string {
  return `${tenant} ${type} ${code}`;
}

/** The text whose hash stands for the system of the code that a value is of. */
export function systemKey(system: string): string {
  return `system ${system}`;
}

/**
 * The text whose hash stands for the values of a code in one record, or for one of its tokens.
 * @param about the hash of what the values are of, or of the token.
 */
export function inRecordKey(about: string, record: string): string {
  return `${about} in ${record}`;
}

/** What the resources of a record are usually read by: `patient` and one of these (as US Core asks of every server). */
const READ_BY = new Set(['category', 'code']);

/**
 * Whether a resource has a key of its own for a form and its record together (`inRecordKey`). Of the form's key alone an
 * index gives the whole project's resources, of the record's key all of the record: either may be many times the matches.
 * @param code of the parameter.
 */
export function hasKeyInRecord(code: string, form: string): boolean {
  return READ_BY.has(code) && (form.startsWith('c:') || form.startsWith('t:'));
}

/** The text whose hash stands for the dimension of a quantity in canonical units. */
export function dimensionKey(dimension: string): string {
  return `dimension ${dimension}`;
}
