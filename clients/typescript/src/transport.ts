/** Sends requests with credentials and timeouts, and retries them if that is safe. */
import { AnnalError, ApiError, ConnectionError, readRetryAfter, TimeoutError } from './errors.ts';

/**
 * A credential that the service accepts: an API key, a token, or a function that returns one of them. The function receives
 * the token that the service refused with 401, if any, and may return a newer token.
 */
export type Credential = string | ((refused?: string) => string | Promise<string>);

/** Settings of a client. */
export interface Settings {
  /** The URL of the service, such as `https://records.example.org`. */
  readonly baseUrl: string;
  /** Without a credential, only public routes work, and, with the browser's session, the routes of the gateway `/app/api`. */
  readonly credential?: Credential | undefined;
  /** Milliseconds until an attempt is abandoned. Default: 60,000. */
  readonly timeoutMs?: number | undefined;
  /** How many times a request is repeated, if that is safe. Default: 3. */
  readonly retries?: number | undefined;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default: `JSON.parse`. You can use a parser that keeps the digits of decimals instead. */
  readonly parse?: ((text: string) => unknown) | undefined;
  /** Default: `globalThis.fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Options for a single request. */
export interface RequestOptions {
  /** Aborts the request, its retries and its pauses. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
  /** Shows the data as it was at this time: `as_of` in REST v1, `_asOf` in FHIR. */
  readonly asOf?: Date | string | undefined;
  /** Default for a POST: a random key, so that the request can be repeated. */
  readonly idempotencyKey?: string | undefined;
  /** Writes only if this version, such as `W/"3"` or `3`, is the current one. */
  readonly ifMatch?: string | undefined;
  readonly authorType?: 'patient' | 'practitioner' | 'device' | 'import' | 'ai' | undefined;
  /** The model that wrote the data, for the author type `ai`. */
  readonly authorModel?: string | undefined;
  /** `Practitioner/<id>` from the directory. */
  readonly authorRef?: string | undefined;
  readonly actingAs?: string | undefined;
  readonly onBehalfOf?: string | undefined;
  readonly sourceSystem?: string | undefined;
  readonly originId?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A request below the base URL. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  /** Objects are sent as JSON; strings, bytes and Blobs are sent unchanged. */
  readonly body?: unknown;
  /** Media type of the body. */
  readonly type?: string | undefined;
  /** True to keep the response body as a Blob. */
  readonly binary?: boolean | undefined;
  /** Sends each attempt. Default: `fetch` from the settings. */
  readonly send?: typeof fetch | undefined;
}

/** A successful response. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as received: each number has all its digits. */
  readonly text: string;
  /** The bytes, if the request asked for them. */
  readonly blob: Blob | undefined;
}

const LONGEST_WAIT = 60_000;
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 8_000;

const HEADERS = {
  authorType: 'X-Service-Author-Type',
  authorModel: 'X-Service-Author-Model',
  authorRef: 'X-Service-Author-Ref',
  actingAs: 'X-Service-Acting-As',
  onBehalfOf: 'X-Service-On-Behalf-Of',
  sourceSystem: 'X-Service-Source-System',
  originId: 'X-Service-Origin-Id',
} as const;

/** Sends requests with the settings of a client. */
export class Transport {
  readonly baseUrl: string;
  readonly settings: Settings;

  constructor(settings: Settings) {
    this.settings = settings;
    this.baseUrl = settings.baseUrl.replace(/\/+$/, '');
  }

  /**
   * Returns the value of JSON text, as the client's parser reads it.
   * @throws AnnalError if the text isn't JSON, for example a proxy's page
   */
  parse<T>(text: string): T {
    try {
      return (text === '' ? undefined : (this.settings.parse ?? JSON.parse)(text)) as T;
    } catch (error) {
      throw new AnnalError('the response is not JSON', { cause: error });
    }
  }

  /**
   * Sends a request and returns the response.
   * @throws ApiError for a response other than a success
   * @throws ConnectionError if no response arrives, TimeoutError if none arrives in time
   */
  async send(request: Request, options: RequestOptions = {}): Promise<Answer> {
    const { method } = request;
    const headers = this.headersFor(request, options);
    // A stream can be read only once.
    const canResend = !(request.body instanceof ReadableStream);
    const left = canResend ? (options.retries ?? this.settings.retries ?? 3) : 0;
    const repeatable =
      method === 'GET' || method === 'HEAD' || (method === 'POST' && headers.has('Idempotency-Key'));
    let newer: string | undefined;
    for (let attempt = 0; ; ) {
      options.signal?.throwIfAborted();
      const token = newer ?? (await this.token());
      options.signal?.throwIfAborted();
      if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
      let pause: number | undefined;
      try {
        return await this.attempt(request, headers, options);
      } catch (error) {
        if (options.signal?.aborted) throw options.signal.reason;
        if (error instanceof ApiError && error.status === 401 && newer === undefined && canResend) {
          newer = token === undefined ? undefined : await this.token(token);
          if (newer !== token) continue;
        }
        if (attempt < left) pause = findPause(error, repeatable, attempt);
        if (pause === undefined) throw error;
      }
      attempt += 1;
      await sleep(pause, options.signal);
    }
  }

