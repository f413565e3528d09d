/**
 * Checks every response that a test fetches from the service against the OpenAPI document: the status, the media type and, for
 * the JSON interfaces, the body. FHIR bodies are checked by other tests.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openApiDocument } from '#src/http/openapi/document.ts';
import { isGateway } from '#src/http/path.ts';
import { ALL_ROUTES } from '#src/http/routes.ts';

/** Thrown for a response that the document doesn't describe. */
export class NotDescribed extends Error {
  override readonly name = 'NotDescribed';
}

interface Described {
  readonly pattern: RegExp;
  readonly literals: number;
  readonly path: string;
}

type Part = Readonly<Record<string, unknown>>;

const document = JSON.parse(JSON.stringify(openApiDocument(ALL_ROUTES, 'http://localhost'))) as Part;
const ID = 'openapi';
/** Statuses allowed for paths and methods that aren't described: unknown paths, bad URLs, limits, unavailable parts. */
const ELSEWHERE = new Set([400, 404, 405, 429, 500, 503]);

/** Statuses with which the gateway refuses requests, whatever their route (docs/gateway.md). */
const OF_GATEWAY = new Set([400, 401, 403, 404]);

const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document, ID);

const paths: readonly Described[] = Object.keys(document.paths as Part)
  .map((path) => ({
    path,
    literals: path.split('/').filter((segment) => !segment.startsWith('{')).length,
    pattern: new RegExp(
      `^${path
        .replace(/[.*+?^$()|[\]\\]/g, '\\$&')
        .replace(/\{[rv]id\}/g, '[A-Za-z0-9.-]+')
        .replace(/\{\w+\}/g, '[^/]+')}/?$`,
    ),
  }))
  .sort((one, other) => other.literals - one.literals);

/**
 * Returns the document's path that matches a URL's path; if there are several, the most literal (OpenAPI 3.1, Paths Object).
 * Returns undefined if none matches. A FHIR type must be listed for the path.
 */
export function describedPath(asked: string): string | undefined {
  // The gateway's responses are the same as those of the interfaces behind it.
  const pathname = asked.replace(/^\/app\/api(?=\/(?:me|admin|v1|fhir\/R4)(?:\/|$))/, '');
  return paths.find(({ pattern, path }) => pattern.test(pathname) && allowsType(path, pathname))?.path;
}

function allowsType(path: string, pathname: string): boolean {
  const place = path.split('/').indexOf('{resource_type}');
  if (place < 0) return true;
  const operation = Object.values(at('paths', path) as Part)[0] as { parameters: Part[] };
  const type = operation.parameters.find(({ name }) => name === 'resource_type');
  const { enum: types } = (type?.schema ?? {}) as { enum?: string[] };
  return types === undefined || types.includes(pathname.split('/')[place] ?? '');
}

function at(...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (part, key) => (typeof part === 'object' && part !== null ? Reflect.get(part, key) : undefined),
    document,
  );
}

/**
 * Resolves a reference within the document.
 * @returns the target and the keys that lead to it
 */
function resolved(...keys: readonly string[]): { part: Part | undefined; keys: readonly string[] } {
  const part = at(...keys) as Part | undefined;
  if (typeof part?.$ref !== 'string') return { part, keys };
  return resolved(...part.$ref.slice(2).split('/'));
}

/** A response from the service. */
export interface Given {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly type: string | null;
  /** Undefined if only status and media type are checked. */
  readonly text?: string;
}

/** Returns how a response differs from its description; undefined if it conforms. */
export function faultOf({ method, url, status, type, text = '' }: Given): string | undefined {
  const { pathname } = new URL(url);
  const documented = method === 'HEAD' ? 'get' : method.toLowerCase();
  const path = describedPath(pathname);
  if (path === undefined || at('paths', path, documented) === undefined)
    return ELSEWHERE.has(status) ? undefined : 'there is no such path with this method';
  const response = resolved('paths', path, documented, 'responses', String(status));
  if (response.part === undefined)
    return isGateway(pathname) && OF_GATEWAY.has(status) ? undefined : 'there is no such status';
  if (text === '' || type === null || method === 'HEAD') return undefined;
  const [media = ''] = type.split(';');
  if (at(...response.keys, 'content', '*/*') !== undefined) return undefined;
  if (at(...response.keys, 'content', media) === undefined) return `there is no ${media}`;
  if (media !== 'application/json') return undefined;
  const validate = compiled([...response.keys, 'content', media, 'schema']);
  return validate(JSON.parse(text)) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'body' });
}

const validators = new Map<string, ValidateFunction>();

function compiled(keys: readonly string[]): ValidateFunction {
  const pointer = keys
    .map((key) => encodeURIComponent(key.replace(/~/g, '~0').replace(/\//g, '~1')))
    .join('/');
  const known = validators.get(pointer) ?? ajv.compile({ $ref: `${ID}#/${pointer}` });
  validators.set(pointer, known);
  return known;
}

const fetched = globalThis.fetch;

/** Returns whether a response comes from the service itself, rather than from another server that a test runs. */
const isOurs = (response: Response): boolean =>
  response.headers.get('service-request-id')?.startsWith('req_') === true;

/** Paths that people open in a browser. The document describes only interfaces for programs. */
const FOR_PEOPLE = /^\/(?:app(?!\/api)|dev|signin|invitations|connections|oauth\/consent|shl\/view)(?:\/|$)/i;

/** Replaces `fetch` for tests once this file is loaded. */
globalThis.fetch = async (input, init) => {
  const response = await fetched(input, init);
  if (!isOurs(response)) return response;
  const request = input instanceof Request ? input : undefined;
  const method = (init?.method ?? request?.method ?? 'GET').toUpperCase();
  const url = request?.url ?? String(input);
  if (method === 'OPTIONS' || FOR_PEOPLE.test(new URL(url).pathname)) return response;
  const type = response.headers.get('content-type');
  const json = type?.startsWith('application/json') === true && response.status !== 304;
  const text = json ? await response.clone().text() : '';
  const fault = faultOf({ method, url, status: response.status, type, text });
  if (fault !== undefined)
    throw new NotDescribed(
      `${method} ${url} answers ${response.status}, which is not described: ${fault}: ${text.slice(0, 300)}`,
    );
  return response;
};
