/** Paths of URLs and headers, taken apart, and names that occur several times where they may occur once: receivers could read them differently. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import { requireDecodable } from '#src/shared/query-text.ts';
import type { Header } from './answer/authorship.ts';

/** Base path of the FHIR interface. */
export const FHIR_PATH = '/fhir/R4';

/**
 * Returns the decoded segments of a path; ignores one trailing slash.
 * @throws Refusal malformed (400) for invalid percent-encoding.
 */
export function splitPath(path: string): string[] {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path;
  const bare = trimmed.startsWith('/') ? trimmed.slice(1) : trimmed;
  if (bare === '') return [];
  if (!bare.includes('%')) return bare.split('/');
  requireDecodable(bare, 'the path');
  return bare.split('/').map(decodeURIComponent);
}

/** Returns the first name that occurs again; undefined if none does. Takes time in proportion to their number. */
export function repeatedName(names: Iterable<string>, repeatable: ReadonlySet<string>): string | undefined {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name) && !repeatable.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

/**
 * Tells whether a header occurs with several values. Node keeps the first of some headers, and a proxy may have looked at
 * another.
 * @param rawHeaders names and values, by turns
 * @param name lower case
 */
export function hasSeveralValues(rawHeaders: readonly string[], name: string): boolean {
  let first: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const each = rawHeaders[at];
    if (each?.length !== name.length || each.toLowerCase() !== name) continue;
    first ??= rawHeaders[at + 1];
    if (rawHeaders[at + 1] !== first) return true;
  }
  return false;
}

/** Returns a function that reads headers by their lower-case names. */
export function readHeaders(headers: IncomingHttpHeaders): Header {
  return (name) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
}

/** Base path of the gateway. */
const GATEWAY_PATH = '/app/api';

const BELOW = /^\/app\/api(?:\/|$)/i;

/** The paths that can be reached through it. */
const INNER = new RegExp(`^(?:/me|/admin|/v1|${FHIR_PATH})(?:/|$)`);

/** Tells whether a path is of the gateway, also in another letter case, which leads nowhere. */
export function isGateway(path: string): boolean {
  return BELOW.test(path);
}

/**
 * Returns the path of the interface that a request of the gateway is for; undefined if it is for none: the pages,
 * the authorization server and the gateway itself can't be reached through it.
 */
export function innerPath({ path }: Pick<Context, 'path'>): string | undefined {
  if (!path.startsWith(`${GATEWAY_PATH}/`)) return undefined;
  const inner = path.slice(GATEWAY_PATH.length);
  return INNER.test(inner) ? inner : undefined;
}

/** Tells whether a path is of the FHIR interface; discovery documents below it aren't. */
export function isFhir(path: string): boolean {
  if (!path.startsWith(FHIR_PATH)) return false;
  if (path.length === FHIR_PATH.length) return true;
  return path[FHIR_PATH.length] === '/' && !path.startsWith('.well-known/', FHIR_PATH.length + 1);
}
