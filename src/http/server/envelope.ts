/**
 * Handles everything around a request: its id, headers, error body, log line and metrics, and its entry in the project's log
 * and usage. For an access token, the project is the application's.
 */
import type { IncomingMessage } from 'node:http';
import type { Context, Next } from 'koa';
import { isResourceType } from '#src/fhir/types.ts';
import type { Caller, CallerCredential, Environment } from '#src/shared/access/caller.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import { newRequestId } from '#src/shared/ids.ts';
import { presence } from '#src/shared/load/slices.ts';
import type { LoggedRequest } from '#src/shared/load/traffic.ts';
import { requireDecodable } from '#src/shared/query-text.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import type { Answer } from '../answer/answer.ts';
import { sendContent } from '../answer/content.ts';
import { pretty } from '../answer/pretty.ts';
import { endWhenStalled, Head, reply, send } from '../answer/send.ts';
import { type ApiInterface, JsonDialect } from '../api/interface.ts';
import { OpenDialect, type OpenInterface } from '../api/open-interface.ts';
import { describeError } from '../errors.ts';
import { FhirDialect, type FhirInterface } from '../fhir/interface.ts';
import { enter, type GatewayDeps } from '../gateway/gateway.ts';
import { refusesBody } from '../large-bodies.ts';
import type { RequestLimits } from '../limits.ts';
import { innerPath, isFhir, isGateway } from '../path.ts';
import { Pipeline } from '../pipeline.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Notebook } from '../ports/traffic.ts';
import { ROUTES } from '../routes.ts';
import { baseHeaders } from './base-headers.ts';
import { answerCors } from './cors.ts';
import { errorAnswer, unanswered } from './error-answer.ts';
import { answerWithoutWords } from './last-answer.ts';

/**
 * Refuses an HTTP/1.1 request without `Host` (RFC 9112, section 3.2).
 * @throws Refusal malformed (400)
 */
function requireHost({ headers, httpVersion }: IncomingMessage): void {
  if (headers.host !== undefined || httpVersion !== '1.1') return;
  const diagnostics = 'the header Host is missing: HTTP/1.1 requires it';
  throw new Refusal('malformed', { code: 'required', diagnostics, expression: 'http.host' });
}

/**
 * Gives each request its id, headers, error body, log line and metrics. Calls the declared routes, which handle nearly all
 * requests; all other requests, for pages for people, go to the routers.
 */
export function envelope(
  fhir: FhirInterface,
  api: ApiInterface,
  open: OpenInterface,
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
  // The members of these log lines never contain secrets, so they aren't searched for secrets.
  const requests = log.child({}, { redact: [] });
  const ofFhir = new Pipeline(fhir, new FhirDialect(fhir));
  const ofJson = new Pipeline(api, new JsonDialect(api));
  const ofOthers = new Pipeline(api, new OpenDialect(open));
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
    // From here on, the request is handled by the interface behind the gateway, and its errors have that interface's form.
    if (inner !== undefined) ctx.path = inner;
    const fhirPath = isFhir(ctx.path);
    try {
      if (!atGateway && ctx.req.headers.origin !== undefined && answerCors(ctx, open.table))
        reply(ctx, PREFLIGHT);
      else {
        const counted = limits.byAddress(ctx);
        if (counted !== undefined) await counted;
        requireHost(ctx.req);
        if (ctx.url.includes('%')) {
          requireDecodable(ctx.path, 'the path');
          requireDecodable(ctx.querystring, 'the query', 'query');
        }
        if (inner !== undefined) await enter(gateway, ctx, inner);
        const answer = (await (fhirPath ? ofFhir : ofJson).answer(ctx)) ?? (await ofOthers.answer(ctx));
        if (answer === undefined) {
          head.settle(res);
          await next();
          if (res.statusCode >= 400 && ctx.body == null) throw unanswered(ctx, api.table);
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
          const answer = errorAnswer(ctx, error, fhir, open);
          if (isBeforeCaller(ctx)) await fhir.authenticator.recognize(ctx);
          await send(ctx, fhirPath && isPretty(ctx) ? pretty(answer) : answer);
        }
      } catch (cause) {
        log.error({ err: cause, request_id: requestId }, 'an error answer could not be sent');
        answerWithoutWords(res, requestId);
      }
    }
    presence.leave(who);
    const ms = performance.now() - started;
    const route: string = ctx.state.route ?? ctx._matchedRoute ?? UNMATCHED;
    const { method } = ctx.req;
    const status = res.statusCode;
    metrics.observeRequest(method ?? '', route, status, ms / 1000);
    noteRequest(notebook, ctx, { requestId, route, status, ms });
    const line = { request_id: requestId, method, route, status, ms: Math.round(ms * 10) / 10 };
    if (fhirPath) requests.info(line, 'request');
    else requests.debug(line, 'request');
  };
}

/** Refusals that don't depend on the caller: an unknown URL, method or response format. */
const WITHOUT_CALLER = new Set(['not_found', 'method_not_allowed', 'not_acceptable']);

/** Returns whether a request was refused before its credential was checked. */
function isBeforeCaller({ state }: Context): boolean {
  const { caller, identity, refusal }: Noted = state;
  return (
    caller === undefined &&
    identity === undefined &&
    refusal !== undefined &&
    WITHOUT_CALLER.has(refusal.kind)
  );
}

