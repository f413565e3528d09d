/**
 * Sets and reads the pages' cookies. They are limited to this host and path, and neither scripts nor forms on other sites can
 * use them (RFC 6265bis).
 */
import type { Context } from 'koa';

/** Matches 256-bit secrets in base64url. */
const SECRET = /^[\w-]{43}$/;

/** A cookie with the attributes that BASE_URL allows. */
export class Cookie {
  readonly name: string;
  readonly #attributes: string;

  /**
   * @param name without a prefix. On https, the cookie gets the prefix `__Host-` or, with a path, `__Secure-`, because
   * `__Host-` requires the path `/`
   * @param baseUrl the service's URL
   * @param below the path below BASE_URL that the cookie is for. Default: all paths
   */
  constructor(name: string, baseUrl: string, below = '') {
    const { protocol, pathname } = new URL(baseUrl);
    const path = `${pathname.replace(/\/+$/, '')}${below}` || '/';
    const secure = protocol === 'https:';
    this.name = `${secure ? (path === '/' ? '__Host-' : '__Secure-') : ''}${name}`;
    this.#attributes = `Path=${path}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /** Returns the value that the browser sent; undefined if there is none. */
  read(ctx: Context): string | undefined {
    return ctx.cookies.get(this.name);
  }

  /**
   * Returns the secret that the browser keeps; undefined if there is none, or if it doesn't have the form of our secrets. A
   * value of any other form could be guessable, and no later step would accept it.
   */
  secret(ctx: Context): string | undefined {
    const value = this.read(ctx);
    return value !== undefined && SECRET.test(value) ? value : undefined;
  }

  /**
   * Sets the value, which must be base64url or hexadecimal.
   * @param seconds how long the browser keeps the cookie; undefined: until the browser is closed
   */
  set(ctx: Pick<Context, 'append'>, value: string, seconds?: number): void {
    const age = seconds === undefined ? '' : `; Max-Age=${seconds}`;
    ctx.append('Set-Cookie', `${this.name}=${value}; ${this.#attributes}${age}`);
  }

  /** Removes the cookie from the browser. */
  clear(ctx: Pick<Context, 'append'>): void {
    this.set(ctx, '', 0);
  }
}
