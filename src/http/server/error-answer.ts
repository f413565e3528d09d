/** Builds responses for errors, in the format of the interface that a request was for. */
import type { Context } from 'koa';
import { OAuthError } from '#src/oauth/error.ts';
import { methodNotAllowed, notSupportedHere } from '#src/shared/method-not-allowed.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import { nearestRoute } from '../api/nearest-route.ts';
import type { OpenInterface } from '../api/open-interface.ts';
import type { RouteTable } from '../api/table.ts';
import { apiError, fhirError, internalError } from '../errors.ts';
import type { FhirInterface } from '../fhir/interface.ts';
import { resourceMetadataUrl } from '../oauth/discovery.ts';
import { asOAuthError, oauthErrorAnswer } from '../oauth/errors.ts';
import { refusalPage } from '../pages/refusal-page.ts';
import { FHIR_PATH, isFhir } from '../path.ts';
import { ROUTES } from '../routes.ts';

/** The interfaces' path prefixes. */
const ROOTS = [
  ...new Set([FHIR_PATH, ...ROUTES.map(({ path }) => path.slice(0, path.indexOf('/', 1)))]),
].join(', ');

/** Returns the refusal for a URL or method that doesn't exist. */
export function unanswered(ctx: Context, table: RouteTable): Refusal {
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

/** Returns the response for an error, and logs errors that are the service's fault. */
export function errorAnswer(
  ctx: Context,
  error: unknown,
  { log, refusalOf }: Pick<FhirInterface, 'log' | 'refusalOf'>,
  open: OpenInterface,
): Answer {
  const { baseUrl } = open.service;
  if (error instanceof OAuthError) return oauthErrorAnswer(error);
  const known = refusalOf(error);
  if (known === undefined || known.kind === 'internal') {
    log.error({ err: error, request_id: ctx.state.requestId, method: ctx.method }, 'request failed');
  } else if (known !== error && known.cause instanceof Error) {
    log.error({ error: known.cause.message, request_id: ctx.state.requestId }, known.message);
  }
  const refusal = known ?? internalError();
  ctx.state.refusal = refusal;
  // Errors from the endpoints for OAuth clients are in the format that the OAuth standards define.
  const isForClients = open.table.listAt(ctx.path).some(({ errorForm }) => errorForm === 'oauth');
  if (isForClients) return oauthErrorAnswer(asOAuthError(refusal));
  const answer =
    refusalPage(ctx, refusal, baseUrl) ??
    (isFhir(ctx.path) ? fhirError(refusal) : apiError(refusal, ctx.state.requestId, baseUrl));
  return answer.status === 401 ? challenged(answer, resourceMetadataUrl(baseUrl, ctx.path)) : answer;
}

/** Adds to a Bearer challenge the URL where clients learn how to get a token (RFC 9728, section 5.1). */
function challenged(answer: Answer, metadataUrl: string | undefined): Answer {
  const challenge = answer.headers['WWW-Authenticate'];
  if (metadataUrl === undefined || challenge?.startsWith('Bearer ') !== true) return answer;
  const told = `${challenge}, resource_metadata="${metadataUrl}"`;
  return { ...answer, headers: { ...answer.headers, 'WWW-Authenticate': told } };
}
