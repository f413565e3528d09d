/** The entries of an import; each is one resource at one place in one source. */
import { createHash } from 'node:crypto';
import type { ResourceType } from '#src/fhir/types.ts';
import { type Json, type JsonObject, printJson } from '#src/shared/json/json.ts';

/** A resource that is to be loaded. */
export interface Entry {
  /**
   * The key that references inside the import resolve to. `Type/old-id` if the source's ids are valid across
   * files (NDJSON, PUT entries), or `unnamedKey` if it has none there; otherwise the entry's `fullUrl` or place,
   * which is valid only in its own file.
   */
  readonly key: string;
  readonly type: ResourceType;
  /** The original resource, with its old id and references. */
  readonly resource: JsonObject;
  /** The place for messages: `ann.json, entry 12` or `Observation.ndjson, line 40`. */
  readonly place: string;
  /** Its length as JSON text. */
  readonly bytes: number;
  /** The `urn:uuid:` by which links in its narrative and its uris may name it, and by which the transaction does. */
  readonly urn: string;
  /** A condition that the source set: criteria of `ifNoneExist` or of a conditional PUT. */
  readonly condition?: { readonly method: 'POST' | 'PUT'; readonly criteria: string };
}

/** Something in a source that cannot be loaded. */
export interface Fault {
  readonly place: string;
  readonly diagnostics: string;
  /** The `Type` of the single resource that the fault is about, and its old id. */
  readonly type?: string;
  readonly id?: string;
}

/** Returns a fault of one entry. */
export function makeFault({ place, type, resource }: Entry, diagnostics: string): Fault {
  return { place, diagnostics, type, ...(typeof resource.id === 'string' ? { id: resource.id } : {}) };
}

/** Creates an entry from a resource; its text is measured once. */
export function makeEntry(
  key: string,
  type: ResourceType,
  resource: JsonObject,
  place: string,
  given: { readonly fullUrl?: Json | undefined; readonly condition?: Entry['condition'] } = {},
): Entry {
  const { fullUrl, condition } = given;
  const bytes = Buffer.byteLength(printJson(resource));
  const urn = typeof fullUrl === 'string' && URN_UUID.test(fullUrl) ? fullUrl : makeUrn(key);
  return { key, type, resource, place, bytes, urn, ...(condition === undefined ? {} : { condition }) };
}

const URN_UUID = /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The `urn:uuid:` under which a transaction names an entry: the same for the same key, so that a retry is the same text. */
function makeUrn(key: string): string {
  const hex = createHash('sha256').update(key).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Returns the SHA-256 of entries in their order. It identifies a unit of work when an import is resumed, even
 * if its file was renamed.
 */
export function contentHash(entries: readonly Entry[]): string {
  const hash = createHash('sha256');
  for (const { key, resource } of entries) hash.update(`${key}\n${printJson(resource)}\n`);
  return hash.digest('hex');
}
