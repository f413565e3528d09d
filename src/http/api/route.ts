/**
 * Defines routes of the JSON interfaces (admin, REST v1, webhooks, `/me`). Routing, parsing, errors and the OpenAPI document
 * are all derived from these definitions.
 */
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { RetryNotes } from '#commands/command.ts';
import type { Caller, Environment } from '#src/shared/access/caller.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import type { ReceiptDraft } from '#src/shared/access/receipt.ts';
import type { IdSource } from '#src/shared/ids.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Content } from '../answer/answer.ts';
import type { Header } from '../answer/authorship.ts';
import type { RawBody } from '../body.ts';
import type { Visitor } from '../credential-kinds.ts';
import type { Need, Opening } from '../grant/opening.ts';
import type { GrantPass } from '../grant/pass.ts';
import type { Declared, Method } from '../pipeline.ts';
import type { Position } from '../ports/position.ts';
import type { Services } from '../ports/services.ts';
import { type Inputs, parseInputs } from './inputs.ts';
import type { Tag } from './tags.ts';

/** The facts about the caller that each credential proves (docs/spec/interface.md, section 5). */
export interface Proven {
  readonly identity: { readonly identity: Identity };
  readonly api_key: { readonly caller: Caller };
  readonly none: object;
}

/** The credential that a route requires. */
export type Credential = keyof Proven;

/** The context of every request. */
export interface RequestContext {
  readonly services: Services;
  readonly requestId: string;
  /** Returns a header by its lower-case name. */
  readonly header: Header;
  /** The ids for everything that the request writes. A retry with the same Idempotency-Key gets the same ids. */
  readonly ids: IdSource;
  /** The service's clock, in microseconds. */
  readonly now: () => Micros;
  /** Set if the request has an Idempotency-Key. */
  readonly retry?: RetryNotes | undefined;
  /** The request itself. On a route with `takes`, its body has not been read yet. */
  readonly incoming: IncomingMessage;
  /** Under a grant: the pass that the parts of the request use. */
  readonly pass?: GrantPass | undefined;
  /**
   * True if lists leave out refuted entries and entries with a modifier extension, because the patient's pages can't explain
   * what those mean.
   */
  readonly factsOnly?: true;
  /** On the gateway: the person's session, and the reason why they need production records. */
  readonly visitor?: Pick<Visitor, 'session' | 'hasReason' | 'reason'> | undefined;
  /** Associates the request with one of the caller's projects, so that the project's log shows it. */
  readonly concerns: (project: string, environment?: Environment) => void;
}

/** Names in braces in a path: `/admin/keys/{key_id}` has `key_id`. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<Rest>
  : object;

/** A request that has been parsed and authorized. */
export type ApiRequest<
  Path extends string = string,
  C extends Credential = Credential,
  Query = unknown,
  Body = unknown,
> = RequestContext &
  Proven[C] & {
    readonly params: PathParams<Path>;
    readonly query: Query;
    readonly body: Body;
    /** The body with `LosslessNumber`s; set if JavaScript would print one of its numbers differently (`1.50`). */
    readonly exact?: JsonObject;
    /** The raw body, in one of the route's media types other than JSON. `body` is then undefined. */
    readonly raw?: RawBody;
  };

/** The result of `run`. */
export interface RouteResult {
  readonly status: number;
  /** Sent as JSON; absent if the response has no body. */
  readonly body?: unknown;
  /** Used instead of `body`: JSON text that is sent unchanged, so that decimals keep all their digits. */
  readonly text?: string;
  /** Used instead of `body`: bytes with their own Content-Type in `headers`. */
  readonly content?: Content;
  /** Used instead of `body`: text that is produced while it is being sent, with its Content-Type in `headers`. */
  readonly stream?: AsyncIterable<string | Buffer>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Position of the last event written. The response waits until the route's read models include it. */
  readonly position?: Position | undefined;
  /** True if the response shows data that the route didn't write. A purge must then find it among the stored responses. */
  readonly reads?: boolean;
  /** Number of resources shown, for the access log; absent if only the resource in the path is shown. */
  readonly shown?: number;
  /** The parts from which the response was made, if it has a receipt. */
  readonly receipt?: ReceiptDraft;
  /**
   * For requests that revoke access (a key, a grant, a project): the response waits until the revocation has reached every
   * instance, and is 503 if that takes too long.
   */
  readonly awaited?: boolean;
}

/**
 * What a route requires of a grant (`Opening`). The route's parameters can name only the grant's record; inside the route, all
 * ids are real.
 */
export interface RouteOpening<Path extends string> extends Omit<Opening, 'id'> {
  /** The name of the parameter that contains the requested id. */
  readonly id?: keyof PathParams<Path>;
}

/** One documented response. */
export interface DescribedAnswer {
  readonly description: string;
  /** The schema of the body; absent if the response has no body. Objects are documented as having exactly these members. */
  readonly schema?: z.ZodType;
  /** Schemas by media type, in addition to `schema`, which is for JSON. */
  readonly content?: Readonly<Record<string, z.ZodType>>;
  /** True for bytes of any media type. */
  readonly bytes?: true;
}

