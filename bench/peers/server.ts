/** A FHIR server to measure: any server that answers at a base URL over HTTP. */
import type { Target } from '../load/plan.ts';

/** A server, and how to send requests to it. */
export interface Peer {
  readonly target: Target;
  /** The path of the server's base URL, without a trailing slash. */
  readonly base: string;
  /**
   * Sends one request outside of any load.
   * @throws Error for any status other than the expected one
   */
  ask(method: string, path: string, expect: number, body?: object): Promise<Json>;
}

/** A resource, or a part of one. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * Creates the client for a server.
 * @param token sent as `Authorization: Bearer`; empty for none
 * @throws Error for a URL other than `http://`
 */
export function openPeer(baseUrl: string, token: string): Peer {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  if (protocol !== 'http:') throw new TypeError(`${baseUrl}: the load is sent by http:// only, without TLS`);
  const base = pathname.replace(/\/+$/, '');
  const target = { host: hostname, port: Number(port || 80), ...(token === '' ? {} : { key: token }) };
  return {
    target,
    base,
    async ask(method, path, expect, body) {
      const answer = await fetch(`http://${hostname}:${target.port}${base}${path}`, {
        method,
        headers: {
          accept: 'application/fhir+json',
          'content-type': 'application/fhir+json',
          ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (answer.status !== expect)
        throw new Error(`${method} ${path}: ${answer.status} instead of ${expect}: ${text.slice(0, 300)}`);
      return JSON.parse(text) as Json;
    },
  };
}

/**
 * Returns the id in `[base/]Type/id[/_history/n]`.
 * @throws Error if the id is missing
 */
export function idIn(location: string): string {
  const id = /[A-Za-z]+\/([A-Za-z0-9.-]{1,64})(?:\/_history\/[^/]+)?$/.exec(location)?.[1];
  if (id === undefined) throw new Error(`there is no id in the location "${location}"`);
  return id;
}
