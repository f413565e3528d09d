/**
 * A person's session on the pages (docs/spec/decisions.md, section 9, "Tokens and sessions"). Both the pages and the gateway
 * accept it.
 */
import type { Identity } from './identity.ts';

/** A live session. */
export interface Session {
  /** SHA-256 of the cookie's value, in hexadecimal: identifies the session without giving access to it. */
  readonly id: string;
  readonly person: Identity;
  /** When the person signed in here, in seconds since 1970, by the database's clock. */
  readonly startedAt: number;
  /**
   * When the person proved their identity (`auth_time`), according to the issuer, in seconds since 1970; undefined if the
   * issuer doesn't state it.
   */
  readonly authTime: number | undefined;
  /** The token that every form on a page in this session must return as `form_token`. */
  readonly formToken: string;
}

/** A live session in the person's list of sessions. */
export interface OwnSession {
  /** Identifies the session to the person. Neither the cookie's value nor `Session.id` can be derived from this id. */
  readonly id: string;
  /** True for the session in which the request is made. */
  readonly current: boolean;
  /** In seconds since 1970, like `usedAt`. */
  readonly startedAt: number;
  /** Time of the session's last request, to the minute. */
  readonly usedAt: number;
}

/** The purpose of a sign-in, and how it should be done. */
export interface SignInWish {
  /** The page to return to: path and query relative to BASE_URL, such as `/invitations/open/1f…`. */
  readonly returnTo: string;
  /** `login`: the person must prove their identity again; `select_account`: they may choose an account. */
  readonly prompt?: 'login' | 'select_account' | undefined;
  /** The maximum number of seconds since the person proved their identity. */
  readonly maxAge?: number | undefined;
  /** The address to fill in at the issuer. */
  readonly loginHint?: string | undefined;
  /** Language of the pages, as in their parameter `lang`. */
  readonly lang?: string | undefined;
}

/**
 * The maximum length of the service's own paths, in characters: even when percent-encoded in a link, a path must fit in a
 * header.
 */
const MAX_PATH = 1_500;
/** Visible ASCII characters that browsers send in paths and queries: not `" # < > \`. */
const PATH = /^\/(?!\/)[!$-;=?-[\]-~]*$/;

/**
 * Returns whether a text is a path on this site to which a sign-in may return: it starts with one slash and stays on the same
 * origin, regardless of how a browser parses it (RFC 9700, section 4.11). Pages that send a visitor to another site and back
 * rely only on this check.
 */
export function isOwnPath(text: string): boolean {
  if (text.length > MAX_PATH || !PATH.test(text)) return false;
  const path = text.split('?', 1)[0] ?? '';
  return !path.includes('//') && !path.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part));
}
