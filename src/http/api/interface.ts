/** The JSON interfaces over HTTP: the steps before and after a request's route. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { Context } from 'koa';
import { type Caller, mayRead, turnKey } from '#src/shared/access/caller.ts';
import type { Identity } from '#src/shared/access/identity.ts';
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
import { credentialModels, isAccessToken, refusesGrants } from '../access-token.ts';
import type { Answer } from '../answer/answer.ts';
import type { Header } from '../answer/authorship.ts';
import { negotiate } from '../answer/negotiation.ts';
import { hasBody, JSON_TYPES, type RawBody, readBody, textOf } from '../body.ts';
import { type BodyCount, JsonCount, SignCount } from '../body-count.ts';
import { visitorOf } from '../credential-kinds.ts';
import {
  type Authentication,
  type Authenticator,
  bearerOf,
  credentialFor,
  readAs,
  requireScope,
} from '../credentials.ts';
import type { Edge } from '../edge/edge.ts';
import { jsonError } from '../errors.ts';
import { requireFresh, type Stale } from '../freshness.ts';
import { requireTypes } from '../grant/opening.ts';
import { GrantPass, type GrantService } from '../grant/pass.ts';
import { type Attempted, holderOf, keyScopeOf, once } from '../idempotency.ts';
import { type KeyReadService, KeyReads, type ReadOf } from '../key-reads.ts';
import type { LargeBodies } from '../large-bodies.ts';
import type { IdempotencyKeys } from '../ports/idempotency.ts';
import type { Position } from '../ports/position.ts';
import type { Services } from '../ports/services.ts';
import type { Inputs } from './inputs.ts';
import type { Credential, RequestContext, Route, RouteResult, TypedRoute } from './route.ts';
import { allowOf, namesIn, type RouteTable, routeFor } from './table.ts';

/** Dependencies of the interfaces. */
export interface ApiInterface {
  readonly table: RouteTable;
  readonly services: Services;
  readonly authenticator: Authenticator;
  readonly idempotency: IdempotencyKeys;
  readonly largeBodies: LargeBodies;
  readonly grants: GrantService;
  readonly keyReads: KeyReadService;
  /** Waits until these read models show a position; false when it takes too long. */
  readonly passed: (position: Position, models: readonly string[]) => Promise<boolean>;
  /**
   * Waits like `passed`; if it takes too long, every instance refuses reads of the models until they show the position.
   * @throws Refusal unavailable
   */
  readonly settled: (position: Position, models: readonly string[]) => Promise<boolean>;
  readonly stale: Stale;
}

/** A checked credential; its Idempotency-Keys belong to `scope`. */
interface Permitted {
  readonly credential: string;
  /** As in `KeyedRequest`. */
  readonly holder: string | undefined;
  readonly scope: string;
  /** False if the answer would show stored data to a key that may not read. */
  readonly mayShow: boolean;
  readonly run: (circumstances: RequestContext) => Promise<RouteResult>;
  /** Undefined if the credential isn't a project's. */
  readonly caller?: Caller;
}

/** Read models that a route's answers show, unless it names others. */
const MODELS: Readonly<Record<Credential, readonly string[]>> = {
  identity: ['projects'],
  api_key: ['resources', 'history'],
  none: [],
};

/**
 * Answers a request of a path that the table knows; undefined for others. The path's pattern goes to `ctx.state.route`.
 * @throws Refusal
 */
export async function answerApi(api: ApiInterface, ctx: Context): Promise<Answer | undefined> {
  const found = api.table.find(ctx.path);
  if (found === undefined) return undefined;
  const [known] = found.methods.values();
  ctx.state.route = known?.path;
  if (ctx.method === 'OPTIONS') return { status: 204, headers: { Allow: allowOf(found.methods) } };
  const route = routeFor(found.methods, ctx.method);
  if (route.givesToken === true && visitorOf(ctx) !== undefined) throw noTokens();
  if (!givesBytes(route)) negotiate(ctx.req.headers.accept, null, 'application/json');
  const header = headerOf(ctx.req.headers);
  const params = Object.fromEntries(
    namesIn(route.path).map((name, index) => [name, found.values[index] ?? '']),
  );
  const asked = { params, query: new URLSearchParams(ctx.querystring), header };
  const token = await tokenCaller(api, route, ctx);
  const pass = token && GrantPass.of(api.grants, token, ctx.state.requestId);
  if (pass !== undefined) return answerGrant(api, route, ctx, asked, pass);
  if (isReading(route)) {
    const inputs = { ...asked, body: undefined };
    return answerReading(api, route, ctx, inputs, circumstancesOf(api, ctx, header), token);
  }
  return answerRoute(api, route, ctx, asked, await admission(api, route, ctx, token));
}

