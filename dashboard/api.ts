/**
 * Calls the service by its TypeScript client, through the gateway `/app/api` (docs/gateway.md). The browser's session is the
 * only credential: no key and no token reaches a script.
 */
import { Annal, ApiError } from '../clients/typescript/src/index.ts';
import { PLACE } from './place.ts';
import { reasonHeaders } from './reason.ts';

export {
  AnnalError,
  type AnswerOf,
  type Api,
  ApiError,
  type Input,
} from '../clients/typescript/src/index.ts';

/** An environment of a project. */
export type Environment = 'sandbox' | 'production';

/** The project whose records a call to `/v1` or `/fhir/R4` is about. */
export interface Of {
  readonly project: string;
  readonly environment: Environment;
}

/** Why a call failed, for people. */
export interface Failure {
  /** 0 if no answer came. */
  readonly status: number;
  readonly message: string;
  /** Members that are invalid, with the reason. */
  readonly fields: readonly { readonly field: string; readonly message: string }[];
  /** `Service-Request-Id`; empty if no answer came. */
  readonly requestId: string;
}

/** An answer as it came, for screens that show it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly ms: number;
}

/** The routes that aren't about a project's records. */
export const annal = openClient({});

/** Returns the client for the records of a project's environment. */
export function openRecords({ project, environment }: Of): Annal {
  return openClient({ 'X-Service-Project': project, 'X-Service-Environment': environment });
}

function openClient(headers: Readonly<Record<string, string>>): Annal {
  return new Annal({
    baseUrl: `${PLACE.base}/app/api`,
    headers: { 'X-Service-Session': '1', ...headers },
    fetch: fetchInSession,
    retries: 1,
  });
}

const fetchInSession: typeof fetch = async (url, init = {}) => {
  const headers = new Headers(init.headers);
  const project = headers.get('X-Service-Project');
  if (project !== null && headers.get('X-Service-Environment') === 'production')
    for (const [name, value] of Object.entries(reasonHeaders(project)))
      if (!headers.has(name)) headers.set(name, value);
  const answer = await fetch(url, { ...init, headers });
  const maxAge = /max_age="(\d+)"/.exec(answer.headers.get('WWW-Authenticate') ?? '')?.[1];
  // What a person has written isn't lost: the answer says that they must sign in again.
  if (answer.status === 401 && (maxAge === undefined || init.method === 'GET')) signIn(maxAge);
  return answer;
};

/** Sends any request to a project's records and returns the answer, whatever its status. @throws if none comes */
export async function send(
  of: Of,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body?: string },
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const began = performance.now();
  const answer = await openRecords(of)
    .send(method, path, body, { headers, retries: 0 })
    .catch((error: unknown) => {
      if (error instanceof ApiError) return error;
      throw error;
    });
  const { status, headers: answered, text } = answer;
  return { status, headers: answered, text, ms: performance.now() - began };
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

/** Returns the members that are neither undefined nor empty. */
export function filled<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined | ''> } {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== ''),
  ) as { [K in keyof T]?: Exclude<T[K], undefined | ''> };
}
