/** The HTTP server: one chain from the socket to the interfaces, and every answer's headers. */
import { createServer as createHttpServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import Koa, { type Context, type Middleware, type Next } from 'koa';
import type { Logger } from 'pino';
import type { Commands } from '#commands/commands.ts';
import type { Queries } from '#queries/queries.ts';
import type { Config } from '#src/config.ts';
import type { DevIssuer } from '#src/dev-issuer/dev-issuer.ts';
import { NewerEvent } from '#src/events/newer.ts';
import type { Position } from '#src/events/store.ts';
import { capabilityStatement } from '#src/fhir/capability.ts';
import { createMetrics, type Metrics } from '#src/metrics/registry.ts';
import { observeThrottled } from '#src/metrics/traffic.ts';
import type { IdempotencyStore } from '#src/operations/idempotency.ts';
import type { RateLimits } from '#src/operations/limits.ts';
import { newRequestId } from '#src/shared/ids.ts';
import { methodNotAllowed, notSupportedHere } from '#src/shared/method-not-allowed.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Terminology } from '#src/terminology/terminology.ts';
import type { Answer } from './answer.ts';
import { AnswerMemory } from './answer-memory.ts';
import { type ApiInterface, answerApi, type Identify } from './api/interface.ts';
import { nearestRoute } from './api/nearest-route.ts';
import { RouteTable } from './api/table.ts';
import { baseHeaders, withoutFeatures } from './base-headers.ts';
import { clientAddress } from './client-address.ts';
import {
  COMPRESSED_FROM,
  codingFor,
  compressed,
  compressedStream,
  inParts,
  isCompressedInParts,
  isCompressible,
} from './compression.ts';
import { limitConnections } from './connections.ts';
import { sendContent } from './content.ts';
import { answerCors } from './cors.ts';
import { Authenticator } from './credentials.ts';
import { devIssuerRouter } from './dev-issuer/router.ts';
import { documentationRouter } from './docs/router.ts';
import { apiError, fhirError, internalError, refusalOf } from './errors.ts';
import { HistoryPages } from './fhir/history-pages.ts';
import { answerFhir, FHIR_PATH, type FhirInterface } from './fhir/interface.ts';
import { OPERATIONS } from './fhir/operations.ts';
import type { Stale } from './freshness.ts';
import { Head, headOf } from './head.ts';
import { healthRouter, type ReadinessChecks } from './health.ts';
import { LargeBodies, refusesBody } from './large-bodies.ts';
import { answerWithoutWords } from './last-answer.ts';
import { RequestLimits } from './limits.ts';
import type { Services } from './ports/services.ts';
import { pretty } from './pretty.ts';
import { type Notebook, noteRequest } from './request-note.ts';
import { ROUTES } from './routes.ts';
import { endWhenStalled, sendEnd, sendStream } from './send.ts';
import { startRouter } from './start/router.ts';
import { VERSION } from './version.ts';
import { webfingerRouter } from './webfinger.ts';

/** Everything that the server works with. */
export interface ServerDeps {
  readonly config: Services['config'] & Pick<Config, 'devIssuer' | 'trustedProxies'>;
  readonly log: Logger;
  readonly commands: Commands;
  readonly queries: Queries;
  readonly terminology: Terminology;
  readonly idempotency: IdempotencyStore;
  readonly traffic: Notebook & { readonly limits: RateLimits | undefined };
  /** Waits until every read model shows a position; false when it takes too long: the write is done all the same. */
  readonly visible: (position: Position) => Promise<boolean>;
  /** Waits until searches find all that is in the log now. @throws Refusal unavailable (503) */
  readonly searchable: () => Promise<void>;
  readonly stale: Stale;
  /** What routes of the JSON interfaces work with. */
  readonly services: Services;
  readonly identify: Identify;
  /** Undefined where the installation has none. */
  readonly devIssuer: DevIssuer | undefined;
  /** Waits until these read models show a position; false when it takes too long. */
  readonly passed: (position: Position, models: readonly string[]) => Promise<boolean>;
  /** As `passed`; when it takes too long, every instance refuses reads of the models until they show the position. @throws Refusal unavailable */
  readonly settled: (position: Position, models: readonly string[]) => Promise<boolean>;
  /** Conditions of `/health/ready`. */
  readonly checks: ReadinessChecks;
  /** Default: a registry of the server's own. */
  readonly metrics?: Metrics;
  /** Put around every request. */
  readonly tracing?: Middleware | undefined;
}

/** Makes the server; it listens when told to. */
export function createServer(deps: ServerDeps): Server {
  const metrics = deps.metrics ?? createMetrics();
  const health = healthRouter({ checks: deps.checks, metrics });
  const limits = new RequestLimits(
    deps.traffic.limits,
    clientAddress(deps.config.trustedProxies),
    observeThrottled(metrics.registry),
  );
  const authenticator = new Authenticator(deps.queries.apiKey, (ctx, caller) => limits.byCaller(ctx, caller));
  const largeBodies = new LargeBodies(limits, deps.config.limits);
  const fhir = fhirInterface(deps, authenticator, limits, largeBodies);
  const api = { ...deps, largeBodies, authenticator, table: new RouteTable(ROUTES) };
  const app = new Koa();
  if (deps.tracing !== undefined) app.use(deps.tracing);
  app.use(envelope(fhir, api, { ...deps, metrics, limits }));
  app.use(health.routes());
  app.use(health.allowedMethods());
  const start = startRouter({
    baseUrl: deps.config.baseUrl,
    devIssuer: deps.devIssuer !== undefined,
  });
  app.use(start.routes());
  app.use(start.allowedMethods());
  const documentation = documentationRouter(ROUTES, deps.config.baseUrl);
  app.use(documentation.routes());
  app.use(documentation.allowedMethods());
  const webfinger = webfingerRouter(deps.services.adminQueries.ssoOf, deps.stale);
  app.use(webfinger.routes());
  app.use(webfinger.allowedMethods());
  if (deps.devIssuer !== undefined) {
    const issuer = devIssuerRouter(deps.devIssuer, deps.config.baseUrl, deps.config.devIssuer === 'allow');
    app.use(issuer.routes());
    app.use(issuer.allowedMethods());
  }
  const server = createHttpServer(app.callback());
  // Longer than balancers keep theirs, so that none of them sends into a connection that closes.
  server.keepAliveTimeout = 65_000;
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => answerBadRequest(error, socket));
  limitConnections(server, deps.config.limits.connectionsPerAddress, deps.config.trustedProxies);
  return server;
}

