/** Refusals of what a grant's scopes don't cover (docs/spec/decisions.md, section 9; RFC 6750, section 3.1). */
import { hasLetters, type Letters } from './access.ts';
import type { Granted } from './caller.ts';
import { Refusal } from './refusal.ts';

/** Returns the refusal (403) of a type outside the grant. It names the type, and the scope that is missing. */
export function outsideGrant(type: string, letters: Letters): Refusal {
  const scope = `patient/${type}.${letters}`;
  return new Refusal(
    'forbidden',
    { code: 'forbidden', diagnostics: `${type} is outside the grant: the request needs the scope ${scope}` },
    { 'WWW-Authenticate': `Bearer realm="annal", error="insufficient_scope", scope="${scope}"` },
  );
}

/**
 * Checks that a grant has letters on a type, each at least for one category. Without a grant everything is allowed.
 * @throws Refusal forbidden (403) naming the type
 */
export function requireLetters(
  within: Pick<Granted, 'access'> | undefined,
  type: string,
  letters: Letters,
): void {
  if (within !== undefined && !hasLetters(within.access, type, letters)) throw outsideGrant(type, letters);
}
