/**
 * Calls the service's interfaces by the gateway `/app/api` (docs/gateway.md). The browser's session is the only credential: no
 * key and no token reaches a script.
 */
import { PLACE } from './place.ts';
import { reasonHeaders } from './reason.ts';

/** An environment of a project. */
export type Environment = 'sandbox' | 'production';

/** The project whose records a call to `/v1` or `/fhir/R4` is about. */
export interface Of {
  readonly project: string;
  readonly environment: Environment;
}

/** A call. */
export interface Call {
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly of?: Of | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** An answer that isn't a success, in words for people. */
export class Failure extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** Members that are invalid, with the reason. */
    readonly fields: readonly { readonly field: string; readonly message: string }[],
    /** `Service-Request-Id`; empty if no answer came. */
    readonly requestId: string,
  ) {
    super(message);
  }
}

/** An answer as it came, for screens that show it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly ms: number;
}

/**
 * Sends a request and returns the answer, whatever its status.
 * @param path of the interface, such as `/admin/projects`
 * @throws Failure with status 0 if no answer comes
 */
export async function send(path: string, call: Call = {}): Promise<Answer> {
  const { method = 'GET', body, of, signal } = call;
  const headers: Record<string, string> = { 'X-Service-Session': '1', Accept: 'application/json' };
  if (of !== undefined) {
    headers['X-Service-Project'] = of.project;
    headers['X-Service-Environment'] = of.environment;
    if (of.environment === 'production') Object.assign(headers, reasonHeaders(of.project));
  }
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  Object.assign(headers, call.headers);
  const began = performance.now();
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(`${PLACE.base}/app/api${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    text = await answer.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Failure(0, '', [], '');
  }
  const maxAge = /max_age="(\d+)"/.exec(answer.headers.get('WWW-Authenticate') ?? '')?.[1];
  // What a person has written isn't lost: the answer says that they must sign in again.
  if (answer.status === 401 && (maxAge === undefined || method === 'GET')) signIn(maxAge);
  return { status: answer.status, headers: answer.headers, text, ms: performance.now() - began };
}

/**
 * Calls a route and returns its answer.
 * @throws Failure for an answer that isn't a success
 */
export async function call<T>(path: string, options: Call = {}): Promise<T> {
  const answer = await send(path, options);
  if (answer.status < 200 || answer.status > 299) throw readFailure(answer);
  return (answer.text === '' ? undefined : JSON.parse(answer.text)) as T;
}

/** A page of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly total: number;
  readonly next_cursor: string | null;
}

/** Leads to the sign-in, and back to this screen. @param maxAge a sign-in that is older, in seconds, doesn't do */
export function signIn(maxAge?: string): void {
  const here = location.pathname.slice(PLACE.base.length) + location.search;
  location.assign(withQuery(`${PLACE.base}/signin`, { return_to: here, max_age: maxAge }));
}

/** Returns the path with the query's members that are neither undefined nor empty. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** Errors of the JSON interfaces (`error`), and of FHIR (OperationOutcome). */
interface ErrorBody {
  readonly error?: {
    readonly message?: string;
    readonly errors?: readonly { readonly field: string; readonly message: string }[];
  };
  readonly issue?: readonly {
    readonly diagnostics?: string;
    readonly details?: { readonly text?: string };
    readonly expression?: readonly string[];
  }[];
}

function readFailure({ status, headers, text }: Answer): Failure {
  let body: ErrorBody = {};
  try {
    body = JSON.parse(text) as ErrorBody;
  } catch {
    // A proxy may have answered with something else.
  }
  const [issue] = body.issue ?? [];
  const message = body.error?.message ?? issue?.diagnostics ?? issue?.details?.text ?? '';
  return new Failure(status, message, body.error?.errors ?? [], headers.get('Service-Request-Id') ?? '');
}