/** Returns whether a FHIR request asks for indented JSON. */
function isPretty({ querystring, state }: Context): boolean {
  return querystring.includes('_pretty=true') || state.pretty === true;
}

/** The pattern used in metrics and logs for paths that don't exist here. */
const UNMATCHED = 'unmatched';

/** All other content is in the headers. */
const PREFLIGHT: Answer = { status: 204, headers: {} };

/** A request that has been answered. */
interface Answered {
  readonly requestId: string;
  /** The pattern of the request's URL. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

/** Matches the ids that the service generates: for resources, and for everything whose ids have a prefix. */
const OWN_ID = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{3,6}_[\w-]{22,26})$/;
const VERSION_ID = /^\d{1,9}$/;
const TYPES = new Set([':type', '{resource_type}']);
const READS_BY_POST = /\/_search$|\/\$/;

/** Facts about a request that has been answered. */
interface Noted {
  readonly caller?: Caller;
  readonly identity?: Identity;
  readonly project?: string;
  readonly environment?: Environment;
  readonly refusal?: Refusal;
}

/** Records a request whose project is known. Nobody could see any other requests. */
function noteRequest(notebook: Notebook, ctx: Context, { requestId, route, status, ms }: Answered): void {
  // The project is set only after its member has been authenticated, so requests by other people don't appear in any project's
  // log.
  const { caller, identity, project, environment, refusal }: Noted = ctx.state;
  const at = nowMicros();
  const method = ctx.req.method ?? '';
  const note = (of: Omit<LoggedRequest, 'requestId' | 'at' | 'method' | 'path' | 'status' | 'ms'>): void =>
    notebook.requestLog.add({
      ...{ requestId, at, ...of, method, path: loggedPath(ctx.path, route), status, ms },
      ...(refusal === undefined ? {} : { error: describeError(refusal) }),
    });
  if (caller !== undefined) {
    const { project: of, credential } = caller.calls;
    notebook.usage.request(of, isWrite(method, route), status);
    if (credential.kind === 'api_key') notebook.keyUse.used(credential.keyId, at);
    note({ ...of, ...holderColumns(credential), ...namedBy(caller) });
  } else if (identity !== undefined && project !== undefined) {
    const who = `${identity.issuer} ${identity.subject}`;
    note({ project, environment: environment ?? null, keyId: null, identity: who });
  }
}

/** Returns the columns that identify the caller. */
function holderColumns(
  credential: CallerCredential,
): Pick<LoggedRequest, 'keyId' | 'applicationId' | 'identity'> {
  switch (credential.kind) {
    case 'api_key':
      return { keyId: credential.keyId, identity: null };
    case 'client':
    case 'grant':
      return { keyId: null, applicationId: credential.applicationId, identity: null };
    case 'member':
    case 'person':
      return { keyId: null, identity: `${credential.issuer} ${credential.subject}` };
    case 'shared_link':
      return { keyId: null, identity: null };
  }
}

/**
 * Returns the record that the grant gives access to. The path contains the record's pairwise id, but a purge must find the row
 * by the real id.
 */
function namedBy({ sees: { within } }: Caller): Pick<LoggedRequest, 'named'> {
  return within === undefined ? {} : { named: within.record };
}

/** Returns whether a request may have changed something. */
function isWrite(method: string, route: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && !READS_BY_POST.test(route);
}

/**
 * Returns a path for the log. Where the pattern has parameters, only ids that the service generated and resource types are
 * kept; anything else was typed by a client, and may be a name or a secret.
 * @param pattern `/fhir/R4/:type/:id` or `/admin/projects/{project_id}`
 */
export function loggedPath(path: string, pattern: string): string {
  if (pattern === UNMATCHED) return loggedUnmatched(path);
  const wanted = splitPattern(pattern);
  const segments = path.split('/');
  let kept = true;
  for (const [index, segment] of segments.entries()) {
    if (isKept(segment, wanted[index] ?? '')) continue;
    segments[index] = '…';
    kept = false;
  }
  return kept ? path : segments.join('/');
}

/** The segments of this service's own paths. */
const OWN_WORDS = new Set(['fhir', 'R4', ...ROUTES.flatMap(({ path }) => path.split('/'))]);

/**
 * Returns a path that doesn't exist here in the form used in the log, which keeps only the service's own words, types and ids.
 */
function loggedUnmatched(path: string): string {
  const segments = path.split('/');
  return segments
    .map((segment) =>
      OWN_WORDS.has(segment) || OWN_ID.test(segment) || isResourceType(segment) ? segment : '…',
    )
    .join('/');
}

function isKept(segment: string, name: string): boolean {
  return (
    segment === name ||
    segment === '' ||
    OWN_ID.test(segment) ||
    (name === ':vid' && VERSION_ID.test(segment)) ||
    (TYPES.has(name) && isResourceType(segment))
  );
}

/** Patterns split into segments. There are only a few patterns. */
const parts = new Map<string, readonly string[]>();

function splitPattern(pattern: string): readonly string[] {
  const known = parts.get(pattern);
  if (known !== undefined) return known;
  const made = pattern.split('/');
  parts.set(pattern, made);
  return made;
}
