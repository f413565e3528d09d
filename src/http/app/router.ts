/**
 * Serves `/app`, the dashboard for developers. All of its paths return the same page, whose script shows the screens and calls
 * the interfaces through the gateway `/app/api` (docs/gateway.md). Visitors who aren't signed in are sent to sign in, and then
 * back again.
 */
import { hash } from 'node:crypto';
import Router from '@koa/router';
import { isOwnPath } from '#src/shared/access/session.ts';
import { html } from '#src/shared/html.ts';
import { answerPage, inlineSource, type PageNeeds } from '../answer/security-headers.ts';
import { makeStaticFile } from '../answer/static-file.ts';
import { STYLE } from '../pages/style.ts';
import type { Visitors } from '../signin/visitors.ts';
import { VERSION } from '../version.ts';
import { type DashboardFiles, dashboardFiles } from './bundle.ts';

const NEEDS: PageNeeds = {
  scripts: ["'self'"],
  // Frames that preview the consent page use that page's style, and this policy applies to them too.
  styles: ["'self'", inlineSource(STYLE)],
  // A record's documents (images and PDF files) are shown in the page, from memory.
  images: ["'self'", 'data:', 'blob:'],
  frames: ['blob:'],
  connections: ["'self'"],
  referrer: 'same-origin',
};

const FILES = [
  { of: 'script', extension: 'js', type: 'text/javascript; charset=utf-8' },
  { of: 'style', extension: 'css', type: 'text/css; charset=utf-8' },
] as const;

/** How long after startup the build of the bundle begins, in ms. */
const AFTER_START_MS = 5_000;

/** Matches the paths of all screens. The gateway's paths are excluded, because it responds differently to unknown paths. */
const SCREENS = /^\/app(?!\/api(?:\/|$))(?:\/|$)/i;

/** Returns the routes. */
export function dashboardRouter(
  visitors: Pick<Visitors, 'findAnySession' | 'beginSignIn' | 'baseUrl'>,
): Router {
  const base = new URL(visitors.baseUrl).pathname.replace(/\/+$/, '');
  const router = new Router();
  // Neither the first visitor nor the first API requests should have to wait for the build. If it fails now, the first request
  // for it tries again and reports the error.
  setTimeout(() => void dashboardFiles().catch(() => undefined), AFTER_START_MS).unref();

  router.get('/app/assets/:name', async (ctx) => {
    const files = await dashboardFiles();
    const { name } = ctx.params;
    const found = FILES.find(({ of, extension }) => name === nameOf(files[of], extension));
    if (found === undefined) return;
    const { status, headers, body } = await makeStaticFile(ctx, found.type, files[found.of]);
    ctx.status = status;
    ctx.set(headers as Record<string, string>);
    // The name changes whenever the content does.
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    if (body !== undefined) ctx.body = body;
  });

  router.get(SCREENS, async (ctx) => {
    const asked = ctx.path + ctx.search;
    if ((await visitors.findAnySession(ctx)) === undefined)
      visitors.beginSignIn(ctx, { returnTo: isOwnPath(asked) ? asked : '/app' });
    else answerPage(ctx, 200, makePage(base, await dashboardFiles()), NEEDS);
  });
  return router;
}

/** Returns the name under which a file with this content is served. */
function nameOf(content: Buffer, extension: string): string {
  return `${hash('sha256', content).slice(0, 20)}.${extension}`;
}

/** Returns the page. It contains nothing about the visitor. */
function makePage(base: string, { script, style }: DashboardFiles): string {
  const assets = `${base}/app/assets`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Annal</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}/${nameOf(style, 'css')}">
<script type="module" src="${assets}/${nameOf(script, 'js')}"></script>
</head>
<body>
<div id="app" data-base="${base}" data-version="${VERSION}"><noscript>The dashboard needs JavaScript. Everything that it does is also in the interfaces: <a href="${base}/docs">documentation</a>.</noscript></div>
</body>
</html>
`.text;
}
