/**
 * Fetches an issuer's public keys over HTTP. The issuer's discovery document names the key set (OpenID Connect Discovery 1.0,
 * section 4; RFC 8414, section 3.3; RFC 7517, section 5).
 */
import type { JSONWebKeySet } from 'jose';
import { z } from 'zod';
import { isIssuerUrl } from '#src/shared/access/issuers.ts';
import type { CustomerHosts } from '#src/shared/customer-hosts.ts';
import { fetchJson, IssuerAway } from './fetch-json.ts';

const discoverySchema = z.object({ issuer: z.string(), jwks_uri: z.string() });
const keySetSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(200) });

/**
 * Fetches an issuer's keys.
 * @param hosts how to reach hosts that the operator has not chosen; undefined for an issuer in `OIDC_ISSUERS`.
 * @throws IssuerAway
 */
export async function fetchKeys(issuer: string, hosts?: CustomerHosts): Promise<JSONWebKeySet> {
  const where = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const discovery = discoverySchema.safeParse(await fetchJson(where, hosts));
  if (!discovery.success) throw new IssuerAway(`${where} is not a valid discovery document`);
  // Compared byte for byte, because another issuer's keys prove nothing.
  if (discovery.data.issuer !== issuer) throw new IssuerAway(`${where} names another issuer`);
  const { jwks_uri: uri } = discovery.data;
  if (!isIssuerUrl(uri.replace(/\?[^#\s]*$/, '')))
    throw new IssuerAway(`the jwks_uri in ${where} is not https`);
  const keys = keySetSchema.safeParse(await fetchJson(uri, hosts));
  if (!keys.success) throw new IssuerAway(`${uri} is not a valid key set`);
  return keys.data;
}
