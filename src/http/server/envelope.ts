/** The envelope of every request: its id, headers, error body, log line and metrics. */
import type { IncomingMessage } from 'node:http';
import type { Context, Next } from 'koa';
import { newRequestId } from '#src/shared/ids.ts';
import { presence } from '#src/shared/load/presence.ts';
import { methodNotAllowed, notSupportedHere } from '#src/shared/method-not-allowed.ts';
import { requireDecodable } from '#src/shared/query-text.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import { sendContent } from '../answer/content.ts';
import { pretty } from '../answer/pretty.ts';
import { endWhenStalled, Head, reply, send } from '../answer/send.ts';
import { type ApiInterface, JsonDialect } from '../api/interface.ts';
import { nearestRoute } from '../api/nearest-route.ts';
import type { RouteTable } from '../api/table.ts';
import { apiError, fhirError, internalError } from '../errors.ts';
import { FhirDialect, type FhirInterface } from '../fhir/interface.ts';
import { enter, type GatewayDeps } from '../gateway/gateway.ts';
import { refusesBody } from '../large-bodies.ts';
import type { RequestLimits } from '../limits.ts';
import { resourceMetadataUrl } from '../oauth/discovery.ts';
import { asOAuthError, isOAuthEndpoint, oauthErrorAnswer } from '../oauth/errors.ts';
import { refusalPage } from '../pages/refusal-page.ts';
import { FHIR_PATH, innerPath, isGateway } from '../path.ts';
import { Pipeline } from '../pipeline.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Notebook } from '../ports/traffic.ts';
import { ROUTES } from '../routes.ts';
import { baseHeaders, withoutFeatures } from './base-headers.ts';
import { answerCors } from './cors.ts';
import { answerWithoutWords } from './last-answer.ts';
import { noteRequest } from './request-note.ts';

/** Tells whether a path is of the FHIR interface; discovery documents below it aren't. */
function isFhir(path: string): boolean {
  if (!path.startsWith(FHIR_PATH)) return false;
  if (path.length === FHIR_PATH.length) return true;
  return path[FHIR_PATH.length] === '/' && !path.startsWith('.well-known/', FHIR_PATH.length + 1);
}

/**
 * Gives each request its id, headers, error body, log line and measure. Declared routes, which get nearly all of them,
 * are called from here; the rest go to the routers.
 */
export function envelope(
  fhir: FhirInterface,
  api: ApiInterface,
  {
    metrics,
    limits,
    notebook,
    gateway,
  }: {
    readonly metrics: Metrics;
    readonly limits: RequestLimits;
    readonly notebook: Notebook;
    readonly gateway: GatewayDeps;
  },
): (ctx: Context, next: Next) => Promise<void> {
  const { log } = fhir;
  // These members never contain secrets, so lines aren't searched for any.
  const requests = log.child({}, { redact: [] });
  const ofFhir = new Pipeline(fhir, new FhirDialect(fhir));
  const ofJson = new Pipeline(api, new JsonDialect(api));
  const base = baseHeaders(api.services.config.baseUrl);
  return async (ctx, next) => {
    const notSent = (err: unknown): void =>
      log.error(
        { err, request_id: ctx.state.requestId },
        'the connection closed before the whole answer was sent',
      );
    const started = performance.now();
    const requestId = newRequestId();
    ctx.state.requestId = requestId;
    const head = new Head(['Service-Request-Id', requestId, ...base]);
    ctx.state.head = head;
    const { res } = ctx;
    const { authorization, 'x-api-key': apiKey = '' } = ctx.req.headers;
    const who = authorization ?? String(apiKey);
    presence.enter(who);
    const atGateway = isGateway(ctx.path);
    const inner = atGateway ? innerPath(ctx) : undefined;
    // From here on the request belongs to the interface behind the gateway, and gets that interface's errors.
    if (inner !== undefined) ctx.path = inner;
    const fhirPath = isFhir(ctx.path);
    try {
      if (!atGateway && ctx.req.headers.origin !== undefined && answerCors(ctx)) reply(ctx, PREFLIGHT);
      else {
        const counted = limits.byAddress(ctx);
        if (counted !== undefined) await counted;
        requireHost(ctx.req);
        requireDecodable(ctx.path, 'the path');
        requireDecodable(ctx.querystring, 'the query', 'query');
        if (inner !== undefined) await enter(gateway, ctx, inner);
        const answer = await (fhirPath ? ofFhir : ofJson).answer(ctx);
        if (answer === undefined) {
          head.settle(res);
          await next();
          if (res.statusCode >= 400 && ctx.body == null) throw unanswered(ctx, api.table);
          withoutFeatures(ctx);
          endWhenStalled(res);
        } else {
          if (answer.refused !== undefined) await fhir.largeBodies.count(ctx, answer.refused);
          if (answer.content !== undefined) await sendContent(ctx, answer, answer.content, notSent);
          else await send(ctx, fhirPath && isPretty(ctx) ? pretty(answer) : answer);
        }
      }
    } catch (error) {
      try {
        if (refusesBody(error)) await fhir.largeBodies.count(ctx);
        if (res.headersSent) notSent(error);
        else {
          const answer = errorAnswer(ctx, error, fhir, api.services.config.baseUrl);
          await send(ctx, fhirPath && isPretty(ctx) ? pretty(answer) : answer);
        }
      } catch (cause) {
        log.error({ err: cause, request_id: requestId }, 'an error answer could not be sent');
        answerWithoutWords(res, requestId);
      }
    }
    presence.leave(who);
    const ms = performance.now() - started;
    const route: string = ctx.state.route ?? ctx._matchedRoute ?? 'unmatched';
    const { method } = ctx.req;
    const status = res.statusCode;
    metrics.observeRequest(method ?? '', route, status, ms / 1000);
    noteRequest(notebook, ctx, { requestId, route, status, ms });
    const line = { request_id: requestId, method, route, status, ms: Math.round(ms * 10) / 10 };
    if (fhirPath) requests.info(line, 'request');
    else requests.debug(line, 'request');
  };
}

