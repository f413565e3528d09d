/**
 * `/openapi.json` and `/docs`: the documentation of every interface, without a credential (docs/spec/decisions.md,
 * section 2). All is made at the first request that needs it.
 */
import Router from '@koa/router';
import type { Context } from 'koa';
import { answerPage } from '../answer/security-headers.ts';
import { sendStatic } from '../answer/static-file.ts';
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

  router.get('/openapi.json', (ctx) => sendStatic(ctx, 'application/json; charset=utf-8', text()));
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
    if (file !== undefined) await sendStatic(ctx, 'text/plain; charset=utf-8', file.text);
  };
  for (const path of ['/docs/guides', '/docs/guides/:guide', '/docs/guides/:folder/:guide'])
    router.get(path, showGuide);
  router.get('/docs/assets/:name', async (ctx) => {
    const asset = assetNamed(ctx.params.name ?? '');
    if (asset !== undefined) await sendStatic(ctx, asset.type, asset.body);
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
