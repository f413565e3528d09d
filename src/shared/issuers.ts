/** The OpenID Connect issuers that an installation trusts: how `OIDC_ISSUERS` is written. */
import { z } from 'zod';
import { isLoopback } from './loopback.ts';

/** An issuer whose ID tokens are taken. */
export interface TrustedIssuer {
  /** Exactly as its tokens bear it in `iss`: slashes at the end count. */
  readonly issuer: string;
  /** `aud` must hold one of them. */
  readonly audiences: readonly string[];
}

/** Whether a URL is `https`, or `http` to this machine itself, and has no user, query or fragment. */
export function isIssuerUrl(text: string): boolean {
  if (!URL.canParse(text) || !/^[!$-;=@-~]+$/.test(text) || text.includes('\\')) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

const EXAMPLE = 'https://login.example.org annal-dashboard';

/**
 * Reads `issuer audience, issuer audience, …`: a URL, blanks, what `aud` must hold. An issuer with several audiences
 * stands there several times. Faults name the entry by its number, and never repeat it.
 */
export const issuersSchema = z.string().transform((text, context): readonly TrustedIssuer[] => {
  const audiences = new Map<string, string[]>();
  const faults: string[] = [];
  for (const [index, entry] of text.split(',').entries()) {
    const [issuer = '', audience, ...more] = entry.trim().split(/\s+/);
    if (audience === undefined || more.length > 0) {
      faults.push(`entry ${index + 1} must be an issuer's URL, a blank and an audience, such as ${EXAMPLE}`);
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
