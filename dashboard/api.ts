/**
 * Calls the service through its TypeScript client and the gateway `/app/api` (docs/gateway.md). The browser's session is the
 * only credential, so scripts never see a key or token.
 */
import { Annal, ApiError } from '../clients/typescript/src/index.ts';
import { PLACE } from './place.ts';
import { reasonHeaders } from './reason.ts';
import { withSameKey } from './same-key.ts';

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

/** The reason why a call failed, as text for people. */
export interface Failure {
  /** 0 if no response arrived. */
  readonly status: number;
  readonly message: string;
  /** Invalid members, each with the reason. */
  readonly fields: readonly { readonly field: string; readonly message: string }[];
  /** `Service-Request-Id`; empty if no response arrived. */
  readonly requestId: string;
  /** The response's headers, if one arrived. */
  readonly headers?: Headers;
}

/** A response as received, for screens that show the response itself. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly ms: number;
}

const fetchInSession: typeof fetch = async (url, init = {}) => {
  const headers = new Headers(init.headers);
  const project = headers.get('X-Service-Project');
  if (project !== null && headers.get('X-Service-Environment') === 'production')
    for (const [name, value] of Object.entries(reasonHeaders(project)))
      if (!headers.has(name)) headers.set(name, value);
  const answer = await fetch(url, { ...init, headers });
  // For a write, what the person has entered isn't lost: the screen says that they must sign in again.
  if (answer.status === 401 && init.method === 'GET') location.assign(signInPath(answer.headers));
  return answer;
};

const fetchOnce = withSameKey(fetchInSession);

const nameProject = ({ project, environment }: Of) => ({
  'X-Service-Project': project,
  'X-Service-Environment': environment,
});

/** The client for routes that don't concern a project's records. */
export const annal = openClient({}, fetchOnce);

/** Returns a client for a project's records in an environment. */
export function openRecords(of: Of): Annal {
  return openClient(nameProject(of), fetchOnce);
}

function openClient(headers: Readonly<Record<string, string>>, fetch: typeof globalThis.fetch): Annal {
  return new Annal({
    baseUrl: `${PLACE.base}/app/api`,
    headers: { 'X-Service-Session': '1', ...headers },
    fetch,
    retries: 1,
  });
}

/**
 * Sends any request to a project's records and returns the response, whatever its status.
 * @throws if no response arrives
 */
export async function send(
  of: Of,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body?: string },
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const began = performance.now();
  const answer = await openClient(nameProject(of), fetchInSession)
    .send(method, path, body, { headers, retries: 0 })
    .catch((error: unknown) => {
      if (error instanceof ApiError) return error;
      throw error;
    });
  const { status, headers: answered, text } = answer;
  return { status, headers: answered, text, ms: performance.now() - began };
}

/**
 * Returns the path of the sign-in page, which leads back to this screen afterwards.
 * @param refused the headers of a response with 401: they may require a recent sign-in (RFC 9470)
 */
export function signInPath(refused?: Headers): string {
  const max_age = /max_age="(\d+)"/.exec(refused?.get('WWW-Authenticate') ?? '')?.[1];
  const here = location.pathname.slice(PLACE.base.length) + location.search;
  return withQuery(`${PLACE.base}/signin`, { return_to: here, max_age });
}

/** Returns the path with a query that contains the members that are neither undefined nor empty. */
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
