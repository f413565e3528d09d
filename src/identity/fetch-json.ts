/** Fetches issuers' JSON documents with HTTP GET, with limits on time and size, and without following redirects. */
import { get as httpGet, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { CustomerHosts } from '#src/shared/customer-hosts.ts';

/** Thrown if an issuer can't be reached or its response is invalid. The message names the URL. */
export class IssuerAway extends Error {
  override readonly name = 'IssuerAway';
}

/** Maximum size of a document, in bytes. */
const MOST_BYTES = 256 * 1024;
/** Timeout for one document, in ms. */
const PATIENCE_MS = 5_000;
/** Maximum number of documents that are read at the same time from one host named by a customer. */
const MOST_OF_HOST = 16;

/** Number of documents being read, by host named by a customer. */
const reading = new Map<string, number>();

/** A document with the headers of its response. */
export interface JsonDocument {
  readonly value: unknown;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Reads a document. A redirect is an error, because its target has not been checked.
 * @param url https, or http on this machine
 * @param hosts lookup for hosts named by customers; undefined for the operator's own hosts, which use the system's lookup
 * @throws IssuerAway
 */
export async function fetchJson(url: string, hosts?: CustomerHosts): Promise<unknown> {
  const { value } = await fetchDocument(url, hosts);
  return value;
}

/**
 * Reads a document, as `fetchJson` does.
 * @param most the maximum size of the document, in bytes
 * @throws IssuerAway
 */
export function fetchDocument(url: string, hosts?: CustomerHosts, most = MOST_BYTES): Promise<JsonDocument> {
  return hosts === undefined
    ? read(url, undefined, most)
    : inTurn(new URL(url).host, url, () => read(url, hosts, most));
}

/** Refuses requests that exceed a host's share. */
async function inTurn<T>(host: string, url: string, task: () => Promise<T>): Promise<T> {
  const others = reading.get(host) ?? 0;
  if (others >= MOST_OF_HOST)
    throw new IssuerAway(`${url}: too many requests to ${host} are already running (${others})`);
  reading.set(host, others + 1);
  try {
    return await task();
  } finally {
    const left = (reading.get(host) ?? 1) - 1;
    if (left === 0) reading.delete(host);
    else reading.set(host, left);
  }
}

async function read(url: string, hosts: CustomerHosts | undefined, most: number): Promise<JsonDocument> {
  try {
    const answer = await ask(new URL(url), hosts);
    if (answer.statusCode !== 200) {
      answer.destroy();
      throw new IssuerAway(`${url} returned ${answer.statusCode}`);
    }
    return { value: JSON.parse(await readText(answer, url, most)), headers: answer.headers };
  } catch (error) {
    if (error instanceof IssuerAway) throw error;
    throw new IssuerAway(`${url}: ${error instanceof Error ? error.message : 'the request failed'}`, {
      cause: error,
    });
  }
}

function ask(url: URL, hosts: CustomerHosts | undefined): Promise<IncomingMessage> {
  hosts?.check(url.hostname.replace(/^\[|\]$/g, ''));
  const options = {
    headers: { Accept: 'application/json, application/jwk-set+json' },
    signal: AbortSignal.timeout(PATIENCE_MS),
    ...(hosts === undefined ? {} : { lookup: hosts.lookup }),
  };
  return new Promise((resolve, reject) => {
    const get = url.protocol === 'http:' ? httpGet : httpsGet;
    get(url, options, resolve).on('error', reject);
  });
}

/** Stops reading at the limit, because the length of a response is known only at its end. */
async function readText(answer: IncomingMessage, url: string, most: number): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.byteLength;
    if (bytes > most) throw new IssuerAway(`${url} is longer than ${most} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
