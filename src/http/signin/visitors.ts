/** Finds the visitor of a page: the session that belongs to its cookie, and the way to sign in and return. */
import type { Context } from 'koa';
import { isOwnPath, type Session, type SignInWish } from '#src/shared/access/session.ts';
import { readForm } from '../form-body.ts';
import type { SignIn } from '../ports/signin.ts';
import { Cookie } from './cookie.ts';
import { requireFormToken, requireOwnOrigin } from './form-origin.ts';
import { redirectTo } from './redirect.ts';

/** Finds the pages' visitors. There is one instance per server. */
export class Visitors {
  readonly #cookie: Cookie;

  /** @param baseUrl the service's URL, without a trailing slash */
  constructor(
    readonly signIn: Pick<SignIn, 'session' | 'end'>,
    readonly baseUrl: string,
  ) {
    this.#cookie = new Cookie('annal_session', baseUrl);
  }

  /**
   * Returns the visitor's session. Undefined if they aren't signed in, or are signed in only at an issuer that only an
   * organization trusts, which gives no access to patients' pages. The database is queried once per request.
   */
  async findSession(ctx: Context): Promise<Session | undefined> {
    const session = await this.findAnySession(ctx);
    return session?.person.organizations === undefined ? session : undefined;
  }

  /** Returns the visitor's session, even if only an organization trusts its issuer; undefined if they aren't signed in. */
  async findAnySession(ctx: Context): Promise<Session | undefined> {
    const secret = this.#cookie.read(ctx);
    if (secret === undefined) return undefined;
    const asked = found.get(ctx) ?? this.signIn.session(secret);
    found.set(ctx, asked);
    return asked;
  }

  /**
   * Redirects to the sign-in, which returns to `returnTo` with a new session. The sign-in starts at BASE_URL, whichever host
   * name the browser used, because cookies belong to a host name.
   * @throws TypeError if `returnTo` is not one of our own paths
   */
  beginSignIn(ctx: Context, wish: SignInWish): void {
    redirectTo(ctx, `${this.baseUrl}${signInPath(wish)}`);
  }

  /**
   * Returns the form sent by a page in this session.
   * @throws Refusal forbidden (403) if the form comes from elsewhere; also whatever `readForm` throws
   */
  async form(ctx: Context, session: Session): Promise<URLSearchParams> {
    requireOwnOrigin(ctx, this.baseUrl);
    const form = await readForm(ctx);
    requireFormToken(form, session);
    return form;
  }

  /**
   * Queries the database again for whether the visitor's session is live, because it may have ended since the request began.
   */
  async isSignedIn(ctx: Context): Promise<boolean> {
    const secret = this.#cookie.read(ctx);
    return secret !== undefined && (await this.signIn.session(secret)) !== undefined;
  }

  /** Returns the secret in the browser's session cookie, whether or not it is valid. */
  readSecret(ctx: Context): string | undefined {
    return this.#cookie.read(ctx);
  }

  /** Stores a new session's secret in the browser. */
  admit(ctx: Context, secret: string): void {
    this.#cookie.set(ctx, secret);
  }

  /** Ends the visitor's session, on every instance and in the browser. */
  async dismiss(ctx: Context): Promise<void> {
    const secret = this.#cookie.read(ctx);
    if (secret !== undefined) await this.signIn.end(secret);
    this.#cookie.clear(ctx);
  }
}

const found = new WeakMap<Context, Promise<Session | undefined>>();

/**
 * Returns the path and query of the sign-in page for a sign-in request.
 * @param issuer the issuer's key; undefined: the person chooses
 * @throws TypeError if `returnTo` is not one of our own paths
 */
export function signInPath(wish: SignInWish, issuer?: string): string {
  if (!isOwnPath(wish.returnTo)) throw new TypeError('returnTo must be a path of our own');
  const parameters = {
    return_to: wish.returnTo,
    issuer,
    prompt: wish.prompt,
    max_age: wish.maxAge?.toString(),
    login_hint: wish.loginHint,
    lang: wish.lang,
  };
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return `/signin?${new URLSearchParams(given)}`;
}