function fhirInterface(
  deps: ServerDeps,
  authenticator: Authenticator,
  requestLimits: RequestLimits,
  largeBodies: LargeBodies,
): FhirInterface {
  const { config, commands, queries, terminology, idempotency, visible, searchable, stale, log } = deps;
  const baseUrl = config.baseUrl + FHIR_PATH;
  const date = new Date().toISOString();
  return {
    base: `${baseUrl}/`,
    commands,
    queries,
    terminology,
    visible,
    searchable,
    stale,
    log,
    idempotency,
    authenticator,
    limits: config.limits,
    largeBodies,
    answers: new AnswerMemory({
      answer: {
        bytes: config.limits.answerBytes,
        resources: config.limits.answerResources,
        ms: config.limits.answerSeconds * 1_000,
      },
      bytes: config.limits.answerMemoryBytes,
    }),
    spend: (ctx, caller, requests) => requestLimits.further(ctx, caller, requests),
    bundleEntries: config.limits.bundleEntries,
    historyPages: new HistoryPages(),
    capability: JSON.stringify(
      capabilityStatement({ baseUrl, version: VERSION, date, operations: OPERATIONS }),
    ),
  };
}

function isFhir(path: string): boolean {
  return path.startsWith(FHIR_PATH) && (path.length === FHIR_PATH.length || path[FHIR_PATH.length] === '/');
}

