/** The interfaces that the pages need to sign people in; `src/signin/open.ts` implements it. */
import type { Identity } from '#src/shared/access/identity.ts';
import type { OwnSession, Session, SignInWish } from '#src/shared/access/session.ts';

/** An issuer that people can sign in at. */
export interface SignInIssuer {
  /** Last part of its redirect URI: 16 hexadecimal digits. */
  readonly key: string;
  /** Its name on the page: its host, with the path if another issuer has the same host. */
  readonly name: string;
}

/** Signs people in at the installation's issuers and keeps their sessions. */
export interface SignIn {
  /** Empty where nobody can sign in. */
  readonly issuers: readonly SignInIssuer[];
  /**
   * Begins a sign-in.
   * @param browser the secret in the cookie of this browser
   * @returns the URL at the issuer; undefined for an unknown key
   * @throws SignInFault away
   */
  begin(key: string, wish: SignInWish, browser: string): Promise<string | undefined>;
  /**
   * Begins a sign-in at an organization's own issuer, whose session opens only `/app/api/admin`.
   * @param domain of the person's e-mail address, in lower case
   * @returns the URL at the issuer; undefined if no organization has single sign-on for the domain
   * @throws SignInFault away
   */
  beginSso(domain: string, wish: SignInWish, browser: string): Promise<string | undefined>;
  /**
   * Completes a sign-in with the issuer's answer at the redirect URI, and starts a session.
   * @param earlier the secret of the session that the browser has; it ends
   * @returns the secret of the new session, and the page to go back to; undefined for an unknown key
   * @throws SignInFault
   */
  complete(
    key: string,
    query: string,
    browser: string | undefined,
    earlier: string | undefined,
  ): Promise<{ readonly secret: string; readonly returnTo: string } | undefined>;
  /** Returns the live session of a cookie's value; undefined if there is none. */
  session(secret: string): Promise<Session | undefined>;
  /** Ends a session on every instance. */
  end(secret: string): Promise<void>;
  /** Returns a new secret for a cookie: 256 bits, base64url. */
  newSecret(): string;
}

/** Lists and ends the sessions of a person. `current` is the `Session.id` of the session that asks; undefined: none does. */
export interface OwnSessions {
  /** Returns the live ones, the one that asks first, then the newest; at most 100. */
  list(person: Identity, current: string | undefined): Promise<readonly OwnSession[]>;
  /** Ends one on every instance. @returns false if it isn't the person's */
  endOne(person: Identity, id: string): Promise<boolean>;
  /** Ends all but the one that asks, on every instance. */
  endOthers(person: Identity, current: string | undefined): Promise<void>;
}
