/** `/openapi.json` and `/docs`: the description of every interface, without a credential (decisions.md, section 2). */
import { hash } from 'node:crypto';
import Router from '@koa/router';
import type { Context } from 'koa';
import type { Route } from '../api/route.ts';
import { openApiDocument } from '../openapi/document.ts';
import { answerPage } from '../security-headers.ts';
import { assetNamed } from './assets.ts';
import { documentationNeeds, documentationPage, errorsPage } from './pages.ts';

/**
 * The routes. The document is made when it is first asked for.
 * @param routes of the JSON interfaces.
 * @param baseUrl of the service, without a slash at its end.
 */
export function documentationRouter(routes: readonly Route[], baseUrl: string): Router {
  const router = new Router();
  const { origin, pathname } = new URL(baseUrl);
  const root = pathname.replace(/\/+$/, '');
  const needs = documentationNeeds(origin);
  let document: string | undefined;
  router.get('/openapi.json', (ctx) => {
    document ??= JSON.stringify(openApiDocument(routes, baseUrl));
    send(ctx, 'application/json; charset=utf-8', document);
  });
  router.get('/docs', (ctx) => answerPage(ctx, 200, documentationPage(root), needs));
  router.get('/docs/errors', (ctx) => answerPage(ctx, 200, errorsPage(root), needs));
  router.get('/docs/assets/:name', (ctx) => {
    const asset = assetNamed(ctx.params.name ?? '');
    if (asset !== undefined) send(ctx, asset.type, asset.body);
  });
  return router;
}

/** They change with the service alone: 304 for whoever has them. */
function send(ctx: Context, type: string, body: string | Buffer): void {
  const etag = `"${hash('sha256', body).slice(0, 32)}"`;
  ctx.set('Cache-Control', 'public, no-cache');
  ctx.set('ETag', etag);
  const known = ctx.get('If-None-Match').split(',');
  if (known.some((tag) => tag.trim().replace(/^W\//, '') === etag)) {
    ctx.status = 304;
    return;
  }
  ctx.type = type;
  ctx.body = body;
}