/**
 * Gives each request its id, headers, error body, log line and measure. The FHIR interface, which nearly all of them
 * are for, is asked from here; the rest go on to the routers.
 */
function envelope(
  fhir: FhirInterface,
  api: ApiInterface,
  {
    log,
    metrics,
    limits,
    traffic,
  }: Pick<ServerDeps, 'log' | 'traffic'> & {
    readonly metrics: Metrics;
    readonly limits: RequestLimits;
  },
): (ctx: Context, next: Next) => Promise<void> {
  // Its members are ours alone, so that looking for secrets in each line is spared.
  const requests = log.child({}, { redact: [] });
  const base = baseHeaders(api.services.config.baseUrl);
  return async (ctx, next) => {
    const notSent = (err: unknown): void =>
      log.error({ err, request_id: ctx.state.requestId }, 'the answer was not sent to its end');
    const started = performance.now();
    const requestId = newRequestId();
    ctx.state.requestId = requestId;
    const head = new Head(['Service-Request-Id', requestId, ...base]);
    ctx.state.head = head;
    const { res } = ctx;
    const fhirPath = isFhir(ctx.path);
    try {
      if (answerCors(ctx)) reply(ctx, PREFLIGHT);
      else {
        const counted = limits.byAddress(ctx);
        if (counted !== undefined) await counted;
        if (fhirPath) {
          const answer = await answerFhir(fhir, ctx);
          if (answer.refused !== undefined) await fhir.largeBodies.count(ctx, answer.refused);
          await send(ctx, isPretty(ctx) ? pretty(answer) : answer);
        } else {
          const answer = await answerApi(api, ctx);
          if (answer === undefined) {
            head.settle(res);
            await next();
            if (res.statusCode >= 400 && ctx.body == null) throw unanswered(ctx, api.table);
            withoutFeatures(ctx);
            endWhenStalled(res);
          } else if (answer.content === undefined) await send(ctx, answer);
          else await sendContent(ctx, answer, answer.content, notSent);
        }
      }
    } catch (error) {
      try {
        if (refusesBody(error)) await fhir.largeBodies.count(ctx);
        if (res.headersSent) notSent(error);
        else {
          const answer = errorAnswer(ctx, error, log, api.services.config.baseUrl);
          await send(ctx, fhirPath && isPretty(ctx) ? pretty(answer) : answer);
        }
      } catch (cause) {
        log.error({ err: cause, request_id: requestId }, 'an error could not be answered');
        answerWithoutWords(res, requestId);
      }
    }
    const ms = performance.now() - started;
    const route: string = ctx.state.route ?? ctx._matchedRoute ?? 'unmatched';
    const { method } = ctx.req;
    const status = res.statusCode;
    metrics.observeRequest(method ?? '', route, status, ms / 1000);
    noteRequest(traffic, ctx, { requestId, route, status, ms });
    const line = { request_id: requestId, method, route, status, ms: Math.round(ms * 10) / 10 };
    if (fhirPath) requests.info(line, 'request');
    else requests.debug(line, 'request');
  };
}

/** Where the interfaces begin. */
const ROOTS = [
  ...new Set([FHIR_PATH, ...ROUTES.map(({ path }) => path.slice(0, path.indexOf('/', 1)))]),
].join(', ');

/** What nothing has answered: no such URL, or none of its methods. */
function unanswered(ctx: Context, table: RouteTable): Refusal {
  if (ctx.status === 405 || ctx.status === 501) {
    const allow = ctx.response.get('Allow') || 'GET, HEAD';
    return methodNotAllowed(notSupportedHere(ctx.method), allow);
  }
  const meant = nearestRoute(table, ctx.method, ctx.path);
  return new Refusal('not_found', {
    code: 'not-found',
    diagnostics: `there is nothing at this URL${meant}: the interfaces are at ${ROOTS}; /docs and /openapi.json describe them, ${FHIR_PATH}/metadata says what FHIR offers`,
  });
}

