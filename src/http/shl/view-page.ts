/**
 * `/shl/view`: the page that opens SMART Health Links in any browser. The link is behind `#`, which browsers send to
 * nobody; scripts of this service fetch, decrypt and show what it has. The page asks no other server, unless the reader
 * goes on with a link that another server keeps: then its policy names that one.
 */
import { readFileSync } from 'node:fs';
import Router from '@koa/router';
import type { Context } from 'koa';
import { html } from '#src/shared/html.ts';
import { isLoopback } from '#src/shared/loopback.ts';
import { isSourceHost } from '#src/shared/source-host.ts';
import { shellNeeds, shellPage } from '../pages/shell.ts';
import { texts, wordsOf } from '../pages/texts.ts';
import { answerPage } from '../security-headers.ts';
import { pageLanguage } from '../signin/people-page.ts';

/** Other servers that one page may ask: that of the manifest, and one of its files. */
const MOST_ORIGINS = 3;

const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** Files that the page loads, with their media types. */
const FILES: Readonly<Record<string, string>> = {
  'main.js': JAVASCRIPT,
  'link.js': JAVASCRIPT,
  'record.js': JAVASCRIPT,
  'show.js': JAVASCRIPT,
  'units.js': JAVASCRIPT,
  'viewer.css': 'text/css; charset=utf-8',
};

const read = new Map<string, Buffer>();

/** Returns the routes. @param baseUrl of the service, without a slash at its end */
export function viewPageRouter(baseUrl: string): Router {
  const root = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const router = new Router();
  router.get('/shl/view', (ctx) => answerView(ctx, root));
  router.get('/shl/view/:name', (ctx) => {
    const { name = '' } = ctx.params;
    const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
    if (type === undefined) return;
    const body = read.get(name) ?? readFileSync(new URL(`./viewer/${name}`, import.meta.url));
    read.set(name, body);
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    ctx.body = body;
    ctx.type = type;
  });
  return router;
}

function answerView(ctx: Context, root: string): void {
  const query = new URLSearchParams(ctx.querystring);
  const lang = pageLanguage(ctx);
  const say = texts(lang);
  const origins = originsIn(query);
  const kept = new URLSearchParams(origins.map((origin) => ['from', origin]));
  const here = {
    url: `${root}/shl/view${origins.length === 0 ? '' : `?${kept}`}`,
    acceptLanguage: ctx.get('Accept-Language'),
  };
  const body = html`<link rel="stylesheet" href="${root}/shl/view/viewer.css">
<noscript><h1>${say('shl.title')}</h1><p class="note warn">${say('shl.noscript')}</p></noscript>
<div id="viewer" data-texts="${JSON.stringify({ ...wordsOf(lang, 'shl.'), ...wordsOf(lang, 'state.') })}"></div>
<script type="module" src="${root}/shl/view/main.js"></script>`;
  const needs = shellNeeds();
  answerPage(ctx, 200, shellPage({ lang, title: say('shl.title'), heading: null, body, here }), {
    ...needs,
    styles: [...(needs.styles ?? []), "'self'"],
    scripts: ["'self'"],
    connections: ["'self'", ...origins],
    referrer: 'no-referrer',
  });
  if (!query.has('lang')) ctx.vary('Accept-Language');
}

/**
 * Returns the other servers that the page may ask once the reader goes on with them: https, or this machine. The page's
 * script asks none of them before the reader's click, because anyone can write these parameters into a link.
 */
function originsIn(query: URLSearchParams): string[] {
  const origins = query.getAll('from').filter((text) => {
    if (!URL.canParse(text)) return false;
    const url = new URL(text);
    return (
      url.origin === text &&
      isSourceHost(url.hostname) &&
      (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))
    );
  });
  return [...new Set(origins)].slice(0, MOST_ORIGINS);
}