  /** Returns the URL for a path and its query. */
  url(path: string, query: Readonly<Record<string, unknown>> = {}): string {
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      for (const each of Array.isArray(value) ? value : [value])
        if (each !== undefined && each !== null)
          given.append(name, each instanceof Date ? each.toISOString() : String(each));
    const separator = path.includes('?') ? '&' : '?';
    return this.baseUrl + path + (given.size === 0 ? '' : `${separator}${given}`);
  }

  /** Returns a request's headers, without the credential. */
  headersFor({ method, path, body, type, binary }: Request, options: RequestOptions): Headers {
    const headers = new Headers(this.settings.headers);
    if (binary !== true) headers.set('Accept', 'application/fhir+json, application/json;q=0.9, */*;q=0.1');
    const media = type ?? (body === undefined || isRaw(body) ? undefined : 'application/json');
    if (media !== undefined) headers.set('Content-Type', media);
    if (method === 'POST' && !path.startsWith('/oauth/'))
      headers.set('Idempotency-Key', options.idempotencyKey ?? crypto.randomUUID());
    const { ifMatch } = options;
    if (ifMatch !== undefined) headers.set('If-Match', /^\d+$/.test(ifMatch) ? `W/"${ifMatch}"` : ifMatch);
    for (const [option, name] of Object.entries(HEADERS) as [keyof typeof HEADERS, string][])
      if (options[option] !== undefined) headers.set(name, options[option]);
    for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
    return headers;
  }

  /** Returns the credential's current token; undefined without a credential. */
  async token(refused?: string): Promise<string | undefined> {
    const { credential } = this.settings;
    return typeof credential === 'function' ? credential(refused) : credential;
  }

  private async attempt(request: Request, headers: Headers, options: RequestOptions): Promise<Answer> {
    const { method, path, query, body, binary } = request;
    const timeout = AbortSignal.timeout(options.timeoutMs ?? this.settings.timeoutMs ?? 60_000);
    const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
    const init: RequestInit & { duplex?: 'half' } = { method, headers, signal };
    if (body !== undefined) init.body = isRaw(body) ? body : JSON.stringify(body);
    if (body instanceof ReadableStream) init.duplex = 'half';
    const send = request.send ?? this.settings.fetch ?? globalThis.fetch;
    try {
      const response = await send(this.url(path, query), init);
      if (!response.ok) throw new ApiError(response.status, response.headers, await response.text());
      const blob = binary === true ? await response.blob() : undefined;
      const text = blob === undefined ? await response.text() : '';
      return { status: response.status, headers: response.headers, text, blob };
    } catch (error) {
      if (error instanceof ApiError || options.signal?.aborted) throw error;
      if (timeout.aborted) throw new TimeoutError('the service did not answer in time', { cause: error });
      throw new ConnectionError('the service cannot be reached', { cause: error });
    }
  }
}

/** Returns how many milliseconds to wait before repeating the request; undefined if it must not be repeated. */
function findPause(error: unknown, repeatable: boolean, attempt: number): number | undefined {
  const jittered = Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** attempt);
  if (error instanceof ConnectionError) return repeatable ? jittered : undefined;
  if (!(error instanceof ApiError)) return undefined;
  // After a 429, nothing was done; a 503 may arrive although a write was stored.
  if (error.status !== 429 && !(error.status === 503 && repeatable)) return undefined;
  const asked = readRetryAfter(error.headers);
  if (asked === undefined || asked * 1000 > LONGEST_WAIT) return undefined;
  return asked * 1000 + jittered;
}

/**
 * Encodes a part of a path.
 * @throws TypeError if the text is empty, `.` or `..`: URLs drop such a part, also an encoded one, so the request would go to
 * another route (https://url.spec.whatwg.org/#path-state)
 */
export function encodeSegment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`“${text}” can’t be a part of a path`);
  return encodeURIComponent(text);
}

function isRaw(body: unknown): body is BodyInit {
  return (
    typeof body === 'string' ||
    body instanceof Blob ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body) ||
    body instanceof URLSearchParams ||
    body instanceof ReadableStream
  );
}

/** Waits; an abort ends the wait with the signal's reason. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