/** Refuses a request of HTTP/1.1 without `Host` (RFC 9112, section 3.2). @throws Refusal malformed (400) */
function requireHost({ headers, httpVersion }: IncomingMessage): void {
  if (headers.host !== undefined || httpVersion !== '1.1') return;
  const diagnostics = 'the header Host is missing: HTTP/1.1 requires it';
  throw new Refusal('malformed', { code: 'required', diagnostics, expression: 'http.host' });
}

/** Path prefixes of the interfaces. */
const ROOTS = [
  ...new Set([FHIR_PATH, ...ROUTES.map(({ path }) => path.slice(0, path.indexOf('/', 1)))]),
].join(', ');

/** Returns the refusal for a URL or method that doesn't exist. */
function unanswered(ctx: Context, table: RouteTable): Refusal {
  if (ctx.status === 405 || ctx.status === 501) {
    const allow = ctx.response.get('Allow') || 'GET, HEAD';
    return methodNotAllowed(notSupportedHere(ctx.method), allow);
  }
  const meant = nearestRoute(table, ctx.method, ctx.path);
  return new Refusal('not_found', {
    code: 'not-found',
    diagnostics: `this URL doesn't exist${meant}: the interfaces are at ${ROOTS}; /docs and /openapi.json describe them, ${FHIR_PATH}/metadata says what FHIR offers`,
  });
}

function errorAnswer(
  ctx: Context,
  error: unknown,
  { log, refusalOf }: Pick<FhirInterface, 'log' | 'refusalOf'>,
  baseUrl: string,
): Answer {
  const known = refusalOf(error);
  if (known === undefined || known.kind === 'internal') {
    log.error({ err: error, request_id: ctx.state.requestId, method: ctx.method }, 'request failed');
  } else if (known !== error && known.cause instanceof Error) {
    log.error({ error: known.cause.message, request_id: ctx.state.requestId }, known.message);
  }
  const refusal = known ?? internalError();
  // Errors of the endpoints for OAuth clients have the form of its standards.
  if (isOAuthEndpoint(ctx.path)) return oauthErrorAnswer(asOAuthError(refusal));
  const answer =
    refusalPage(ctx, refusal, baseUrl) ??
    (isFhir(ctx.path) ? fhirError(refusal) : apiError(refusal, ctx.state.requestId, baseUrl));
  return answer.status === 401 ? challenged(answer, resourceMetadataUrl(baseUrl, ctx.path)) : answer;
}

/** Adds to a Bearer challenge where clients find out how to get a token (RFC 9728, section 5.1). */
function challenged(answer: Answer, metadataUrl: string | undefined): Answer {
  const challenge = answer.headers['WWW-Authenticate'];
  if (metadataUrl === undefined || challenge?.startsWith('Bearer ') !== true) return answer;
  const told = `${challenge}, resource_metadata="${metadataUrl}"`;
  return { ...answer, headers: { ...answer.headers, 'WWW-Authenticate': told } };
}

/** Tells whether a FHIR request asks for indented JSON. */
function isPretty({ querystring, state }: Context): boolean {
  return querystring.includes('_pretty=true') || state.pretty === true;
}

/** The headers contain everything else. */
const PREFLIGHT: Answer = { status: 204, headers: {} };
