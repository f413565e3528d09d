/**
 * Defines routes that need no credential from a project or person: OAuth, discovery, shared links, health, documentation. The
 * route itself checks clients, links and tokens. Like `Route`, this is the single source for routing, CORS, limits, errors and
 * the OpenAPI document.
 */
import type { Context } from 'koa';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { RecordsOf } from '#queries/records-of.ts';
import type { AnswerMemory } from '#src/shared/load/answer-budget.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import type { Header } from '../answer/authorship.ts';
import type { RequestLimits } from '../limits.ts';
import type { Declared, Method } from '../pipeline.ts';
import type { AccessLog } from '../ports/access-log.ts';
import type { InnerRequests } from '../ports/inner-requests.ts';
import type { Metrics, ReadinessChecks } from '../ports/metrics.ts';
import type { OAuthServices } from '../ports/oauth.ts';
import type { Services } from '../ports/services.ts';
import type { SharedLinkOpening } from '../ports/shared-links.ts';
import type { DescribedAnswer, PathParams } from './route.ts';
import type { Tag } from './tags.ts';

/** The services that open routes use. */
export interface OpenService {
  /** The service's URL, without a trailing slash. */
  readonly baseUrl: string;
  readonly services: Services;
  readonly oauth: OAuthServices;
  readonly links: SharedLinkOpening;
  readonly limits: RequestLimits;
  readonly answers: AnswerMemory;
  readonly accessLog: AccessLog;
  readonly recordsOf: RecordsOf;
  readonly log: Logger;
  readonly checks: ReadinessChecks;
  readonly metrics: Metrics;
  /** Sends requests to the other interfaces, for `/mcp`. */
  readonly inner: InnerRequests;
  /** Returns whether a credential works on any interface that accepts credentials. */
  readonly worksElsewhere: (credential: string) => Promise<boolean>;
  /** Returns the OpenAPI document. */
  readonly describe: () => Readonly<Record<string, unknown>>;
  /** True if people sign in at this service's development issuer. */
  readonly devIssuer: boolean;
  /** Folder that contains `quickstart.json`; set only if the page that names this folder is visible only on this machine. */
  readonly dataDir: string | undefined;
}

/** A request to an open route. */
export interface OpenRequest<Path extends string = string, Body = unknown> {
  readonly service: OpenService;
  readonly ctx: Context;
  readonly requestId: string;
  readonly params: PathParams<Path>;
  readonly query: URLSearchParams;
  /** Returns a header by its lower-case name. */
  readonly header: Header;
  /** The form in the body; empty if there isn't one. */
  readonly form: URLSearchParams;
  readonly body: Body;
}

/** Members that only routes of the JSON interfaces have. */
type NotOpen = { readonly [Name in 'takes' | 'raw' | 'headers']?: undefined };

/** The part of the declaration that the OpenAPI document and the checks before `run` use. */
interface Description<Path extends string> extends NotOpen {
  readonly method: Method;
  /** The full path, for example `/shl/{link_id}`. */
  readonly path: Path;
  /** Unique, because generated clients use it as the function's name. */
  readonly operationId: string;
  /** Half a sentence. */
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly tag: Tag;
  /** Parameters in the path, for the OpenAPI document. */
  readonly params?: z.ZodObject;
  /** Query parameters, for the OpenAPI document. `run` checks them itself, and ignores unknown ones. */
  readonly query?: z.ZodObject;
  /** Form parameters, for the OpenAPI document, treated like `query`. */
  readonly form?: z.ZodObject;
  /** Read models that must not lag behind. Default: none. */
  readonly models?: readonly string[];
  /** Answers by status. */
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  /** Statuses of error responses in the form used by the JSON interfaces, in addition to `answers` and 429. */
  readonly errors?: readonly number[];
  /** The form of error responses, as in RFC 6749, section 5.2. Default: the form used by the JSON interfaces. */
  readonly errorForm?: 'oauth';
  /** True if the route accepts a grant's access token, which `run` checks. */
  readonly takesGrantToken?: true;
  /** True if only servers call the route. Scripts from other origins then can't read the response (no CORS). */
  readonly serversOnly?: true;
  /** True if requests aren't counted against rate limits. */
  readonly unlimited?: true;
  /** True if the route is left out of the OpenAPI document because it is for people or browsers. */
  readonly unlisted?: true;
}

/** The definition of an open route. */
export interface OpenDefinition<Path extends string, Body extends z.ZodType> extends Description<Path> {
  /** The JSON body, at most 100,000 bytes. */
  readonly body?: Body;
  /** True if `run` itself refuses a missing body, after checking a credential. Until then, a missing body is undefined. */
  readonly bodyLater?: true;
  run(request: OpenRequest<Path, z.output<Body>>): Promise<Answer> | Answer;
}

/** An open route in the form that the pipeline uses. */
export interface OpenRoute extends Omit<Description<string>, 'models'>, Declared {
  readonly body?: z.ZodType;
  readonly bodyLater?: true;
  run(request: OpenRequest): Promise<Answer> | Answer;
}

/** Creates an open route from its definition. */
export function openRoute<const Path extends string, Body extends z.ZodType = z.ZodUndefined>(
  definition: OpenDefinition<Path, Body>,
): OpenRoute {
  return {
    ...(definition as OpenDefinition<string, z.ZodType>),
    models: definition.models ?? [],
    credential: 'none',
    grantToken: 'ignored',
    scopes: [],
    logged: 'nothing',
    ahead: 'nothing',
    unkeyed: true,
  };
}

/** Returns a JSON response. */
export function answerJson(
  body: object,
  {
    status = 200,
    type = 'application/json; charset=utf-8',
    headers = {},
  }: {
    readonly status?: number;
    readonly type?: string;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Answer {
  return { status, headers: { 'Content-Type': type, ...headers }, body: JSON.stringify(body) };
}

/** Returns the refusal (404) for a URL in a known form that doesn't lead to anything. */
export function nothingThere(diagnostics: string): Refusal {
  return new Refusal('not_found', { code: 'not-found', diagnostics });
}

const text = z.string();

/** An HTML response, for the OpenAPI document. */
export const HTML_PAGE = { description: 'The page', content: { 'text/html': text } };

/** A cached copy is still current. */
export const UNCHANGED = { 304: { description: 'Unchanged' } };
