/** Defines the interfaces that the pages use to sign people in; `src/signin/open.ts` implements them. */
import type { Identity } from '#src/shared/access/identity.ts';
import type { OwnSession, Session, SignInWish } from '#src/shared/access/session.ts';

/** An issuer at which people can sign in. */
export interface SignInIssuer {
  /** Last part of the issuer's redirect URI: 16 hexadecimal digits. */
  readonly key: string;
  /** The issuer's name on the page: its host, followed by the path if another issuer has the same host. */
  readonly name: string;
}

/** Signs people in at the installation's issuers and manages their sessions. */
export interface SignIn {
  /** The issuers at which people can sign in; empty if there are none. */
  readonly issuers: readonly SignInIssuer[];
  /**
   * Begins a sign-in.
   * @param browser the secret in this browser's cookie
   * @returns the URL at the issuer; undefined for an unknown key
   * @throws SignInFault away
   */
  begin(key: string, wish: SignInWish, browser: string): Promise<string | undefined>;
  /**
   * Begins a sign-in at an organization's own issuer; the resulting session gives access only to `/app/api/admin`.
   * @param domain the domain of the person's e-mail address, in lower case
   * @returns the URL at the issuer; undefined if no organization has single sign-on for the domain
   * @throws SignInFault away
   */
  beginSso(domain: string, wish: SignInWish, browser: string): Promise<string | undefined>;
  /**
   * Completes a sign-in with the issuer's response at the redirect URI, and starts a session.
   * @param earlier the secret of the browser's existing session, which ends
   * @returns the secret of the new session, and the page to go back to; undefined for an unknown key
   * @throws SignInFault
   */
  complete(
    key: string,
    query: string,
    browser: string | undefined,
    earlier: string | undefined,
  ): Promise<{ readonly secret: string; readonly returnTo: string } | undefined>;
  /** Returns the live session for a cookie's value; undefined if there isn't one. */
  session(secret: string): Promise<Session | undefined>;
  /** Ends a session on every instance. */
  end(secret: string): Promise<void>;
  /** Returns a new secret for a cookie: 256 bits, base64url. */
  newSecret(): string;
}

/**
 * Lists and ends a person's sessions. `current` is the `Session.id` of the session in which the request is made; undefined if
 * there is none.
 */
export interface OwnSessions {
  /** Returns the live sessions: the current one first, then the others, newest first; at most 100. */
  list(person: Identity, current: string | undefined): Promise<readonly OwnSession[]>;
  /**
   * Ends a session on every instance.
   * @returns false if the session isn't the person's
   */
  endOne(person: Identity, id: string): Promise<boolean>;
  /** Ends all sessions except the current one, on every instance. */
  endOthers(person: Identity, current: string | undefined): Promise<void>;
}
