/**
 * Implements the JSON interfaces over HTTP (REST v1, `/admin`, `/me`, webhooks): the pipeline steps in which they differ from
 * FHIR.
 */
import { setImmediate } from 'node:timers/promises';
import type { Context } from 'koa';
import { mayRead } from '#src/shared/access/caller.ts';
import { IdSource, newUuid } from '#src/shared/ids.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  type ParsedJson,
  parseInParts,
  parseJson,
} from '#src/shared/json/json.ts';
import { inSlices } from '#src/shared/load/slices.ts';
import { Refusal, unavailable } from '#src/shared/refusal.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import type { Answer } from '../answer/answer.ts';
import { refuseConditions } from '../answer/conditions.ts';
import { negotiate } from '../answer/negotiation.ts';
import { decodeBody, hasBody, JSON_TYPES, type RawBody, readBody } from '../body.ts';
import { type BodyCount, JsonCount, SignCount } from '../body-count.ts';
import { findVisitor } from '../credential-kinds.ts';
import type { Edge } from '../edge/edge.ts';
import { jsonError } from '../errors.ts';
import type { GrantToken } from '../grant/opening.ts';
import type { Attempted } from '../idempotency.ts';
import type { KeyReads, ReadOf } from '../key-reads.ts';
import { readHeaders } from '../path.ts';
import type { Admitted, Asked, Dialect, Steps } from '../pipeline.ts';
import type { Position } from '../ports/position.ts';
import type { Services } from '../ports/services.ts';
import type { Inputs } from './inputs.ts';
import type { Proven, Route, RouteResult } from './route.ts';
import type { FoundPath, RouteTable } from './table.ts';

/** Dependencies of the JSON interfaces. */
export interface ApiInterface extends Steps {
  readonly table: RouteTable;
  readonly services: Services;
}

/** How to retry a write safely. */
const INSTEAD = 'to send a request safely again, send Idempotency-Key with POST';

/** A request to a route. */
interface AskedJson extends Asked<Route>, Pick<Inputs, 'params' | 'query'> {}

/** Defines how requests are read and answered in the JSON interfaces. */
export class JsonDialect implements Dialect<Route, FoundPath, AskedJson> {
  constructor(private readonly api: ApiInterface) {}

  find({ path }: Context): FoundPath | undefined {
    return this.api.table.find(path);
  }

  ask(ctx: Context, route: Route, { names, values }: FoundPath): AskedJson {
    if (route.givesToken === true && findVisitor(ctx) !== undefined) throw noTokens();
    if (!route.givesBytes) negotiate(ctx.req.headers.accept, null, 'application/json');
    const params: Record<string, string> = {};
    for (const [index, name] of names.entries()) params[name] = values[index] ?? '';
    return {
      route,
      params,
      query: new URLSearchParams(ctx.querystring),
      header: readHeaders(ctx.req.headers),
    };
  }

  inward(_: Context, { route, params, query, header }: AskedJson, edge: Edge): AskedJson {
    const inward = Object.entries(params).map(([name, value]) => [name, edge.inward(value)]);
    return {
      route,
      params: Object.fromEntries(inward),
      query: edge.query(query),
      header: edge.header(header),
    };
  }

  findOpening({ route, params }: AskedJson): GrantToken {
    if (route.credential !== 'api_key' || route.grantToken === 'refused') return 'refused';
    const { id, ...opening } = route.grantToken;
    return { ...opening, id: id === undefined ? null : (params[id] ?? null) };
  }

  log(reads: KeyReads, asked: AskedJson, run: () => Promise<Answer>): Promise<Answer> {
    return reads.runRest(readOfRoute(asked), asked.params, run);
  }

  readBody(ctx: Context, { route }: AskedJson, owner: string): Promise<RawBody> | undefined {
    if (!takesBody(route) || !hasBody(ctx.req)) return undefined;
    const others = Object.keys(route.raw ?? {});
    const bytes = this.api.services.config.limits.bodyBytes;
    const limits = {
      accepted: [...JSON_TYPES, ...others],
      anyCharset: others,
      bytes,
      count: countForMediaType,
    };
    return readBody(ctx.req, limits, this.api.largeBodies.memory.hold(owner, ctx.res));
  }

  async run(
    ctx: Context,
    { route, params, query, header }: AskedJson,
    { caller, identity, pass }: Admitted,
    body?: RawBody,
    attempted?: Attempted,
  ): Promise<Answer> {
    if (route.credential === 'api_key' && route.scopes.includes('write'))
      refuseConditions(header, { ifMatch: route.headers?.['If-Match'] !== undefined, instead: INSTEAD });
    const sent = takesBody(route) ? await parseInput(route, body) : { body: undefined };
    const run = route.accept({ params, query, ...sent });
    // A route's credential determines which of the two is set.
    const who = { caller, identity } as Proven['api_key'] & Proven['identity'];
    const result = await run({
      services: this.api.services,
      requestId: ctx.state.requestId,
      header,
      incoming: ctx.req,
      ids: new IdSource(attempted?.commandId ?? newUuid(), attempted?.millis ?? Date.now()),
      now: nowMicros,
      concerns: (project, environment) => {
        ctx.state.project = project;
        ctx.state.environment = environment;
      },
      retry: attempted?.retry,
      pass,
      visitor: findVisitor(ctx),
      ...who,
    });
    if (result.position !== undefined) await this.#show(route, result.position, result.awaited === true);
    const mayShow = route.showsStored !== true || caller === undefined || mayRead(caller, shownType(route));
    return mayShow ? makeAnswer(route, result) : { status: 204, headers: {} };
  }

