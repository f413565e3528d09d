/**
 * A route that no credential of a project or person opens: OAuth, discovery, shared links, health, documentation. Clients,
 * links and tokens are checked by the route itself. Like `Route` the single source of routing, CORS, limits, errors and the
 * OpenAPI document.
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

/** The services of open routes. */
export interface OpenService {
  /** URL of the service, without a slash at its end. */
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
  /** Requests to the other interfaces, which `/mcp` makes. */
  readonly inner: InnerRequests;
  /** Tells whether a credential works on one of the interfaces that take any. */
  readonly worksElsewhere: (credential: string) => Promise<boolean>;
  /** Returns the OpenAPI document. */
  readonly describe: () => Readonly<Record<string, unknown>>;
  /** True if people sign in at the development issuer. */
  readonly devIssuer: boolean;
  /** Folder with `quickstart.json`, if only people on this machine see the page that names it. */
  readonly dataDir: string | undefined;
}

/** A request of an open route. */
export interface OpenRequest<Path extends string = string, Body = unknown> {
  readonly service: OpenService;
  readonly ctx: Context;
  readonly requestId: string;
  readonly params: PathParams<Path>;
  readonly query: URLSearchParams;
  /** Values by lower-case name. */
  readonly header: Header;
  /** The form that is its body; empty without one. */
  readonly form: URLSearchParams;
  readonly body: Body;
}

/** Members that only routes of the JSON interfaces have. */
type NotOpen = { readonly [Name in 'takes' | 'raw' | 'headers']?: undefined };

/** The part of the declaration for the document and the checks before `run`. */
interface Description<Path extends string> extends NotOpen {
  readonly method: Method;
  /** The whole path, `/shl/{link_id}`. */
  readonly path: Path;
  /** Unique: the name of the function in clients that are generated. */
  readonly operationId: string;
  /** Half a sentence. */
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly tag: Tag;
  /** Names of the path, for the document. */
  readonly params?: z.ZodObject;
  /** Parameters of the query, for the document: `run` checks them, and ignores others. */
  readonly query?: z.ZodObject;
  /** Parameters of the form that it takes, for the document, as `query`. */
  readonly form?: z.ZodObject;
  /** Read models that must not lag. Default: none. */
  readonly models?: readonly string[];
  /** Answers by status. */
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  /** Statuses of errors in the form of the JSON interfaces, in addition to `answers` and to 429. */
  readonly errors?: readonly number[];
  /** The form of its errors: RFC 6749, section 5.2. Default: that of the JSON interfaces. */
  readonly errorForm?: 'oauth';
  /** It takes the access token of a grant, which `run` checks. */
  readonly takesGrantToken?: true;
  /** Only servers call it: scripts of other origins get no answer (no CORS). */
  readonly serversOnly?: true;
  /** Requests aren't counted. */
  readonly unlimited?: true;
  /** Not in the document: for people or browsers. */
  readonly unlisted?: true;
}

/** The definition of an open route. */
export interface OpenDefinition<Path extends string, Body extends z.ZodType> extends Description<Path> {
  /** Its JSON body, of at most 100,000 bytes. */
  readonly body?: Body;
  /** A missing body is undefined: `run` checks a credential before it refuses that. */
  readonly bodyLater?: true;
  run(request: OpenRequest<Path, z.output<Body>>): Promise<Answer> | Answer;
}

/** An open route as the pipeline works with it. */
export interface OpenRoute extends Omit<Description<string>, 'models'>, Declared {
  readonly body?: z.ZodType;
  readonly bodyLater?: true;
  run(request: OpenRequest): Promise<Answer> | Answer;
}

/** Makes an open route of its definition. */
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

/** Returns an answer in JSON. */
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

/** Returns the refusal (404) of a URL that has a known form and leads to nothing. */
export function nothingThere(diagnostics: string): Refusal {
  return new Refusal('not_found', { code: 'not-found', diagnostics });
}

const text = z.string();

/** An answer in HTML, for the document. */
export const HTML_PAGE = { description: 'The page', content: { 'text/html': text } };

/** A cached copy is still current. */
export const UNCHANGED = { 304: { description: 'Unchanged' } };
