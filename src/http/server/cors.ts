/**
 * Sets the CORS headers: any browser application may call, and sends credentials in headers that it sets itself, never in
 * cookies. Pages, which use cookies, are excluded (https://fetch.spec.whatwg.org/#http-cors-protocol).
 */
import type { Context } from 'koa';
import { requireHead } from '../answer/send.ts';
import type { OpenRoute } from '../api/open-route.ts';
import type { RouteTable } from '../api/table.ts';
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
  'X-Service-Author-Model',
  'X-Service-Source-System',
].join(', ');

/**
 * Sets the headers that a browser requests.
 * @param open the open routes, some of which are only for servers
 * @returns true if the request is a preflight: the headers are then the whole response (204)
 */
export function answerCors(ctx: Context, open: RouteTable<OpenRoute>): boolean {
  const { headers } = ctx.req;
  if (isPage(ctx.path) || open.listAt(ctx.path).some(({ serversOnly }) => serversOnly)) return false;
  const head = requireHead(ctx);
  head.set('Access-Control-Allow-Origin', '*');
  head.set('Access-Control-Expose-Headers', EXPOSED);
  if (ctx.method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  head.set('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE');
  // Any header may be sent: headers that nothing reads are harmless, and proxies and tracing add their own.
  const asked = headers['access-control-request-headers'];
  head.set('Access-Control-Allow-Headers', asked ? `${ALLOWED}, ${asked}` : ALLOWED);
  head.set('Access-Control-Max-Age', '86400');
  return true;
}
