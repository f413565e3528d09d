/** Makes one attempt to send a delivery: a signed POST with a timeout. */
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import {
  askNameServers,
  type CustomerHosts,
  customerHosts,
  type Resolve,
} from '#src/shared/customer-hosts.ts';
import { NotPublic } from '#src/shared/public-address.ts';
import { parseRetryAfter } from './schedule.ts';
import { sign, signStandard } from './signature.ts';

/** `whsec_…`, unsealed. */
export interface Attempt {
  readonly url: string;
  /** `whsec_…` in clear. */
  readonly secret: string;
  readonly deliveryId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly payload: string;
  /** True if the delivery is sent again, from the log, at the subscriber's request. */
  readonly replay: boolean;
  /** True if only addresses on the public internet are allowed. */
  readonly guarded: boolean;
}

export interface Outcome {
  readonly delivered: boolean;
  readonly status: number | null;
  /** Null if the delivery succeeded. */
  readonly error: string | null;
  /** True if the connection or the answer took too long. */
  readonly timedOut: boolean;
  /** Seconds. */
  readonly retryAfter: number | undefined;
  /** How long the attempt took, in seconds. */
  readonly seconds: number;
}

/** Maximum number of bytes of an answer to keep. */
const KEPT = 4_096;
/** Maximum number of bytes of an answer to read; later bytes can't change the outcome. */
const READ = 65_536;
/** Maximum number of connections to one receiver that are kept open, and how long they are kept open, in ms. */
const FREE = 256;
const FREE_MS = 30_000;

/** Maximum number of parsed URLs to remember. */
const MOST_ROUTES = 1_000;

/** Sends deliveries on connections that are kept open. */
export class Sender {
  readonly #ways: Readonly<Record<'open' | 'guarded', Way>>;
  readonly #underWay = new Set<UnderWay>();
  readonly #routes = new Map<string, Route>();

  /**
   * @param timeoutMs maximum time from connecting to the last byte of the answer
   * @param resolve looks up names; default: `askNameServers()`
   */
  constructor(
    readonly timeoutMs: number,
    resolve: Resolve = askNameServers(),
  ) {
    this.#ways = { open: wayTo(customerHosts(false, resolve)), guarded: wayTo(customerHosts(true, resolve)) };
  }

  /**
   * Makes an attempt. Never rejects: errors are outcomes. An attempt ends without an outcome (undefined) only if `breakOff` is
   * called.
   */
  async send(attempt: Attempt): Promise<Outcome | undefined> {
    const started = performance.now();
    const underWay = new UnderWay();
    this.#underWay.add(underWay);
    const limit = setTimeout(() => underWay.end('late'), this.timeoutMs);
    const seconds = (): number => (performance.now() - started) / 1000;
    const none = { status: null, retryAfter: undefined };
    try {
      const { status, text, retryAfter } = await this.#post(attempt, underWay);
      const delivered = status >= 200 && status < 300;
      const error = delivered ? null : describe(status, text);
      return { delivered, status, error, timedOut: false, retryAfter, seconds: seconds() };
    } catch (error) {
      if (underWay.ended === 'broken off') return undefined;
      const timedOut = underWay.ended === 'late';
      const told = timedOut ? `no complete answer within ${this.timeoutMs / 1000} s` : describeFault(error);
      return { ...none, delivered: false, error: told, timedOut, seconds: seconds() };
    } finally {
      clearTimeout(limit);
      this.#underWay.delete(underWay);
    }
  }

  /** Aborts running attempts. */
  breakOff(): void {
    for (const each of this.#underWay) each.end('broken off');
  }

  /** Closes the connections. */
  close(): void {
    for (const way of Object.values(this.#ways)) {
      way.http.destroy();
      way.https.destroy();
    }
  }

  #routeTo(url: string): Route {
    const known = this.#routes.get(url);
    if (known !== undefined) return known;
    if (this.#routes.size >= MOST_ROUTES) this.#routes.clear();
    const route = planRoute(new URL(url));
    this.#routes.set(url, route);
    return route;
  }

  async #post(attempt: Attempt, underWay: UnderWay): Promise<Answer> {
    try {
      return await this.#once(attempt, underWay);
    } catch (error) {
      // The receiver closed a connection just as it was about to be reused. Nothing was sent, so another connection is used.
      if (error instanceof StaleConnection) return this.#once(attempt, underWay);
      throw error;
    }
  }

  #once(attempt: Attempt, underWay: UnderWay): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { secure, host, authority, options } = this.#routeTo(attempt.url);
      const way = this.#ways[attempt.guarded ? 'guarded' : 'open'];
      way.check(host);
      const request = (secure ? https : http).request({
        ...options,
        agent: secure ? way.https : way.http,
        headers: makeHeaders(attempt, authority),
      });
      underWay.take(request);
      request.on('error', (error: NodeJS.ErrnoException) => {
        const stale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        reject(stale && underWay.ended === undefined ? new StaleConnection() : error);
      });
      request.on('response', (response) => readAnswer(response, resolve, reject));
      request.on('upgrade', (_response, socket) => {
        socket.destroy();
        reject(new Error('answered 101, but deliveries use plain HTTP'));
      });
      request.end(attempt.payload);
    });
  }
}

