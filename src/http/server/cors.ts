/**
 * Sets the CORS headers. Any browser application may call the service; it sends credentials in headers that it sets itself,
 * never in cookies. Pages are excluded, because they use cookies (https://fetch.spec.whatwg.org/#http-cors-protocol).
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
 * @returns true if the request is a preflight, for which the headers are the whole response (204)
 */
export function answerCors(ctx: Context, open: RouteTable<OpenRoute>): boolean {
  const { headers } = ctx.req;
  if (isPage(ctx.path) || open.listAt(ctx.path).some(({ serversOnly }) => serversOnly)) return false;
  const head = requireHead(ctx);
  head.set('Access-Control-Allow-Origin', '*');
  head.set('Access-Control-Expose-Headers', EXPOSED);
  if (ctx.method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  head.set('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE');
  // Any header may be sent: a header that nothing reads is harmless, and proxies and tracing add headers of their own.
  const asked = headers['access-control-request-headers'];
  head.set('Access-Control-Allow-Headers', asked ? `${ALLOWED}, ${asked}` : ALLOWED);
  head.set('Access-Control-Max-Age', '86400');
  return true;
}
