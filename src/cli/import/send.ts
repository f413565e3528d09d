/**
 * Sends transactions; waits while the service restarts, a rate limit applies, or an earlier request is still running. Every
 * request has an Idempotency-Key derived from its content, so that resending never writes twice.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isObject, type Json, type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { Failure } from '../failure.ts';

/** The service's address and credentials, and the options for sending. */
export interface SendOptions {
  /** The service's base URL, without `/fhir/R4`. */
  readonly url: string;
  readonly key: string;
  /** `X-Service-…` headers for every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Part of every Idempotency-Key. */
  readonly salt: string;
  /** How long the service may fail to respond before the import stops, in ms. */
  readonly patience?: number;
  /** The first and the longest wait between attempts, in ms. */
  readonly backoff?: readonly [number, number];
  /** Called whenever a request has to be resent, with the waiting time in ms. */
  readonly onRetry?: (why: 'throttled' | 'unavailable', wait: number) => void;
  readonly signal?: AbortSignal;
}

/** Thrown when the service refuses a request permanently. */
export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(
    readonly status: number,
    readonly issues: readonly RefusedIssue[],
  ) {
    super(issues[0]?.diagnostics ?? `HTTP ${status}`);
  }
}

/** Thrown when the service refuses the key, so that the import can't continue. */
export class KeyRefused extends Failure {}

/** An issue in an OperationOutcome. */
export interface RefusedIssue {
  readonly diagnostics: string;
  /** The entry in the bundle that the issue is about. */
  readonly entry?: number;
  /** The element within that entry's resource, as the server wrote it. */
  readonly expression?: string;
}

/** Sends requests to one service with one credential; all workers share the credential's rate limit. */
export class Sender {
  #closedUntil = 0;

  constructor(private readonly options: SendOptions) {}

  /** Returns the Idempotency-Key for a body. The key is always the same for the same content, service and headers. */
  makeKey(body: string, headers: Readonly<Record<string, string>> = {}): string {
    const { url, salt } = this.options;
    const names = Object.entries({ ...this.options.headers, ...headers }).sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    const hash = createHash('sha256')
      .update(JSON.stringify([url, salt, names]))
      .update(body);
    return `annal-import-${hash.digest('hex')}`;
  }

