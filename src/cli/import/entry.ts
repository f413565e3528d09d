/** Defines the entries of an import; each entry is one resource at one place in a source. */
import { createHash } from 'node:crypto';
import type { ResourceType } from '#src/fhir/types.ts';
import { type Json, type JsonObject, printJson } from '#src/shared/json/json.ts';

/** A resource to load. */
export interface Entry {
  /**
   * The key that references inside the import resolve to. It is `Type/old-id` if the source's ids are valid across files
   * (NDJSON, PUT entries), or `unnamedKey` if the resource has no such id; otherwise it is the entry's `fullUrl` or place,
   * which is valid only in its own file.
   */
  readonly key: string;
  readonly type: ResourceType;
  /** The original resource, with its old id and old references. */
  readonly resource: JsonObject;
  /** The entry's place for messages: `ann.json, entry 12` or `Observation.ndjson, line 40`. */
  readonly place: string;
  /** The resource's length as JSON text. */
  readonly bytes: number;
  /**
   * The `urn:uuid:` that names the entry in the transaction, and possibly in links in the resource's narrative and in its
   * URIs.
   */
  readonly urn: string;
  /** A condition that the source set: the criteria of `ifNoneExist` or of a conditional PUT. */
  readonly condition?: { readonly method: 'POST' | 'PUT'; readonly criteria: string };
}

/** Something in a source that can't be loaded. */
export interface Fault {
  readonly place: string;
  readonly diagnostics: string;
  /** The resource's `Type` and old id, if the fault is about a single resource. */
  readonly type?: string;
  readonly id?: string;
}

/** Returns a fault for one entry. */
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

/**
 * Returns the `urn:uuid:` that names an entry in a transaction. A key always gets the same `urn:uuid:`, so that a retry has
 * the same text.
 */
function makeUrn(key: string): string {
  const hex = createHash('sha256').update(key).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Returns the SHA-256 over entries, in the given order. It identifies a unit of work when an import is resumed, even if its
 * file was renamed.
 */
export function contentHash(entries: readonly Entry[]): string {
  const hash = createHash('sha256');
  for (const { key, resource } of entries) hash.update(`${key}\n${printJson(resource)}\n`);
  return hash.digest('hex');
}
