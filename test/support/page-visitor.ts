/** A browser without scripts, over HTTP: keeps cookies, follows redirects on this machine, and submits forms on pages. */

/** A page that was shown. */
export interface Shown {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The requested URLs, in order. */
  readonly path: readonly string[];
}

interface Kept {
  readonly value: string;
  readonly line: string;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** A visitor to one service and to the issuers that the service redirects people to. */
export class PageVisitor {
  /** Cookies by origin and name. Unlike in a browser, two services on one machine don't share cookies. */
  readonly #cookies = new Map<string, Map<string, Kept>>();
  #page: Shown | undefined;

  /**
   * Creates a visitor.
   * @param home the base for paths
   * @param reach returns where a URL is actually served, as a proxy knows it; by default, the URL itself
   */
  constructor(
    readonly home: string,
    readonly reach: (url: string) => string = (url) => url,
  ) {}

  /** Opens a path or URL. */
  open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Shown> {
    return this.#follow(new URL(url, this.home).href, undefined, headers);
  }

  /** Opens a path or URL without following redirects. */
  async step(url: string): Promise<Shown> {
    return this.#ask(new URL(url, this.home).href, undefined, {}, []);
  }

  /**
   * Submits the page's first form, with its hidden fields.
   * @param fields additional fields; pairs may repeat a name
   * @param headers replace the headers that a browser would send from the page
   */
  submit(
    fields: Readonly<Record<string, string>> | readonly (readonly [string, string])[] = {},
    headers: Readonly<Record<string, string>> = { 'Sec-Fetch-Site': 'same-origin' },
  ): Promise<Shown> {
    const { url, text } = this.page;
    const form = /<form[^>]* action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/.exec(text);
    if (form === null) throw new Error(`no form: ${text.slice(0, 300)}`);
    const [, action = '', inner = ''] = form;
    const hidden = [...inner.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const given = Array.isArray(fields) ? fields : Object.entries(fields);
    const names = new Set(given.map(([name]) => name));
    const kept = hidden.map(([, name = '', value = '']): [string, string] => [name, plain(value)]);
    const all = new URLSearchParams([...kept.filter(([name]) => !names.has(name)), ...given]);
    return this.#follow(new URL(plain(action), url).href, all, headers);
  }

  /** The current page. */
  get page(): Shown {
    if (this.#page === undefined) throw new Error('no page was opened');
    return this.#page;
  }

  /** Returns an origin's cookie as the server set it, with its attributes; undefined if there is no such cookie. */
  cookieLine(name: string, origin = this.home): string | undefined {
    return this.#of(origin).get(name)?.line;
  }

  /** Returns a cookie's value. */
  cookie(name: string, origin = this.home): string | undefined {
    return this.#of(origin).get(name)?.value;
  }

  /** Puts a cookie into the browser. */
  plant(name: string, value: string, origin = this.home): void {
    this.#of(origin).set(name, { value, line: '' });
  }

  #of(url: string): Map<string, Kept> {
    const { origin } = new URL(url);
    const known = this.#cookies.get(origin) ?? new Map<string, Kept>();
    this.#cookies.set(origin, known);
    return known;
  }

  async #follow(
    start: string,
    form: URLSearchParams | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<Shown> {
    let path: string[] = [start];
    let page = await this.#ask(start, form, headers, path);
    for (let hop = 0; hop < 15; hop += 1) {
      const location = page.headers.get('location');
      if (location === null) return page;
      const next = new URL(location, page.url).href;
      path = [...path, next];
      // The tests' application URLs are made up, so redirects to them aren't followed.
      if (!/^https?:\/\/(?:127\.0\.0\.1|localhost)[:/]/.test(next)) return { ...page, path };
      page = await this.#ask(next, undefined, {}, path);
    }
    throw new Error(`too many redirects: ${path.join(' → ')}`);
  }

  async #ask(
    url: string,
    form: URLSearchParams | undefined,
    headers: Readonly<Record<string, string>>,
    path: readonly string[],
  ): Promise<Shown> {
    const cookies = this.#of(url);
    const response = await fetch(this.reach(url), {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { Cookie: [...cookies].map(([name, { value }]) => `${name}=${value}`).join('; '), ...headers },
      ...(form === undefined ? {} : { body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/; Max-Age=0/.test(line)) cookies.delete(name);
      else cookies.set(name, { value, line });
    }
    const { status } = response;
    this.#page = { url, status, headers: response.headers, text: await response.text(), path };
    return this.#page;
  }
}

function plain(text: string): string {
  return text.replace(/&(\w+|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