/** The route's part of the OpenAPI document, except its schemas. */
interface Description<Path extends string, C extends Credential> {
  readonly method: Method;
  /** The full path, for example `/admin/keys/{key_id}`. */
  readonly path: Path;
  /** Unique, because generated clients use it as the function's name. */
  readonly operationId: string;
  /** Half a sentence. */
  readonly summary: string;
  /** A longer description, in Markdown. */
  readonly description?: string;
  /** The group in which the operation is listed. */
  readonly tag: Tag;
  readonly credential: C;
  /** `refused` if the route refuses a grant's access token; otherwise what it requires of the grant. */
  readonly grantToken: 'refused' | RouteOpening<Path>;
  /** On a route that refuses grants' tokens: the access that a client needs if its scopes name types. Default: all types. */
  readonly needs?: readonly Need[];
  /** The scope that an API key needs. */
  readonly scope?: 'read' | 'write';
  /** True if the route shows stored data, so that an API key needs the scope `read` in addition to `scope`. */
  readonly needsRead?: true;
  /** True if the route shows nothing from a record, so that reading it isn't recorded in the access log. */
  readonly isUnlogged?: true;
  /** True if the route shows data that was already stored. A key that isn't allowed to read gets 204 without a body. */
  readonly showsStored?: true;
  /** Set if the body is bytes of any media type; `run` reads them itself. */
  readonly takes?: 'bytes';
  /** Media types of the body other than JSON; `body` must be optional. */
  readonly raw?: Readonly<Record<string, { readonly description: string; readonly example: string }>>;
  /** Body members whose text is allowed to contain control characters. */
  readonly framed?: readonly string[];
  /** The alternative to unknown query parameters, for the error message: `to search…, use …`. */
  readonly otherwise?: string;
  /** True if the response contains a secret and must not be stored. */
  readonly secret?: true;
  /** True if the response contains an access token. Sessions are refused such responses (`src/http/gateway/`). */
  readonly givesToken?: true;
  /**
   * Read models that the route's responses show. Default: `projects` for identities, `resources` and `history` for API keys.
   */
  readonly models?: readonly string[];
  /** Responses by status; error responses are added automatically. */
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  /** Request headers that `run` reads, by name, with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The definition of a route. */
export interface Definition<
  Path extends string,
  C extends Credential,
  Query extends z.ZodObject,
  Body extends z.ZodType,
> extends Description<Path, C> {
  /**
   * Schemas for the ids in the path; set if an id in the wrong form is to be refused (422) instead of being treated as unknown
   * (404).
   */
  readonly params?: z.ZodObject;
  /** Must be strict; if absent, every query parameter is unknown. */
  readonly query?: Query;
  /** Must be strict; if absent, only an empty object or no body is accepted. */
  readonly body?: Body;
  run(request: ApiRequest<Path, C, z.output<Query>, z.output<Body>>): Promise<RouteResult>;
}

/** Members that only open routes have (`open-route.ts`). */
type NotTyped = { readonly [Name in 'form' | 'unlimited' | 'unlisted']?: undefined };

/** A route in the form that the framework uses, without the type parameters of its definition. */
export interface TypedRoute<C extends Credential>
  extends NotTyped,
    Omit<Description<string, C>, 'models'>,
    Pick<Declared, 'scopes' | 'models' | 'logged' | 'ahead'> {
  /** True if the response is bytes. */
  readonly givesBytes: boolean;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /**
   * Parses a request's inputs.
   * @throws Refusal invalid (422), which names every invalid input.
   */
  accept(inputs: Inputs): (circumstances: RequestContext & Proven[C]) => Promise<RouteResult>;
}

export type Route = { [C in Credential]: TypedRoute<C> }[Credential];

/** Read models that a route's responses show if the route doesn't list its own. */
const MODELS: Readonly<Record<Credential, readonly string[]>> = {
  identity: ['projects'],
  api_key: ['resources', 'history'],
  none: [],
};

/** The response that a route with `showsStored` returns to a key that isn't allowed to read. */
const UNSHOWN = { 204: { description: 'Done; a key without the scope `read` doesn’t see the result' } };

/** The sentence that ends the description of a route with `needsRead`. */
const NEEDS_READ = 'Requires a key with the scopes `read` and `write`.';

/** Creates a route from its definition. */
export function route<
  const Path extends string,
  C extends Credential,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodUndefined,
>(definition: Definition<Path, C, Query, Body>): TypedRoute<C> {
  const { run, ...described } = definition;
  const answers =
    definition.showsStored === true ? { ...definition.answers, ...UNSHOWN } : definition.answers;
  const givesBytes = Object.values<DescribedAnswer>(answers).some(({ bytes }) => bytes === true);
  const scope = definition.scope ?? (definition.method === 'GET' ? 'read' : 'write');
  const ofProject = definition.credential === 'api_key';
  const isLogged = ofProject && definition.isUnlogged !== true;
  const description = [definition.description ?? [], definition.needsRead === true ? NEEDS_READ : []].flat();
  return {
    ...described,
    ...(description.length === 0 ? {} : { description: description.join(' ') }),
    answers,
    givesBytes,
    models: definition.models ?? MODELS[definition.credential],
    scopes: !ofProject ? [] : definition.needsRead === true ? [scope, 'read'] : [scope],
    logged: isLogged && (scope === 'read' || definition.needsRead === true) ? 'whole' : 'nothing',
    ahead: isLogged && definition.method === 'GET' && scope === 'read' && !givesBytes ? 'read' : 'nothing',
    accept(inputs) {
      const parsed = parseInputs<PathParams<Path>, Query, Body>(definition, inputs);
      return (circumstances) => run({ ...circumstances, ...parsed });
    },
  };
}
