/**
 * `/openapi.json` and `/docs`: the documentation of every interface, without a credential (docs/spec/decisions.md,
 * section 2).
 */
import { hash } from 'node:crypto';
import Router from '@koa/router';
import type { Context } from 'koa';
import type { Route } from '../api/route.ts';
import { COMPRESSED_FROM, type Coding, codingFor, compressed, isCompressible } from '../compression.ts';
import { openApiDocument } from '../openapi/document.ts';
import { answerPage } from '../security-headers.ts';
import { assetNamed } from './assets.ts';
import { documentationNeeds, documentationPage, errorsPage } from './pages.ts';

/**
 * Returns the routes. The document is built at the first request.
 * @param routes of the JSON interfaces
 * @param baseUrl of the service, without a trailing slash
 */
export function documentationRouter(routes: readonly Route[], baseUrl: string): Router {
  const router = new Router();
  const { origin, pathname } = new URL(baseUrl);
  const root = pathname.replace(/\/+$/, '');
  const needs = documentationNeeds(origin);
  let document: string | undefined;
  router.get('/openapi.json', async (ctx) => {
    document ??= JSON.stringify(openApiDocument(routes, baseUrl));
    await send(ctx, 'application/json; charset=utf-8', document);
  });
  router.get('/docs', (ctx) => answerPage(ctx, 200, documentationPage(root), needs));
  router.get('/docs/errors', (ctx) => answerPage(ctx, 200, errorsPage(root), needs));
  router.get('/docs/assets/:name', async (ctx) => {
    const asset = assetNamed(ctx.params.name ?? '');
    if (asset !== undefined) await send(ctx, asset.type, asset.body);
  });
  return router;
}

/** Sends a file that changes with the service's version only: 304 for cached copies, compressed once. */
async function send(ctx: Context, type: string, body: string | Buffer): Promise<void> {
  const sha256 = hash('sha256', body).slice(0, 32);
  ctx.set('Cache-Control', 'public, no-cache');
  // Weak, because it is the same for every content coding.
  ctx.set('ETag', `W/"${sha256}"`);
  const isLong = body.length >= COMPRESSED_FROM && isCompressible(type, ctx.req);
  if (isLong) ctx.vary('Accept-Encoding');
  const known = ctx.get('If-None-Match').split(',');
  if (known.some((tag) => tag.trim().replace(/^W\//, '') === `"${sha256}"`)) {
    ctx.status = 304;
    return;
  }
  const coding = isLong ? codingFor(ctx) : undefined;
  ctx.type = type;
  ctx.body = coding === undefined ? body : await inCoding(body, sha256, coding);
  if (coding !== undefined) ctx.set('Content-Encoding', coding);
}

const inCodings = new Map<string, Promise<Buffer>>();

/** Returns a file in a coding, compressed at the first request. */
function inCoding(body: string | Buffer, sha256: string, coding: Coding): Promise<Buffer> {
  const key = `${coding} ${sha256}`;
  const made = inCodings.get(key) ?? compressed(body, coding);
  inCodings.set(key, made);
  return made;
}
