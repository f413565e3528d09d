/** Sends tools' requests and returns the answers as JSON, in pages that are small enough for a model. */
import { isObject, type Json, type JsonObject, printJson, readStored } from '#src/shared/json/json.ts';
import { makeFault, ToolFault } from './fault.ts';
import type { Call, Reach, Reply } from './reach.ts';

/** The maximum size of a page, in bytes; longer results are paged. */
export const PAGE_BYTES = 100_000;

/**
 * Sends a request and returns the answer's JSON; its numbers keep their digits.
 * @throws ToolFault if the request is refused
 */
export async function askJson(reach: Reach, call: Call): Promise<JsonObject> {
  return (await askSized(reach, call)).json;
}

/** An answer, and its size in bytes. */
interface Sized {
  readonly json: JsonObject;
  readonly size: number;
  /** True if the answer may contain numbers whose digits JavaScript would change. */
  readonly exact: boolean;
}

/** Like `askJson`, but also returns the answer's size. */
export async function askSized(reach: Reach, call: Call): Promise<Sized> {
  const text = requireOk(await reach.ask(call)).body.toString();
  const { value, exact } = readStored(text);
  return { json: value, size: Buffer.byteLength(text), exact };
}

/**
 * Checks that a request succeeded.
 * @throws ToolFault
 */
export function requireOk(reply: Reply): Reply {
  if (reply.status >= 300) throw makeFault(reply);
  return reply;
}

/**
 * Returns the id of the patient whom a tool's call is about.
 * @throws ToolFault if there is none
 */
export async function findPatient(reach: Reach, given: string | undefined): Promise<string> {
  const patient = given ?? (await reach.grant())?.patient;
  if (patient === undefined)
    throw new ToolFault('patient is missing: you see several patients. find_patient finds their ids.');
  return encodeURIComponent(patient);
}

/** A place in a list from the interface: a page, and how many of its entries have been shown. */
interface Place {
  readonly shown: number;
  /** The cursor of the page; undefined for the first page. */
  readonly page: string | undefined;
}

/**
 * Reads a tool's cursor.
 * @throws ToolFault
 */
export function readPlace(cursor: string | undefined): Place {
  if (cursor === undefined) return { shown: 0, page: undefined };
  const [, shown, page] = /^(\d{1,6}):(.*)$/s.exec(cursor) ?? [];
  if (shown === undefined)
    throw new ToolFault('cursor is not one of this tool; send next_cursor of its previous answer');
  return { shown: Number(shown), page: page === '' ? undefined : page };
}

const writePlace = ({ shown, page = '' }: Place): string => `${shown}:${page}`;

/** A page of a list. */
export interface Page {
  readonly items: readonly JsonObject[];
  readonly next: string | null;
}

/**
 * Returns the entries after a place that fit into a page, but at least one entry.
 * @param all entries of the interface's page
 * @param next the cursor of the interface's next page, if there is one
 * @param size size of the interface's page, in bytes; if it is small enough, its entries aren't measured
 */
export function cutPage(
  all: readonly JsonObject[],
  place: Place,
  next: string | undefined,
  size: number,
): Page {
  const rest = next === undefined ? null : writePlace({ shown: 0, page: next });
  if (size <= PAGE_BYTES) return { items: all.slice(place.shown), next: rest };
  const items: JsonObject[] = [];
  let bytes = 0;
  for (const item of all.slice(place.shown)) {
    bytes += Buffer.byteLength(printJson(item));
    if (items.length > 0 && bytes > PAGE_BYTES)
      return { items, next: writePlace({ shown: place.shown + items.length, page: place.page }) };
    items.push(item);
  }
  return { items, next: rest };
}

/** A page from a REST v1 list, and the whole answer that it comes from. */
interface AskedPage extends Page {
  readonly answer: JsonObject;
}

/**
 * Reads a page of a REST v1 list.
 * @throws ToolFault
 */
export async function askPage(reach: Reach, call: Call, cursor: string | undefined): Promise<AskedPage> {
  const place = readPlace(cursor);
  const query = { ...call.query, cursor: place.page };
  const { json, size } = await askSized(reach, { ...call, query });
  return { ...cutPage(objectsIn(json.data), place, readText(json.next_cursor), size), answer: json };
}

/** Returns the objects in a list. */
export function objectsIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the texts in a list. */
export function textsIn(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Returns a member that is a text. */
export function readText(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
