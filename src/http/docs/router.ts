/**
 * `/openapi.json` and `/docs`: the documentation of every interface, without a credential (docs/spec/decisions.md,
 * section 2). All is made at the first request that needs it.
 */
import { hash } from 'node:crypto';
import Router from '@koa/router';
import type { Context } from 'koa';
import {
  COMPRESSED_FROM,
  type Coding,
  codingFor,
  compressed,
  isCompressible,
} from '../answer/compression.ts';
import { answerPage } from '../answer/security-headers.ts';
import type { Route } from '../api/route.ts';
import { openApiDocument } from '../openapi/document.ts';
import type { Part } from '../openapi/schemas.ts';
import { assetNamed } from './assets.ts';
import { documentationNeeds } from './frame.ts';
import { attachmentNamed, guideNamed } from './guides.ts';
import { DocumentationPages } from './pages.ts';
import { Reference } from './reference.ts';
import { openSearch } from './search.ts';

/**
 * Returns the routes.
 * @param routes of the JSON interfaces
 * @param baseUrl of the service, without a trailing slash
 */
export function documentationRouter(routes: readonly Route[], baseUrl: string): Router {
  const router = new Router();
  const needs = documentationNeeds(new URL(baseUrl).origin);
  const pages = new DocumentationPages(baseUrl);
  const document = once((): Part => openApiDocument(routes, baseUrl));
  const text = once(() => JSON.stringify(document()));
  const reference = once(() => new Reference(document()));
  const list = once(() => pages.list(reference()));
  const search = once(() => openSearch(reference().operations));
  const show = (ctx: Context, page: string): void => answerPage(ctx, 200, page, needs);

  router.get('/openapi.json', (ctx) => send(ctx, 'application/json; charset=utf-8', text()));
  router.get('/docs', (ctx) => show(ctx, list()));
  router.get('/docs/operations/:operation_id', (ctx) => {
    const operation = reference().operation(ctx.params.operation_id ?? '');
    if (operation !== undefined) show(ctx, pages.operation(operation, reference()));
  });
  router.get('/docs/errors', (ctx) => show(ctx, pages.errors()));
  router.get('/docs/search', async (ctx) => {
    const asked = (new URLSearchParams(ctx.querystring).get('q') ?? '').trim();
    show(ctx, pages.results(asked, (await search()).find(asked)));
  });
  const showGuide = async (ctx: Context): Promise<void> => {
    const { folder, guide } = ctx.params;
    const name = [folder ?? [], guide ?? []].flat().join('/');
    const found = guideNamed(name);
    if (found !== undefined) return show(ctx, pages.guide(found));
    const file = attachmentNamed(name);
    if (file !== undefined) await send(ctx, 'text/plain; charset=utf-8', file.text);
  };
  for (const path of ['/docs/guides', '/docs/guides/:guide', '/docs/guides/:folder/:guide'])
    router.get(path, showGuide);
  router.get('/docs/assets/:name', async (ctx) => {
    const asset = assetNamed(ctx.params.name ?? '');
    if (asset !== undefined) await send(ctx, asset.type, asset.body);
  });
  return router;
}

/** Returns a function that makes a value when it is first called. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
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
