/**
 * The person whom an ID token identifies: a developer on `/admin`, a patient under `/me` (docs/spec/interface.md, section 5).
 */

/** The two claims that identify a person; events keep nothing else about a person (docs/spec/decisions.md, section 9). */
export interface PersonId {
  /** The issuer's identifier, exactly as in `iss`. */
  readonly issuer: string;
  /** `sub`: unique within its issuer, and never assigned to another person (OpenID Connect Core 1.0, section 2). */
  readonly subject: string;
}

/** A person as described by the issuer. `issuer` and `subject` together identify the person; the other members may change. */
export interface Identity extends PersonId {
  readonly email?: string;
  /** True if the issuer states that the address belongs to the person; false without an address. */
  readonly emailVerified: boolean;
  readonly name?: string;
  /**
   * Absent if the installation trusts the token. Present if only these organizations trust it, by their SSO settings; the
   * token then has no effect elsewhere. Not included are organizations that trust a different client of the issuer, or a
   * different issuer.
   */
  readonly organizations?: readonly string[];
}

/** An organization that trusts an issuer's tokens for one client, according to its SSO settings. */
export interface SsoClient {
  readonly organization: string;
  /** The value that `aud` must contain in the client's tokens. */
  readonly clientId: string;
}

/** Returns the organizations that currently trust an issuer, given its exact identifier. */
export type SsoClientsOf = (issuer: string) => Promise<readonly SsoClient[]>;
