/**
 * A route of the JSON interfaces (admin, REST v1, webhooks, `/me`), the single source of routing, parsing, errors and
 * the OpenAPI document.
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

/** The identity that each credential proves (docs/spec/interface.md, section 5). */
export interface Proven {
  readonly identity: { readonly identity: Identity };
  readonly api_key: { readonly caller: Caller };
  readonly none: object;
}

/** The credential that a route takes. */
export type Credential = keyof Proven;

/** The context of every request. */
export interface RequestContext {
  readonly services: Services;
  readonly requestId: string;
  /** Values by lower-case name. */
  readonly header: Header;
  /** The ids of all that the request writes: a retry under the same Idempotency-Key draws the same. */
  readonly ids: IdSource;
  /** The service's clock, microseconds. */
  readonly now: () => Micros;
  /** Set when an Idempotency-Key came with the request. */
  readonly retry?: RetryNotes | undefined;
  /** The request itself: of a route that `takes` bytes it has not been read. */
  readonly incoming: IncomingMessage;
  /** Under a grant: the pass for its parts. */
  readonly pass?: GrantPass | undefined;
  /** Lists leave out refuted entries, and those with a modifier extension: the pages of patients can't tell what these mean. */
  readonly factsOnly?: true;
  /** On the gateway: the person's session, and why they need records of production. */
  readonly visitor?: Pick<Visitor, 'session' | 'hasReason' | 'reason'> | undefined;
  /** Associates the request with a project of the caller, whose log then shows it. */
  readonly concerns: (project: string, environment?: Environment) => void;
}

/** Names in braces of a path: `/admin/keys/{key_id}` has `key_id`. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<Rest>
  : object;

/** A request, parsed and permitted. */
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
    /** The body with `LosslessNumber`s, if JavaScript would print one of its numbers differently (`1.50`). */
    readonly exact?: JsonObject;
    /** The raw body, in one of the route's media types besides JSON; `body` is then undefined. */
    readonly raw?: RawBody;
  };

/** The result of `run`. */
export interface RouteResult {
  readonly status: number;
  /** Becomes JSON; absent: no body. */
  readonly body?: unknown;
  /** Used instead of `body`: JSON text that is sent unchanged, so that decimals keep their literals. */
  readonly text?: string;
  /** Used instead of `body`: bytes with their own Content-Type in `headers`. */
  readonly content?: Content;
  /** Used instead of `body`: text that is produced while it is sent, with its Content-Type in `headers`. */
  readonly stream?: AsyncIterable<string | Buffer>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Position of the last event written: the answer waits until the route's read models show it. */
  readonly position?: Position | undefined;
  /** Shows data that the route didn't write: a purge must find it among stored answers. */
  readonly reads?: boolean;
  /** The number of resources that it shows, unless it is the one in the path; for the access log. */
  readonly shown?: number;
  /** The parts that it was made of, if it has a receipt. */
  readonly receipt?: ReceiptDraft;
  /**
   * For revoking access (a key, a grant, a project): the response waits until it is revoked on every
   * instance, otherwise 503.
   */
  readonly awaited?: boolean;
}

/**
 * The requirements of a route on a grant (`Opening`). The grant's record is the only one that its parameters can name:
 * inside the route all ids are real.
 */
export interface RouteOpening<Path extends string> extends Omit<Opening, 'id'> {
  /** The name of the parameter with the id that is asked for. */
  readonly id?: keyof PathParams<Path>;
}

/** One documented response. */
export interface DescribedAnswer {
  readonly description: string;
  /** Absent: no body. Objects are described as having these members and no others. */
  readonly schema?: z.ZodType;
  /** Schemas by media type, in addition to `schema`, which is of JSON. */
  readonly content?: Readonly<Record<string, z.ZodType>>;
  /** Bytes of any media type. */
  readonly bytes?: true;
}

/** The route's part of the OpenAPI document, besides its schemas. */
interface Description<Path extends string, C extends Credential> {
  readonly method: Method;
  /** The whole path, `/admin/keys/{key_id}`. */
  readonly path: Path;
  /** Unique: the name of the function in clients that are generated. */
  readonly operationId: string;
  /** Half a sentence. */
  readonly summary: string;
  /** A longer description, Markdown. */
  readonly description?: string;
  /** The group in which it is listed. */
  readonly tag: Tag;
  readonly credential: C;
  /** States whether it takes an access token of a grant, and its requirements on the grant. */
  readonly grantToken: 'refused' | RouteOpening<Path>;
  /** The access that it needs of a client whose scopes name types, where no token of a grant is taken. Default: all types. */
  readonly needs?: readonly Need[];
  /** Scope of an API key. */
  readonly scope?: 'read' | 'write';
  /** Shows stored data, so an API key needs the scope `read` besides `scope`. */
  readonly needsRead?: true;
  /** Shows nothing of a record, so its reads are not in the access log. */
  readonly isUnlogged?: true;
  /** Shows what was stored before: a key that may not read gets 204 without a body. */
  readonly showsStored?: true;
  /** The body is bytes of any media type, which `run` reads. */
  readonly takes?: 'bytes';
  /** Media types of the body besides JSON; `body` must be optional. */
  readonly raw?: Readonly<Record<string, { readonly description: string; readonly example: string }>>;
  /** Members of the body whose texts may hold control characters. */
  readonly framed?: readonly string[];
  /** Alternative for unknown query parameters, for the error message: `to search…, use …`. */
  readonly otherwise?: string;
  /** The answer contains a secret and must not be stored. */
  readonly secret?: true;
  /** The answer contains an access token: refused to sessions (`src/http/gateway/`). */
  readonly givesToken?: true;
  /** Read models that its answers show. Default: `projects` for identities, `resources` and `history` for API keys. */
  readonly models?: readonly string[];
  /** Answers by status; errors are added. */
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
  /** Forms of the path's ids, where another form is refused (422) rather than unknown (404). */
  readonly params?: z.ZodObject;
  /** Strict; without it no name is known. */
  readonly query?: Query;
  /** Strict; without it an empty object is taken, or nothing. */
  readonly body?: Body;
  run(request: ApiRequest<Path, C, z.output<Query>, z.output<Body>>): Promise<RouteResult>;
}

/** Members that only open routes have (`open-route.ts`). */
type NotTyped = { readonly [Name in 'form' | 'unlimited' | 'unlisted']?: undefined };

/** A route as the kit works with it: its own types are closed over. */
export interface TypedRoute<C extends Credential>
  extends NotTyped,
    Omit<Description<string, C>, 'models'>,
    Pick<Declared, 'scopes' | 'models' | 'logged' | 'ahead'> {
  /** The answer is bytes. */
  readonly givesBytes: boolean;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Parses a request's inputs. @throws Refusal invalid (422) naming every one that is wrong. */
  accept(inputs: Inputs): (circumstances: RequestContext & Proven[C]) => Promise<RouteResult>;
}

export type Route = { [C in Credential]: TypedRoute<C> }[Credential];

/** Read models that a route's answers show, unless it names others. */
const MODELS: Readonly<Record<Credential, readonly string[]>> = {
  identity: ['projects'],
  api_key: ['resources', 'history'],
  none: [],
};

/** The answer of a route that `showsStored` to a key that may not read. */
const UNSHOWN = { 204: { description: 'Done; a key without the scope `read` doesn’t see the result' } };

/** The sentence that the description of a route that `needsRead` ends with. */
const NEEDS_READ = 'Requires a key with the scopes `read` and `write`.';

/** Makes a route of its definition. */
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
