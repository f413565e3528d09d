/** Finds the visitor of a page: their session, by its cookie, and the way to sign in and back. */
import type { Context } from 'koa';
import { isOwnPath, type Session, type SignInWish } from '#src/shared/access/session.ts';
import { readForm } from '../form-body.ts';
import type { SignIn } from '../ports/signin.ts';
import { Cookie } from './cookie.ts';
import { requireFormToken, requireOwnOrigin } from './form-origin.ts';
import { redirectTo } from './redirect.ts';

/** The visitors of the pages. One of them per server. */
export class Visitors {
  readonly #cookie: Cookie;

  /** @param baseUrl of the service, without a trailing slash */
  constructor(
    readonly signIn: Pick<SignIn, 'session' | 'end'>,
    readonly baseUrl: string,
  ) {
    this.#cookie = new Cookie('annal_session', baseUrl);
  }

  /**
   * Returns the visitor's session; undefined if they are not signed in, or only at an issuer that only an organization
   * trusts: that opens no page of patients. The database is asked once per request.
   */
  async findSession(ctx: Context): Promise<Session | undefined> {
    const session = await this.findAnySession(ctx);
    return session?.person.organizations === undefined ? session : undefined;
  }

  /** Returns the visitor's session, also one that only an organization trusts; undefined if they are not signed in. */
  async findAnySession(ctx: Context): Promise<Session | undefined> {
    const secret = this.#cookie.read(ctx);
    if (secret === undefined) return undefined;
    const asked = found.get(ctx) ?? this.signIn.session(secret);
    found.set(ctx, asked);
    return asked;
  }

  /**
   * Redirects to the sign-in, which comes back to `returnTo` with a new session. It starts at BASE_URL, under whatever
   * name the browser came, because cookies belong to a name.
   * @throws TypeError if `returnTo` is not a path of our own
   */
  beginSignIn(ctx: Context, wish: SignInWish): void {
    redirectTo(ctx, `${this.baseUrl}${signInPath(wish)}`);
  }

  /**
   * Returns the form that a page of this session sent.
   * @throws Refusal forbidden (403) if it comes from elsewhere; as `readForm` does
   */
  async form(ctx: Context, session: Session): Promise<URLSearchParams> {
    requireOwnOrigin(ctx, this.baseUrl);
    const form = await readForm(ctx);
    requireFormToken(form, session);
    return form;
  }

  /** Asks the database again whether the visitor's session is live: it may have ended since the request began. */
  async isSignedIn(ctx: Context): Promise<boolean> {
    const secret = this.#cookie.read(ctx);
    return secret !== undefined && (await this.signIn.session(secret)) !== undefined;
  }

  /** Returns the secret in the browser's session cookie, whether or not it works. */
  readSecret(ctx: Context): string | undefined {
    return this.#cookie.read(ctx);
  }

  /** Puts the secret of a new session into the browser. */
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
 * Returns path and query of the sign-in page for a wish.
 * @param issuer key of the issuer; undefined: the person chooses
 * @throws TypeError if `returnTo` is not a path of our own
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
