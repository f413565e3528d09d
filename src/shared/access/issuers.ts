/** The OpenID Connect issuers that an installation trusts, and the format of `OIDC_ISSUERS`. */
import { z } from 'zod';
import { isLoopback } from '../loopback.ts';

/** An issuer whose ID tokens are accepted. */
export interface TrustedIssuer {
  /** Exactly as in `iss`, including any slash at the end. */
  readonly issuer: string;
  /** `aud` must contain one of these values. */
  readonly audiences: readonly string[];
}

/** An issuer as listed in `OIDC_ISSUERS`. */
export interface NamedIssuer extends TrustedIssuer {
  /** The environment variable with the client secret for the first audience, and the number of the entry that names it. */
  readonly secret?: { readonly variable: string; readonly entry: number };
}

/** Returns whether a URL is `https`, or `http` on this machine, without user, query or fragment. */
export function isIssuerUrl(text: string): boolean {
  if (!URL.canParse(text) || !/^[!$-;=@-~]+$/.test(text) || text.includes('\\')) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** Returns an issuer in a normal form, which is the same for all spellings of a URL. */
function normalForm(issuer: string): string {
  const { protocol, hostname, port, pathname } = new URL(issuer);
  const host = isLoopback(hostname) ? 'localhost' : hostname.replace(/\.$/, '');
  return `${protocol}//${host}:${port}${decoded(pathname).replace(/\/+$/, '')}`;
}

/** Returns a path without percent-encoding; a path that can't be decoded stays unchanged. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Returns whether an issuer's URL is among the other URLs, regardless of letter case, default port and slashes at the end. */
export function isSameIssuer(issuer: string, others: readonly string[]): boolean {
  const form = normalForm(issuer);
  return others.some((other) => normalForm(other) === form);
}

const EXAMPLE = 'https://login.example.org annal-dashboard';

/** Matches a name that shells allow for an environment variable. */
const VARIABLE = /^[A-Za-z_]\w{0,99}$/;

/**
 * Parses `issuer audience, issuer audience VARIABLE, …`. Each entry consists of a URL, the value that `aud` must contain and,
 * optionally, the environment variable with the client secret for signing people in at this issuer, separated by blanks. An
 * issuer with several audiences is listed several times; people sign in with the first audience, so the variable belongs in
 * its entry. Faults name an entry by its number and never quote it.
 */
export const issuersSchema = z.string().transform((text, context): readonly NamedIssuer[] => {
  const named = new Map<string, { audiences: string[]; secret: NamedIssuer['secret'] }>();
  const faults: string[] = [];
  for (const [index, entry] of text.split(',').entries()) {
    const [issuer = '', audience, variable, ...more] = entry.trim().split(/\s+/);
    const earlier = named.get(issuer);
    if (audience === undefined || more.length > 0) {
      faults.push(
        `entry ${index + 1} must be an issuer's URL, a space and an audience, for example ${EXAMPLE}, and may end with a space and the environment variable of the client secret`,
      );
    } else if (!isIssuerUrl(issuer)) {
      faults.push(
        `entry ${index + 1} must begin with an https URL (http only on localhost) without user, query or fragment`,
      );
    } else if (variable !== undefined && !VARIABLE.test(variable)) {
      faults.push(`the third part of entry ${index + 1} must be the name of an environment variable`);
    } else if (variable !== undefined && earlier !== undefined) {
      faults.push(`entry ${index + 1} must not name a client secret: it belongs in the issuer's first entry`);
    } else if (earlier === undefined) {
      const secret = variable === undefined ? undefined : { variable, entry: index + 1 };
      named.set(issuer, { audiences: [audience], secret });
    } else if (!earlier.audiences.includes(audience)) {
      earlier.audiences.push(audience);
    }
  }
  if (faults.length > 0) context.addIssue({ code: 'custom', message: faults.join(', ') });
  return [...named].map(([issuer, { audiences, secret }]) => ({
    issuer,
    audiences,
    ...(secret === undefined ? {} : { secret }),
  }));
});