  /**
   * Posts a Bundle.
   * @returns the response's Bundle.
   * @throws Refused for a permanent 4xx or a 500; Failure if the credential is refused or the service remains unavailable.
   */
  async post(
    body: string,
    idempotencyKey: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<JsonObject> {
    const answer = await this.#request('POST', '/fhir/R4', body, {
      ...this.options.headers,
      ...headers,
      'Content-Type': 'application/fhir+json',
      'Idempotency-Key': idempotencyKey,
    });
    if (answer === undefined) throw new Refused(404, []);
    return answer;
  }

  /** Reads a resource; undefined if it doesn't exist. */
  get(path: string): Promise<JsonObject | undefined> {
    return this.#request('GET', `/fhir/R4/${path}`, undefined, {});
  }

  async #request(
    method: string,
    path: string,
    body: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<JsonObject | undefined> {
    const { url, key, patience = 120_000, backoff = [250, 15_000], signal, onRetry } = this.options;
    let wait = backoff[0];
    let silentSince: number | undefined;
    for (;;) {
      await this.#gate();
      signal?.throwIfAborted();
      let why: string;
      let asked: number | undefined;
      let throttled = false;
      try {
        const response = await fetch(`${url}${path}`, {
          method,
          headers: { ...headers, Accept: 'application/fhir+json', Authorization: `Bearer ${key}` },
          ...(body === undefined ? {} : { body }),
          signal: AbortSignal.timeout(300_000),
        });
        const text = await response.text();
        const { status } = response;
        if (response.ok) return read(text);
        if (method === 'GET' && (status === 404 || status === 410)) return undefined;
        if (status === 401 || status === 403) {
          const why = parseIssues(text)[0]?.diagnostics ?? `HTTP ${status}`;
          throw new KeyRefused(`${url} rejected the key: ${why}`);
        }
        asked = seconds(response.headers.get('retry-after'));
        throttled = status === 429;
        // 409 with Retry-After: the service is still running this request, because the response to an earlier attempt was
        // lost.
        if (!throttled && !UNAVAILABLE.has(status) && !(status === 409 && asked !== undefined)) {
          throw new Refused(status, parseIssues(text));
        }
        why = parseIssues(text)[0]?.diagnostics ?? `HTTP ${status}`;
      } catch (error) {
        if (error instanceof Failure || error instanceof Refused || isOurFault(error)) throw error;
        why = findReason(error);
      }
      if (throttled) silentSince = undefined;
      else silentSince ??= Date.now();
      if (silentSince !== undefined && Date.now() - silentSince > patience) {
        throw new Failure(`${url} did not answer for ${Math.round(patience / 1000)} s: ${why}`);
      }
      const pause = asked === undefined ? wait * (0.75 + Math.random() / 2) : asked * 1000;
      wait = Math.min(wait * 2, backoff[1]);
      onRetry?.(throttled ? 'throttled' : 'unavailable', pause);
      if (throttled) this.#closedUntil = Math.max(this.#closedUntil, Date.now() + pause);
      else await delay(pause, undefined, signal === undefined ? {} : { signal });
    }
  }

  /** Waits until the rate limit that a worker has hit is over. */
  async #gate(): Promise<void> {
    const { signal } = this.options;
    for (let left = this.#closedUntil - Date.now(); left > 0; left = this.#closedUntil - Date.now()) {
      await delay(left, undefined, signal === undefined ? {} : { signal });
    }
  }
}

const UNAVAILABLE: ReadonlySet<number> = new Set([502, 503, 504]);

/** Parses `Retry-After`, in whole seconds or as a date (RFC 9110, section 10.2.3). */
function seconds(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const until = Date.parse(header);
  return Number.isNaN(until) ? undefined : Math.max(0, (until - Date.now()) / 1000);
}

function read(text: string): JsonObject {
  const { value } = parseJson(text);
  if (!isObject(value)) throw new Failure("the service's answer is not a FHIR resource");
  return value;
}

/**
 * Returns true if a `fetch` error is caused by the request itself, such as a header with control characters. A network error
 * has a cause or is a timeout.
 */
function isOurFault(error: unknown): boolean {
  return error instanceof TypeError && error.cause === undefined;
}

/** Returns why `fetch` failed, because its own message says only "fetch failed". */
function findReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return cause.message === '' ? cause.name : cause.message;
  return error.message;
}

/** The prefix of a message about an entry; the report replaces it with the entry's place in the sources. */
const OWN_ENTRY = /^Bundle\.entry\[\d+\](?:\.[\w.[\]]+)?: /;

function parseIssues(text: string): RefusedIssue[] {
  let value: Json;
  try {
    ({ value } = parseJson(text));
  } catch {
    return [];
  }
  if (!isObject(value) || !Array.isArray(value.issue)) return [];
  return value.issue.filter(isObject).map((issue) => {
    const expression = Array.isArray(issue.expression) ? issue.expression[0] : undefined;
    const details = isObject(issue.details) ? issue.details.text : undefined;
    const diagnostics = [issue.diagnostics, details, issue.code].find((said) => typeof said === 'string');
    const entry = typeof expression === 'string' ? /^Bundle\.entry\[(\d+)\]\.?(.*)$/.exec(expression) : null;
    const own = (text: string): string => (entry === null ? text : text.replace(OWN_ENTRY, ''));
    return {
      diagnostics: own(diagnostics ?? 'refused without a reason'),
      ...(entry === null ? {} : { entry: Number(entry[1]), expression: entry[2] ?? '' }),
    };
  });
}
