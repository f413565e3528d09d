/** JSON documents of issuers, by HTTP GET: bounded in time and size, never by way of another place. */
import { get as httpGet, type IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { CustomerHosts } from '#src/shared/customer-hosts.ts';

/** Thrown when an issuer can't be reached or its answer is invalid. The message names the URL. */
export class IssuerAway extends Error {
  override readonly name = 'IssuerAway';
}

/** The maximum size of a document, in bytes. */
const MOST_BYTES = 256 * 1024;
/** Timeout for one document, in ms. */
const PATIENCE_MS = 5_000;
/** The maximum number of documents of one customer-named host that are read at a time. */
const MOST_OF_HOST = 16;

/** Documents that are being read, by the host that a customer named. */
const reading = new Map<string, number>();

/**
 * Reads a document. A redirect is a failure, because its target has not been checked.
 * @param url https, or http on this machine
 * @param hosts lookup for hosts that customers name; undefined for the operator's own, which use the system's lookup
 * @throws IssuerAway
 */
export function fetchJson(url: string, hosts?: CustomerHosts): Promise<unknown> {
  return hosts === undefined ? read(url) : inTurn(new URL(url).host, url, () => read(url, hosts));
}

/** Refuses requests beyond a host's share. */
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

async function read(url: string, hosts?: CustomerHosts): Promise<unknown> {
  try {
    const answer = await ask(new URL(url), hosts);
    if (answer.statusCode !== 200) {
      answer.destroy();
      throw new IssuerAway(`${url} returned ${answer.statusCode}`);
    }
    return JSON.parse(await readText(answer, url));
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

/** Stops reading where the limit is: how long an answer is, only its end tells. */
async function readText(answer: IncomingMessage, url: string): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.byteLength;
    if (bytes > MOST_BYTES) throw new IssuerAway(`${url} is longer than ${MOST_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