/** Settings for attempts of one kind. */
interface Way extends Pick<CustomerHosts, 'check'> {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

function wayTo({ lookup, check }: CustomerHosts): Way {
  const options = { keepAlive: true, maxFreeSockets: FREE, timeout: FREE_MS, lookup };
  return { check, http: new http.Agent(options), https: new https.Agent(options) };
}

/** An attempt in progress. */
class UnderWay {
  #request: http.ClientRequest | undefined;
  /** Why this side ended the attempt. */
  ended: 'late' | 'broken off' | undefined;

  /** Sets the current request. */
  take(request: http.ClientRequest): void {
    this.#request = request;
    if (this.ended !== undefined) request.destroy(new Error(this.ended));
  }

  end(why: 'late' | 'broken off'): void {
    this.ended ??= why;
    this.#request?.destroy(new Error(why));
  }
}

/** The parts of a URL. */
interface Route {
  readonly secure: boolean;
  /** A name or an address; an IPv6 address has no brackets. */
  readonly host: string;
  /** Host and port in the form of the header `Host`. */
  readonly authority: string;
  readonly options: http.RequestOptions;
}

function planRoute({ protocol, hostname, host: authority, port, pathname, search }: URL): Route {
  const host = hostname.replace(/^\[|\]$/g, '');
  const options = { method: 'POST', host, path: `${pathname}${search}`, ...(port === '' ? {} : { port }) };
  return { secure: protocol === 'https:', host, authority, options };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: number | undefined;
}

class StaleConnection extends Error {
  override readonly name = 'StaleConnection';
}

/** Returns headers as a list of names and values, which Node sends unchanged. */
function makeHeaders(
  { secret, payload, eventType, eventId, deliveryId, replay }: Attempt,
  authority: string,
): string[] {
  const seconds = Math.floor(Date.now() / 1000);
  const standard = signStandard(secret, eventId, payload, seconds);
  return [
    ...['Host', authority, 'Content-Type', 'application/json'],
    ...['Content-Length', String(Buffer.byteLength(payload)), 'User-Agent', 'Service-Webhooks/1.0'],
    ...['Service-Event', eventType, 'Service-Event-Id', eventId, 'Service-Delivery', deliveryId],
    ...['Service-Signature', sign(secret, payload, seconds)],
    ...['webhook-id', eventId, 'webhook-timestamp', String(seconds)],
    ...(standard === undefined ? [] : ['webhook-signature', standard]),
    ...(replay ? ['Service-Replay', 'true'] : []),
  ];
}

/** Reads an answer to its end, or until the rest no longer matters. */
function readAnswer(
  response: IncomingMessage,
  resolve: (answer: Answer) => void,
  reject: (error: Error) => void,
): void {
  const kept: Buffer[] = [];
  let read = 0;
  const done = (): void =>
    resolve({
      status: response.statusCode ?? 0,
      text: Buffer.concat(kept).toString('utf8'),
      retryAfter: parseRetryAfter(response.headers['retry-after'], Date.now()),
    });
  response.on('data', (chunk: Buffer) => {
    if (read < KEPT) kept.push(chunk.subarray(0, KEPT - read));
    read += chunk.length;
    if (read <= READ) return;
    done();
    response.destroy(); // which closes the connection
  });
  response.on('end', done);
  response.on('error', reject);
}

/** Describes an answer; NUL is replaced, because it can't be stored in a text. */
function describe(status: number, text: string): string {
  const redirect = status >= 300 && status < 400 ? ' (redirects are not followed)' : '';
  const said = text.replaceAll('\0', '').trim();
  return `answered ${status}${redirect}${said === '' ? '' : `: ${said}`}`;
}

function describeFault(error: unknown): string {
  if (error instanceof NotPublic) return error.message;
  if (!(error instanceof Error)) return 'the request failed';
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ECONNRESET') return 'the connection was closed before the answer was complete (ECONNRESET)';
  if (code?.startsWith('HPE_')) return `the answer is not HTTP (${code})`;
  return code === undefined ? error.message : `the receiver could not be reached (${code})`;
}
