/**
 * Parses URL paths and headers. Detects repeated names that may occur only once, because receivers could interpret them
 * differently.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import { requireDecodable } from '#src/shared/query-text.ts';
import type { Header } from './answer/authorship.ts';

/** The FHIR interface's base path. */
export const FHIR_PATH = '/fhir/R4';

/**
 * Returns the decoded segments of a path; a single trailing slash is ignored.
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

/** Returns the first repeated name; undefined if there is none. Runs in time proportional to the number of names. */
export function repeatedName(names: Iterable<string>, repeatable: ReadonlySet<string>): string | undefined {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name) && !repeatable.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

/**
 * Returns whether a header occurs with several different values. For some headers, Node keeps the first value, but a proxy may
 * have used another one.
 * @param rawHeaders alternating names and values
 * @param name in lower case
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

/** The gateway's base path. */
const GATEWAY_PATH = '/app/api';

const BELOW = /^\/app\/api(?:\/|$)/i;

/** The paths that can be reached through the gateway. */
const INNER = new RegExp(`^(?:/me|/admin|/v1|${FHIR_PATH})(?:/|$)`);

/**
 * Returns whether a path belongs to the gateway in any letter case. A path in a different case than the gateway's leads
 * nowhere.
 */
export function isGateway(path: string): boolean {
  return BELOW.test(path);
}

/**
 * Returns the interface path that a gateway request is for; undefined if the request isn't for an interface. The pages, the
 * authorization server and the gateway itself can't be reached through the gateway.
 */
export function innerPath({ path }: Pick<Context, 'path'>): string | undefined {
  if (!path.startsWith(`${GATEWAY_PATH}/`)) return undefined;
  const inner = path.slice(GATEWAY_PATH.length);
  return INNER.test(inner) ? inner : undefined;
}

/** Returns whether a path belongs to the FHIR interface. The discovery documents below its base path don't belong to it. */
export function isFhir(path: string): boolean {
  if (!path.startsWith(FHIR_PATH)) return false;
  if (path.length === FHIR_PATH.length) return true;
  return path[FHIR_PATH.length] === '/' && !path.startsWith('.well-known/', FHIR_PATH.length + 1);
}