function errorAnswer(ctx: Context, error: unknown, log: Logger, baseUrl: string): Answer {
  const known = refusalOf(error);
  if (known === undefined || known.kind === 'internal') {
    log.error({ err: error, request_id: ctx.state.requestId, method: ctx.method }, 'request failed');
  } else if (error instanceof NewerEvent) {
    log.error(
      { error: error.message, request_id: ctx.state.requestId },
      'this instance is too old for a request',
    );
  }
  const refusal = known ?? internalError();
  return isFhir(ctx.path) ? fhirError(refusal) : apiError(refusal, ctx.state.requestId, baseUrl);
}

/** Whether a FHIR request asks for JSON that people can read. */
function isPretty({ querystring, state }: Context): boolean {
  return querystring.includes('_pretty=true') || state.pretty === true;
}

/** All else that it says stands in its headers. */
const PREFLIGHT: Answer = { status: 204, headers: {} };

/** From how many characters on a body is a long one. */
const LONG = 16_000;

/**
 * Sends an answer: as it is; compressed, where the client takes that; or while it is made, to its end.
 * @throws what making it throws
 */
function send(ctx: Context, answer: Answer): void | Promise<void> {
  const { body, stream, headers } = answer;
  if (stream === undefined && (body === undefined || body.length < COMPRESSED_FROM))
    return reply(ctx, answer);
  if (answer.plain === true || !isCompressible(headers['Content-Type'], ctx.req))
    return stream === undefined ? reply(ctx, answer) : replyStream(ctx, answer, stream);
  const coding = codingFor(ctx);
  const varied = { ...answer, headers: { ...headers, Vary: 'Accept-Encoding' } };
  if (coding === undefined)
    return stream === undefined ? reply(ctx, varied) : replyStream(ctx, varied, stream);
  const coded = { ...varied, headers: { ...varied.headers, 'Content-Encoding': coding } };
  if (ctx.method === 'HEAD') return replyHead(ctx, coded);
  if (stream !== undefined) return replyStream(ctx, coded, compressedStream(stream, coding));
  if (body === undefined) return reply(ctx, varied);
  if (isCompressedInParts(body))
    return replyStream(ctx, coded, compressedStream(inParts(Buffer.from(body)), coding));
  return compressed(body, coding).then((bytes) => reply(ctx, { ...coded, body: bytes }));
}

/** Sends what is made while it is sent. @throws what making it throws */
function replyStream(
  ctx: Context,
  { status, headers }: Answer,
  stream: AsyncIterable<string | Buffer>,
): void | Promise<void> {
  if (ctx.method === 'HEAD') return replyHead(ctx, { status, headers });
  ctx.respond = false;
  headOf(ctx).write(ctx.res, status, headers, undefined);
  return sendStream(ctx.res, stream);
}

/** Sends headers alone: how long the body would be is not worth making it (RFC 9110, section 9.3.2). */
function replyHead(ctx: Context, { status, headers }: Answer): void {
  ctx.respond = false;
  headOf(ctx).write(ctx.res, status, headers, undefined);
  ctx.res.end();
}

/** Sends an answer past Koa's own ending, which would look at the body once more to find out what it is. */
function reply(ctx: Context, { status, headers, body }: Answer): void {
  const { req, res } = ctx;
  ctx.respond = false;
  // A long text is encoded once; a short one goes with the headers in one write.
  const sent = typeof body === 'string' && body.length > LONG ? Buffer.from(body) : (body ?? '');
  const length = status === 204 || status === 304 ? undefined : Buffer.byteLength(sent);
  headOf(ctx).write(res, status, headers, length);
  if (body === undefined || req.method === 'HEAD') res.end();
  else sendEnd(res, sent);
}

/** What is not HTTP, or too much of it, is answered without Koa. */
function answerBadRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nService-Request-Id: ${newRequestId()}\r\nConnection: close\r\n\r\n`);
}
