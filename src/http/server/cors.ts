/**
 * CORS: any browser application may call; credentials travel in headers that it sets itself, never in cookies. Pages,
 * which have cookies, are left out (https://fetch.spec.whatwg.org/#http-cors-protocol).
 */
import type { Context } from 'koa';
import { requireHead } from '../answer/send.ts';
import { isPage } from '../page-paths.ts';

const EXPOSED = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Location',
  'Content-Range',
  'ETag',
  'Idempotent-Replayed',
  'Last-Modified',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Service-Request-Id',
  'WWW-Authenticate',
].join(', ');

const ALLOWED = [
  'Accept',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-Modified-Since',
  'If-None-Exist',
  'If-None-Match',
  'If-Range',
  'Prefer',
  'Range',
  'User-Agent',
  'X-Api-Key',
  'X-Service-Acting-As',
  'X-Service-Author-Ref',
  'X-Service-Author-Type',
  'X-Service-On-Behalf-Of',
  'X-Service-Origin-Id',
  'X-Service-Source-System',
].join(', ');

/** Servers introspect tokens and ask people for access; pages of other origins have nothing to do there. */
const SERVERS_ONLY = /^\/oauth\/(?:introspect|bc-authorize)\/?$/i;

/** Sets the headers that a browser asks for. @returns true when the request is a preflight: they are all of its answer (204). */
export function answerCors(ctx: Context): boolean {
  const { headers } = ctx.req;
  if (isPage(ctx.path) || SERVERS_ONLY.test(ctx.path)) return false;
  const head = requireHead(ctx);
  head.set('Access-Control-Allow-Origin', '*');
  head.set('Access-Control-Expose-Headers', EXPOSED);
  if (ctx.method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  head.set('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE');
  // Any header may be sent: those that nothing reads are harmless, and proxies and tracing add their own.
  const asked = headers['access-control-request-headers'];
  head.set('Access-Control-Allow-Headers', asked ? `${ALLOWED}, ${asked}` : ALLOWED);
  head.set('Access-Control-Max-Age', '86400');
  return true;
}
