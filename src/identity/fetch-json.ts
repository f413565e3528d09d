/** JSON documents of issuers, by HTTP GET: bounded in time and size, never by way of another place. */
import { get as httpGet, type IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import { isIP } from 'node:net';
import { isPublicAddress, NotPublic, publicLookup } from '#src/shared/public-address.ts';

/** The issuer cannot be reached, or what it answers is not what it should be. Its message names the URL. */
export class IssuerAway extends Error {
  override readonly name = 'IssuerAway';
}

/** Largest document, in bytes. */
const MOST_BYTES = 256 * 1024;
/** How long one document may take, in ms. */
const PATIENCE_MS = 5_000;

/**
 * Reads a document. A redirect is a failure: it would lead to where nobody has looked whether it may.
 * @param url https, or http on this machine.
 * @param publicOnly whether only addresses of the public internet may be connected to.
 * @throws IssuerAway
 */
export async function fetchJson(url: string, publicOnly: boolean): Promise<unknown> {
  try {
    const answer = await ask(new URL(url), publicOnly);
    if (answer.statusCode !== 200) {
      answer.destroy();
      throw new IssuerAway(`${url} answers ${answer.statusCode}`);
    }
    return JSON.parse(await textOf(answer, url));
  } catch (error) {
    if (error instanceof IssuerAway) throw error;
    throw new IssuerAway(`${url}: ${error instanceof Error ? error.message : 'it failed'}`, { cause: error });
  }
}

function ask(url: URL, publicOnly: boolean): Promise<IncomingMessage> {
  const address = url.hostname.replace(/^\[|\]$/g, '');
  if (publicOnly && isIP(address) !== 0 && !isPublicAddress(address)) throw new NotPublic(address);
  const options = {
    headers: { Accept: 'application/json, application/jwk-set+json' },
    signal: AbortSignal.timeout(PATIENCE_MS),
    ...(publicOnly ? { lookup: publicLookup } : {}),
  };
  return new Promise((resolve, reject) => {
    const get = url.protocol === 'http:' ? httpGet : httpsGet;
    get(url, options, resolve).on('error', reject);
  });
}

/** Stops reading where the limit is: how long an answer is, only its end tells. */
async function textOf(answer: IncomingMessage, url: string): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.byteLength;
    if (bytes > MOST_BYTES) throw new IssuerAway(`${url} is longer than ${MOST_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