/** Returns the refusal (403) of a session that asks for a token: none reaches a script. */
function noTokens(): Refusal {
  return new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics:
      'below /app/api no token is issued: the session itself opens /v1 and /fhir/R4 of the projects that it may see',
  });
}

/** A request without its caller. */
interface Asking extends Pick<Inputs, 'params' | 'query'> {
  readonly header: Header;
}

/** Returns the context of a request. */
function circumstancesOf(
  api: ApiInterface,
  ctx: Context,
  header: Header,
  attempted?: Attempted,
  pass?: GrantPass,
): RequestContext {
  return {
    services: api.services,
    requestId: ctx.state.requestId,
    header,
    incoming: ctx.req,
    ids: new IdSource(attempted?.commandId ?? newUuid(), attempted?.millis ?? Date.now()),
    now: nowMicros,
    concerns: (project) => {
      ctx.state.project = project;
    },
    ...(attempted === undefined ? {} : { retry: attempted.retry }),
    ...(pass === undefined ? {} : { pass }),
  };
}

/** Returns the caller of an access token, where a route takes those of grants; undefined for other credentials. */
async function tokenCaller(
  { authenticator, stale }: ApiInterface,
  route: Route,
  ctx: Context,
): Promise<Caller | undefined> {
  if (route.credential !== 'api_key' || route.grantToken === 'refused') return undefined;
  const credential = credentialFor(ctx);
  if (!isAccessToken(credential)) return undefined;
  requireFresh(stale, credentialModels(credential));
  return authenticator.ofToken(credential, ctx);
}

/** Returns the check of a credential; one that was checked isn't checked and counted again. */
function checked(
  authenticator: Authenticator,
  credential: string,
  ctx: Context,
  token: Caller | undefined,
): Authentication {
  return token === undefined
    ? authenticator.begin(credential, ctx)
    : { caller: Promise.resolve(token), expected: undefined };
}

/**
 * Answers a request under a grant. Everything inside has the record's real ids.
 * @throws Refusal as of the route, with the ids that the application knows
 */
async function answerGrant(
  api: ApiInterface,
  route: Route,
  ctx: Context,
  { params, query, header }: Asking,
  pass: GrantPass,
): Promise<Answer> {
  const { caller, edge } = pass;
  try {
    if (route.credential !== 'api_key' || route.grantToken === 'refused') throw refusesGrants();
    requireFresh(api.stale, route.models ?? MODELS.api_key);
    const inward = Object.fromEntries(
      Object.entries(params).map(([name, value]) => [name, edge.inward(String(value))]),
    );
    const asked = { params: inward, query: edge.query(query), header: edge.header(header) };
    const { id, ...opening } = route.grantToken;
    const admit = permit(route, credentialFor(ctx), caller);
    const answer = await pass.run({ ...opening, id: id === undefined ? null : (inward[id] ?? null) }, () =>
      answerRoute(api, route, ctx, asked, admit, pass),
    );
    return await pass.out(answer);
  } catch (error) {
    throw pass.refusal(error);
  }
}

/** Answers a request whose credential was checked. */
async function answerRoute(
  api: ApiInterface,
  route: Route,
  ctx: Context,
  { params, query, header }: Asking,
  admit: (inputs: Inputs) => Permitted,
  pass?: GrantPass,
): Promise<Answer> {
  const body = takesBody(route) && hasBody(ctx.req) ? await bodyOf(api, route, ctx) : undefined;
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => api.largeBodies.run(ctx, scopeOfTurn(ctx), work);
  const { credential, holder, scope, run, mayShow, caller } = await inTurn(async () =>
    admit({ params, query, ...(await inputOf(route, body, pass?.edge)) }),
  );
  const answered = (attempted?: Attempted): Promise<Answer> =>
    inTurn(async () => {
      const result = await run(circumstancesOf(api, ctx, header, attempted, pass));
      await shown(api, route, result);
      if (!mayShow) return { status: 204, headers: {} };
      return answerOf(route, result);
    });
  const keyed = (): Promise<Answer> => {
    const key = header('idempotency-key');
    if (ctx.method !== 'POST' || key === undefined) return answered();
    const { method, url } = ctx;
    const bytes = body?.bytes ?? Buffer.alloc(0);
    const request = { key, scope, credential, holder, method, url, header, body: bytes, response: ctx.res };
    // A retry that waits for the first request takes no turn.
    return once(api.idempotency, request, answered, (refusal) =>
      jsonError(refusal, ctx.state.requestId, api.services.config.baseUrl),
    );
  };
  const reads =
    pass === undefined && caller !== undefined && isRead(route)
      ? KeyReads.of(api.keyReads, caller, ctx.state.requestId)
      : undefined;
  return reads === undefined
    ? keyed()
    : reads.out(await reads.runRest(readOfRoute(route, params), params, keyed));
}

