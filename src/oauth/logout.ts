/** Reads the hints in requests to the logout endpoint (OpenID Connect RP-Initiated Logout 1.0). */
import type { Pool } from 'pg';
import type { PersonId } from '#src/shared/access/identity.ts';
import { type IdTokenHint, readIdTokenHint } from './id-token-hint.ts';
import type { SigningKeys } from './signing-keys.ts';

// Indexes: grants_of_person, primary key of projects.application.
const KNOWN = `
select exists (
  select from consents.grants g join projects.application a on a.id = g.application_id
   where g.issuer = $1 and g.subject = $2 and g.pairwise_subject = $3 and a.client_id = $4) as known`;

/** Reads ID tokens as hints, and checks which person they are about. */
export interface LogoutHints {
  /**
   * Returns the claims of an ID token that this service issued, even if the token has expired; undefined for any other text.
   */
  readonly read: (idToken: string) => Promise<IdTokenHint | undefined>;
  /** Returns whether a hint is about a person: the client must have a grant from the person, under that `sub`. */
  readonly isAbout: (hint: IdTokenHint, person: PersonId) => Promise<boolean>;
}

/**
 * Creates the reader of logout hints on a database.
 * @param issuer BASE_URL
 */
export function openLogoutHints(
  pool: Pool,
  keys: Pick<SigningKeys, 'published'>,
  issuer: string,
): LogoutHints {
  return {
    read: (idToken) => readIdTokenHint(keys, issuer, idToken),
    async isAbout({ clientId, subject }, person) {
      const { rows } = await pool.query<{ known: boolean }>({
        name: 'oauth-logout-hint',
        text: KNOWN,
        values: [person.issuer, person.subject, subject, clientId],
      });
      return rows[0]?.known === true;
    },
  };
}
