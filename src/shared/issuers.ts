/** The OpenID Connect issuers that an installation trusts, and the format of `OIDC_ISSUERS`. */
import { z } from 'zod';
import { isLoopback } from './loopback.ts';

/** An issuer whose ID tokens are accepted. */
export interface TrustedIssuer {
  /** Exactly as in `iss`: trailing slashes count. */
  readonly issuer: string;
  /** `aud` must contain one of them. */
  readonly audiences: readonly string[];
}

/** Tells whether a URL is `https`, or `http` on this machine, without user, query or fragment. */
export function isIssuerUrl(text: string): boolean {
  if (!URL.canParse(text) || !/^[!$-;=@-~]+$/.test(text) || text.includes('\\')) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

const EXAMPLE = 'https://login.example.org annal-dashboard';

/**
 * Parses `issuer audience, issuer audience, …`: a URL, blanks, the value that `aud` must contain. An issuer with
 * several audiences is listed several times. Faults name an entry by its number and never quote it.
 */
export const issuersSchema = z.string().transform((text, context): readonly TrustedIssuer[] => {
  const audiences = new Map<string, string[]>();
  const faults: string[] = [];
  for (const [index, entry] of text.split(',').entries()) {
    const [issuer = '', audience, ...more] = entry.trim().split(/\s+/);
    if (audience === undefined || more.length > 0) {
      faults.push(
        `entry ${index + 1} must be an issuer's URL, a space and an audience, for example ${EXAMPLE}`,
      );
    } else if (!isIssuerUrl(issuer)) {
      faults.push(
        `entry ${index + 1} must begin with an https URL (http only on localhost) without user, query or fragment`,
      );
    } else {
      const there = audiences.get(issuer) ?? [];
      if (!there.includes(audience)) audiences.set(issuer, [...there, audience]);
    }
  }
  if (faults.length > 0) context.addIssue({ code: 'custom', message: faults.join(', ') });
  return [...audiences].map(([issuer, named]) => ({ issuer, audiences: named }));
});