/** Tells whether a route of a project shows stored data, whatever else it does. */
function isRead({ method, scope, needsRead }: Route): boolean {
  return (scope ?? (method === 'GET' ? 'read' : 'write')) === 'read' || needsRead === true;
}

/** Returns what the access log says of a route, also of one that takes no token of a grant. */
function readOfRoute(route: Route, params: Asking['params']): ReadOf {
  const token = route.credential === 'api_key' ? route.grantToken : 'refused';
  if (token === 'refused') return { action: route.operationId, type: null, id: null };
  const id = token.id === undefined ? undefined : params[token.id];
  return { action: token.action, type: token.type, id: typeof id === 'string' ? id : null };
}

/** Returns the owner whose turn a large body takes: the project, or the person. */
function scopeOfTurn({ state }: Context): string {
  const caller: Caller | undefined = state.caller;
  const identity: Identity | undefined = state.identity;
  if (caller !== undefined) return turnKey(caller.calls);
  return identity === undefined ? 'everybody' : scopeOf(identity);
}

/** Tells whether a route is a read with an API key and a JSON answer; it may run before the credential is confirmed. */
function isReading(route: Route): route is TypedRoute<'api_key'> {
  return (
    route.credential === 'api_key' &&
    route.method === 'GET' &&
    (route.scope ?? 'read') === 'read' &&
    !givesBytes(route)
  );
}

async function answerReading(
  { authenticator, stale, keyReads }: ApiInterface,
  route: TypedRoute<'api_key'>,
  ctx: Context,
  inputs: Inputs,
  circumstances: RequestContext,
  token: Caller | undefined,
): Promise<Answer> {
  requireFresh(stale, route.models ?? MODELS.api_key);
  const credential = credentialFor(ctx);
  requireFresh(stale, credentialModels(credential));
  const { params } = inputs;
  const { reads, answer } = await readAs(checked(authenticator, credential, ctx, token), async (caller) => {
    requireTypes(caller, route.grantToken, route.needs);
    const log = KeyReads.of(keyReads, caller, circumstances.requestId);
    const run = async (): Promise<Answer> =>
      answerOf(route, await route.accept(inputs)({ ...circumstances, caller }));
    const read = log === undefined ? run() : log.runRest(readOfRoute(route, params), params, run);
    return { reads: log, answer: await read };
  });
  return reads === undefined ? answer : reads.out(answer);
}

/** Checks the credential before anything of the request is read. */
async function admission(
  { authenticator, stale }: ApiInterface,
  route: Route,
  ctx: Context,
  token: Caller | undefined,
): Promise<(inputs: Inputs) => Permitted> {
  requireFresh(stale, route.models ?? MODELS[route.credential]);
  if (route.credential === 'none') {
    const bearer = bearerOf(ctx.req.headers);
    if (bearer !== undefined) await authenticator.refuseGrant(bearer);
    return (inputs) => ({
      credential: '',
      holder: undefined,
      scope: 'everybody',
      mayShow: true,
      run: route.accept(inputs),
    });
  }
  const credential =
    route.credential === 'identity'
      ? credentialFor(ctx, 'an ID token as Authorization: Bearer <ID token>')
      : credentialFor(ctx);
  requireFresh(stale, credentialModels(credential));
  if (route.credential === 'identity') {
    const identity = visitorOf(ctx)?.identity ?? (await authenticator.requireIdentity(credential));
    ctx.state.identity = identity;
    return (inputs) => {
      const run = route.accept(inputs);
      return {
        credential,
        holder: `identity ${identity.issuer}\n${identity.subject}`,
        scope: scopeOf(identity),
        mayShow: true,
        run: (circumstances) => run({ ...circumstances, identity }),
      };
    };
  }
  const { caller: checking } = checked(authenticator, credential, ctx, token);
  const caller = await checking;
  requireScope(caller, route.scope ?? (route.method === 'GET' ? 'read' : 'write'));
  if (route.needsRead === true) requireScope(caller, 'read');
  requireTypes(caller, route.grantToken, route.needs);
  return permit(route, credential, caller);
}

