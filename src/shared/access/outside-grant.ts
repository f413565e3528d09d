/**
 * Refuses requests that aren't covered by the scopes of a grant or client (docs/spec/decisions.md, section 9; RFC 6750,
 * section 3.1).
 */

import { Refusal } from '../refusal.ts';
import { hasLetters, type Letters } from './access.ts';
import type { Granted, Sees } from './caller.ts';

/** Returns the refusal (403) for a type outside the grant. It names the type and the missing scope. */
export function outsideGrant(type: string, letters: Letters): Refusal {
  const scope = `patient/${type}.${letters}`;
  return new Refusal(
    'forbidden',
    { code: 'forbidden', diagnostics: `${type} is outside the grant: the request needs the scope ${scope}` },
    { 'WWW-Authenticate': `Bearer realm="annal", error="insufficient_scope", scope="${scope}"` },
  );
}

/**
 * Checks that a grant has the given letters for a type, each for at least one category. Without a grant, everything is
 * allowed.
 * @throws Refusal forbidden (403) naming the type
 */
export function requireLetters(
  within: Pick<Granted, 'access'> | undefined,
  type: string,
  letters: Letters,
): void {
  if (within !== undefined && !hasLetters(within.access, type, letters)) throw outsideGrant(type, letters);
}

/**
 * Returns the refusal (403) for a client whose scopes name types.
 * @param scope the scope that the request requires
 */
export function outsideTypes(what: string, scope: string): Refusal {
  return new Refusal(
    'forbidden',
    {
      code: 'forbidden',
      diagnostics: `${what} is outside the token's scopes: the request needs the scope ${scope}`,
    },
    { 'WWW-Authenticate': `Bearer realm="annal", error="insufficient_scope", scope="${scope}"` },
  );
}

/**
 * Checks that a caller has the given letters for a type. Under a grant, does the same as `requireLetters`; otherwise, the
 * types that the caller's scopes name decide.
 * @throws Refusal forbidden (403) naming the type
 */
export function requireOnType(
  { within, types }: Pick<Sees, 'types'> & { readonly within?: Pick<Granted, 'access'> },
  type: string,
  letters: Letters,
): void {
  requireLetters(within, type, letters);
  if (types !== undefined && !hasLetters(types, type, letters))
    throw outsideTypes(type, `system/${type}.${letters}`);
}
