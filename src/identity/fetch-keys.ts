/**
 * An issuer's public keys over HTTP: its discovery document names the key set (OpenID Connect Discovery 1.0, section 4;
 * RFC 8414, section 3.3; RFC 7517, section 5).
 */
import type { JSONWebKeySet } from 'jose';
import { z } from 'zod';
import { isIssuerUrl } from '#src/shared/issuers.ts';

/** The issuer cannot be reached, or what it answers is no discovery document or key set. Its message names the URL. */
export class IssuerAway extends Error {
  override readonly name = 'IssuerAway';
}

/** Largest document, in bytes. */
const MOST_BYTES = 256 * 1024;
/** How long one document may take, in ms. */
const PATIENCE_MS = 5_000;

const discoverySchema = z.object({ issuer: z.string(), jwks_uri: z.string() });
const keySetSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(200) });

/** Fetches the keys of an issuer. @throws IssuerAway */
export async function fetchKeys(issuer: string): Promise<JSONWebKeySet> {
  const where = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const discovery = discoverySchema.safeParse(await fetchJson(where));
  if (!discovery.success) throw new IssuerAway(`${where} is no discovery document`);
  // Byte for byte: what another issuer publishes proves nothing of this one.
  if (discovery.data.issuer !== issuer) throw new IssuerAway(`${where} is of another issuer`);
  const { jwks_uri: uri } = discovery.data;
  if (!isIssuerUrl(uri.replace(/\?[^#\s]*$/, '')))
    throw new IssuerAway(`the jwks_uri in ${where} is not https`);
  const keys = keySetSchema.safeParse(await fetchJson(uri));
  if (!keys.success) throw new IssuerAway(`${uri} is no key set`);
  return keys.data;
}

async function fetchJson(url: string): Promise<unknown> {
  try {
    const response = await fetch(url, {
      headers: { Accept: 'application/json, application/jwk-set+json' },
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (response.status !== 200) throw new IssuerAway(`${url} answers ${response.status}`);
    return JSON.parse(await textOf(response, url));
  } catch (error) {
    if (error instanceof IssuerAway) throw error;
    throw new IssuerAway(`${url}: ${causeOf(error)}`, { cause: error });
  }
}

/** Stops reading where the limit is: how long an answer is, only its end tells. */
async function textOf(response: Response, url: string): Promise<string> {
  const parts: Uint8Array[] = [];
  const reader = response.body?.getReader();
  let bytes = 0;
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) return Buffer.concat(parts).toString('utf8');
    bytes += value.byteLength;
    if (bytes > MOST_BYTES) {
      await reader?.cancel();
      throw new IssuerAway(`${url} is longer than ${MOST_BYTES} bytes`);
    }
    parts.push(value);
  }
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  return error.cause instanceof Error ? error.cause.message : error.message;
}