  printRefusal({ state }: Context, refusal: Refusal): Answer {
    return jsonError(refusal, state.requestId, this.api.services.config.baseUrl);
  }

  /** Waits until reads include the write (docs/spec/decisions.md, section 3). */
  async #show({ models }: Route, position: Position, awaited: boolean): Promise<void> {
    const { freshness } = this.api;
    // A refused response makes no promise about later reads.
    if (!awaited) await freshness.settle(position, models);
    else if (!(await freshness.waitFor(position, models)))
      throw unavailable("the change was saved but isn't active on every instance yet; retry in a second");
  }
}

/** Returns the refusal (403) for a session that requests a token: tokens must not reach scripts. */
function noTokens(): Refusal {
  return new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics:
      'no token is issued below /app/api: the session itself opens /v1 and /fhir/R4 for the projects that it may see',
  });
}

/** Returns the access-log entry for a route. Routes that don't accept tokens under a grant have one too. */
function readOfRoute({ route, params }: AskedJson): ReadOf {
  const token = route.credential === 'api_key' ? route.grantToken : 'refused';
  if (token === 'refused') return { action: route.operationId, type: null, id: null };
  return {
    action: token.action,
    type: token.type,
    id: token.id === undefined ? null : (params[token.id] ?? null),
  };
}

/** Returns the type of resource that a route shows. Under a grant, the scope letters for that type decide. */
function shownType({ grantToken }: Route): string | undefined {
  return grantToken === 'refused' ? undefined : (grantToken.type ?? undefined);
}

function takesBody({ method, takes }: Route): boolean {
  return takes === undefined && method !== 'GET' && method !== 'DELETE';
}

/** Maximum number of JSON values in a body. An import of 5,000 laboratory results that have every member contains 150,000. */
const MOST_VALUES = 200_000;

function countForMediaType(mediaType: string): BodyCount {
  return JSON_TYPES.includes(mediaType) ? new JsonCount({ values: MOST_VALUES }) : new SignCount();
}

/**
 * Returns the body in the form that its route accepts: JSON or raw. Under a grant, the ids in JSON are exchanged here; the ids
 * in a raw body are exchanged by the code that reads it.
 */
async function parseInput(
  route: Route,
  body: RawBody | undefined,
): Promise<Pick<Inputs, 'body' | 'exact' | 'raw'>> {
  if (body !== undefined && route.raw?.[body.mediaType] !== undefined) return { body: undefined, raw: body };
  const { value, exact } = await parseRouteJson(route, body);
  return { body: value, ...(exact === undefined ? {} : { exact }) };
}

/** The length, in characters, from which a body is parsed in parts. */
const LONG = 500_000;

/**
 * Returns the body as plain JSON, and also with exact numbers if they differ; under a grant, with real ids.
 * @throws Refusal malformed (400) if the body isn't a JSON object, or if it is required and missing
 */
async function parseRouteJson(
  route: Route,
  body: RawBody | undefined,
): Promise<{ readonly value?: unknown; readonly exact?: JsonObject }> {
  if (body === undefined) {
    if (route.body === undefined || !takesBody(route) || route.body.safeParse({}).success) return {};
    throw new Refusal('malformed', { code: 'required', diagnostics: 'the request has no body' });
  }
  const text = decodeBody(body);
  const { edge } = body;
  const parsing = async (): Promise<ParsedJson> =>
    text.length > LONG ? inSlices(parseInParts(text)) : parseJson(text);
  const { value, exact } = await (edge === undefined ? parsing() : edge.refusingLater(parsing));
  if (!isObject(value))
    throw new Refusal('malformed', { code: 'structure', diagnostics: 'the body is not a JSON object' });
  await edge?.jsonInSlices(value);
  if (!exact) return { value };
  if (text.length > LONG) await setImmediate();
  const plain: Json = JSON.parse(text);
  if (text.length > LONG) await setImmediate();
  return { value: edge === undefined ? plain : await edge.jsonInSlices(plain), exact: value };
}

function makeAnswer(route: Route, result: RouteResult): Answer {
  const { status, headers = {}, content, stream } = result;
  if (content !== undefined) return { status, headers, content };
  if (stream !== undefined) return { status, headers, stream };
  const body = result.text ?? (result.body === undefined ? undefined : JSON.stringify(result.body));
  const all = {
    ...(body === undefined ? {} : { 'Content-Type': 'application/json; charset=utf-8' }),
    ...(route.secret === true ? { 'Cache-Control': 'no-store' } : {}),
    ...headers,
  };
  return {
    status,
    headers: all,
    ...(body === undefined ? {} : { body }),
    ...(route.secret === true ? { plain: true as const } : {}),
    ...(result.reads === true ? { reads: true } : {}),
    ...(result.shown === undefined ? {} : { shown: result.shown }),
    ...(result.receipt === undefined ? {} : { receipt: result.receipt }),
  };
}