/** Returns what runs a route for a caller. */
function permit(
  route: TypedRoute<'api_key'>,
  credential: string,
  caller: Caller,
): (inputs: Inputs) => Permitted {
  return (inputs) => {
    const run = route.accept(inputs);
    return {
      credential,
      holder: holderOf(caller),
      scope: keyScopeOf(caller),
      mayShow: route.showsStored !== true || mayRead(caller, typeOf(route)),
      run: (circumstances) => run({ ...circumstances, caller }),
      caller,
    };
  };
}

/** Returns the type that a route shows, whose letters decide under a grant. */
function typeOf({ grantToken }: TypedRoute<'api_key'>): string | undefined {
  return grantToken === 'refused' ? undefined : (grantToken.type ?? undefined);
}

/** Returns the scope of a person's Idempotency-Keys outside a project (docs/spec/decisions.md, section 3). */
function scopeOf({ issuer, subject }: Identity): string {
  return `identity ${createHash('sha256').update(`${issuer}\n${subject}`).digest('hex')}`;
}

function takesBody({ method, takes }: Route): boolean {
  return takes === undefined && method !== 'GET' && method !== 'DELETE';
}

function givesBytes({ answers }: Route): boolean {
  return Object.values(answers).some(({ bytes }) => bytes === true);
}

function bodyOf(
  { services, largeBodies }: ApiInterface,
  { raw = {} }: Route,
  ctx: Context,
): Promise<RawBody> {
  const others = Object.keys(raw);
  const bytes = services.config.limits.bodyBytes;
  const limits = { accepted: [...JSON_TYPES, ...others], anyCharset: others, bytes, count: countOf };
  return readBody(ctx.req, limits, largeBodies.hold(ctx, scopeOfTurn(ctx)));
}

/** Maximum number of JSON values of a body: an import of 5,000 laboratory results, with everything said of each, has 150,000. */
const MOST_VALUES = 200_000;

function countOf(mediaType: string): BodyCount {
  return JSON_TYPES.includes(mediaType) ? new JsonCount({ values: MOST_VALUES }) : new SignCount();
}

/**
 * Returns the body as its route takes it: JSON, or raw. Under a grant the ids in JSON are exchanged; who reads a raw body
 * exchanges them.
 */
async function inputOf(
  route: Route,
  body: RawBody | undefined,
  edge: Edge | undefined,
): Promise<Pick<Inputs, 'body' | 'exact' | 'raw'>> {
  const own = body === undefined || edge === undefined ? body : { ...body, edge };
  if (own !== undefined && route.raw?.[own.mediaType] !== undefined) return { body: undefined, raw: own };
  const { value, exact } = await jsonOf(route, own);
  return { body: value, ...(exact === undefined ? {} : { exact }) };
}

/** Length from which a body is parsed in parts, in characters. */
const LONG = 500_000;

/**
 * Returns the body as plain JSON, and with exact numbers if that differs; under a grant with real ids.
 * @throws Refusal malformed (400) if it isn't a JSON object or a required body is missing
 */
async function jsonOf(
  route: Route,
  body: RawBody | undefined,
): Promise<{ readonly value?: unknown; readonly exact?: JsonObject }> {
  if (body === undefined) {
    if (route.body === undefined || !takesBody(route) || route.body.safeParse({}).success) return {};
    throw new Refusal('malformed', { code: 'required', diagnostics: 'the request has no body' });
  }
  const text = textOf(body);
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

/** Waits until reads show what was written (docs/spec/decisions.md, section 3). */
async function shown(api: ApiInterface, route: Route, { position, awaited }: RouteResult): Promise<void> {
  if (position === undefined) return;
  const models = route.models ?? MODELS[route.credential];
  // A refused answer promises nothing to later reads.
  const visible = awaited === true ? await api.passed(position, models) : await api.settled(position, models);
  if (!visible && awaited === true)
    throw unavailable("the change was saved but isn't active on every instance yet; retry in a second");
}

function answerOf(route: Route, result: RouteResult): Answer {
  const { status, headers = {}, content } = result;
  if (content !== undefined) return { status, headers, content };
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
  };
}

function headerOf(headers: IncomingHttpHeaders): Header {
  return (name) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
}
