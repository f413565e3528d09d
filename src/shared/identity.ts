/** Who an ID token speaks of: a developer on `/admin`, a patient under `/me` (docs/spec/interface.md, section 5). */

/** A person as an issuer vouches for them. `issuer` and `subject` together name one; the other members may change. */
export interface Identity {
  /** The issuer's identifier, exactly as its tokens bear it in `iss`. */
  readonly issuer: string;
  /** `sub`: unique with its issuer and never given to another person (OpenID Connect Core 1.0, section 2). */
  readonly subject: string;
  readonly email?: string;
  /** Whether the issuer says that the address is the person's own; false without an address. */
  readonly emailVerified: boolean;
  readonly name?: string;
  /**
   * Absent: the installation trusts the token. Present: only these organizations do, by their SSO settings, and it
   * reaches nothing beyond them. Other clients of the same issuer, or an issuer that somebody else chose, prove nothing
   * to an organization that has not named them.
   */
  readonly organizations?: readonly string[];
}

/** An organization that trusts an issuer's tokens for one client (its SSO settings). */
export interface SsoClient {
  readonly organization: string;
  /** What `aud` of its tokens must hold. */
  readonly clientId: string;
}

/** The organizations that trust an issuer now, by its exact identifier; none: an empty list. */
export type SsoClientsOf = (issuer: string) => Promise<readonly SsoClient[]>;
