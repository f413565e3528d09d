/**
 * One route of the JSON interfaces (admin, REST v1, webhooks, `/me`): what routing, parsing, errors and the OpenAPI document
 * all come from.
 */
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { RetryNotes } from '#commands/command.ts';
import type { Caller } from '#src/shared/caller.ts';
import type { Identity } from '#src/shared/identity.ts';
import type { IdSource } from '#src/shared/ids.ts';
import type { JsonObject } from '#src/shared/json.ts';
import type { Micros } from '#src/shared/time.ts';
import type { Content } from '../answer.ts';
import type { Header } from '../authorship.ts';
import type { RawBody } from '../body.ts';
import type { Position } from '../ports/position.ts';
import type { Services } from '../ports/services.ts';
import { type Inputs, parseInputs } from './inputs.ts';
import type { Tag } from './tags.ts';

/** HTTP methods; HEAD goes wherever GET goes. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What each credential proves (docs/spec/interface.md, section 5). */
export interface Proven {
  readonly identity: { readonly identity: Identity };
  readonly api_key: { readonly caller: Caller };
  readonly none: object;
}

/** The credential that a route takes. */
export type Credential = keyof Proven;

/** What every request brings, whatever its route takes. */
export interface RequestContext {
  readonly services: Services;
  readonly requestId: string;
  /** By lower-case name. */
  readonly header: Header;
  /** The ids of all that the request writes: a retry under the same Idempotency-Key draws the same. */
  readonly ids: IdSource;
  /** The service's clock, microseconds. */
  readonly now: () => Micros;
  /** Set when an Idempotency-Key came with the request. */
  readonly retry?: RetryNotes;
  /** The request itself: of a route that `takes` bytes it has not been read. */
  readonly incoming: IncomingMessage;
  /** Notes that the request is about a project of the caller's: the project's log shows it. */
  readonly concerns: (project: string) => void;
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
    /** The body with `LosslessNumber`s, when JavaScript would write a number of it otherwise (`1.50`). */
    readonly exact?: JsonObject;
    /** The body as it came, in one of the media types that the route has beside JSON; `body` is undefined then. */
    readonly raw?: RawBody;
  };

/** What `run` gives. */
export interface RouteResult {
  readonly status: number;
  /** Becomes JSON; absent: no body. */
  readonly body?: unknown;
  /** In the place of `body`: JSON text that goes as it is, so that decimals of resources keep their literals. */
  readonly text?: string;
  /** In the place of `body`: bytes, which have their own Content-Type among `headers`. */
  readonly content?: Content;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the last event written: the answer waits until the route's read models show it. */
  readonly position?: Position | undefined;
  /** It shows what a record holds, which the route did not write: a purge must find it among kept answers. */
  readonly reads?: boolean;
  /** What ends a right (a key, a grant, a project) is answered once it works everywhere, else 503. */
  readonly awaited?: boolean;
}

/** One documented answer. */
export interface DescribedAnswer {
  readonly description: string;
  /** Absent: no body. Objects are described as having these members and no others. */
  readonly schema?: z.ZodType;
  /** Bytes of any media type. */
  readonly bytes?: true;
}

/** What the OpenAPI document says of a route beside its schemas. */
interface Description<Path extends string, C extends Credential> {
  readonly method: Method;
  /** From the root, `/admin/keys/{key_id}`. */
  readonly path: Path;
  /** Unique: the name of the function in clients that are generated. */
  readonly operationId: string;
  /** Half a sentence. */
  readonly summary: string;
  /** More about it, Markdown. */
  readonly description?: string;
  /** The group that it is listed in. */
  readonly tag: Tag;
  readonly credential: C;
  /** Of an API key. */
  readonly scope?: 'read' | 'write';
  /** Of an API key: what the route does shows what is stored to others, so that it takes the scope `read` beside `scope`. */
  readonly needsRead?: true;
  /** The answer shows what was stored before: a key that may not read gets 204 without a body in its place. */
  readonly showsStored?: true;
  /** The body is bytes of any media type, which `run` reads. */
  readonly takes?: 'bytes';
  /** Media types that a body may come in beside JSON, with what it is then; `body` must be optional. */
  readonly raw?: Readonly<Record<string, string>>;
  /** Members of the body whose texts may hold control characters. */
  readonly framed?: readonly string[];
  /** Where to ask what its query cannot, for a message about an unknown query parameter: `to search…, use …`. */
  readonly otherwise?: string;
  /** The answer holds a secret: nobody may store it. */
  readonly secret?: true;
  /** Read models that its answers show. Default: `projects` for identities, `resources` and `history` for API keys. */
  readonly models?: readonly string[];
  /** By status; those of errors are added. */
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  /** Request headers that `run` reads, by name, with what they are for. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A route as it is written down. */
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

/** A route as the kit works with it: its own types are closed over. */
export interface TypedRoute<C extends Credential> extends Description<string, C> {
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Parses a request's inputs. @throws Refusal invalid (422) naming every one that is wrong. */
  accept(inputs: Inputs): (circumstances: RequestContext & Proven[C]) => Promise<RouteResult>;
}

/** Any route. */
export type Route = { [C in Credential]: TypedRoute<C> }[Credential];

/** The answer of a route that `showsStored` to a key that may not read. */
const UNSHOWN = { 204: { description: 'Done; the key has no scope `read` to be shown the result' } };

/** The sentence that the description of a route that `needsRead` ends with. */
const NEEDS_READ = 'Takes a key with the scopes `read` and `write`.';

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
  const description = [definition.description ?? [], definition.needsRead === true ? NEEDS_READ : []].flat();
  return {
    ...described,
    ...(description.length === 0 ? {} : { description: description.join(' ') }),
    answers,
    accept(inputs) {
      const parsed = parseInputs<PathParams<Path>, Query, Body>(definition, inputs);
      return (circumstances) => run({ ...circumstances, ...parsed });
    },
  };
}
