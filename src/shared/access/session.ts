/** A person's session on the pages (docs/spec/decisions.md, section 9, "Tokens and sessions"). Pages accept it, and the gateway. */
import type { Identity } from './identity.ts';

/** A live session. */
export interface Session {
  /** SHA-256 of the cookie's value, in hexadecimal: names the session without opening it. */
  readonly id: string;
  readonly person: Identity;
  /** When the person signed in here, in seconds since 1970, by the database's clock. */
  readonly startedAt: number;
  /** When the issuer says that the person proved who they are (`auth_time`), in seconds; undefined if it doesn't say. */
  readonly authTime: number | undefined;
  /** The token that every form of a page in this session must send back in `form_token`. */
  readonly formToken: string;
}

/** A live session in the list of its person. */
export interface OwnSession {
  /** Names it to the person: neither the cookie's value nor `Session.id` follows from it. */
  readonly id: string;
  /** True for the session that asks. */
  readonly current: boolean;
  /** In seconds since 1970, as `usedAt`. */
  readonly startedAt: number;
  /** Its last request, to the minute. */
  readonly usedAt: number;
}

/** The purpose of a sign-in, and how it should be done. */
export interface SignInWish {
  /** The page to come back to: path and query below BASE_URL, such as `/invitations/open/1f…`. */
  readonly returnTo: string;
  /** `login`: the person must prove again who they are; `select_account`: they may choose an account. */
  readonly prompt?: 'login' | 'select_account' | undefined;
  /** The maximum number of seconds since the person proved who they are. */
  readonly maxAge?: number | undefined;
  /** The address to fill in at the issuer. */
  readonly loginHint?: string | undefined;
  /** Language of the pages, as in their `lang`. */
  readonly lang?: string | undefined;
}

/** The longest path of our own, in characters: percent-encoded in a link it must fit into a header. */
const MAX_PATH = 1_500;
/** Visible ASCII that browsers send in paths and queries: not `" # < > \`. */
const PATH = /^\/(?!\/)[!$-;=?-[\]-~]*$/;

/**
 * Tells whether a text is a path of our own that a sign-in may return to: it starts with one slash and stays on the
 * same origin, however a browser reads it (RFC 9700, section 4.11). Pages that send a visitor away and back ask nothing
 * else.
 */
export function isOwnPath(text: string): boolean {
  if (text.length > MAX_PATH || !PATH.test(text)) return false;
  const path = text.split('?', 1)[0] ?? '';
  return !path.includes('//') && !path.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part));
}
