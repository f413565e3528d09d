/**
 * `/shl/view`: the page that opens SMART Health Links in any browser. The link is behind `#`, which browsers send to
 * nobody; scripts of this service fetch, decrypt and show what it has. The page asks no other server, unless the reader
 * confirms a link that another server keeps: then its policy names that one.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import Router from '@koa/router';
import type { Context } from 'koa';
import { html } from '#src/shared/html.ts';
import { isLoopback } from '#src/shared/loopback.ts';
import { isSourceHost } from '#src/shared/source-host.ts';
import { answerPage } from '../answer/security-headers.ts';
import { shellNeeds, shellPage } from '../pages/shell.ts';
import { type Language, pickWords, texts } from '../pages/texts.ts';
import { pageLanguage } from '../signin/people-page.ts';

/** Other servers that one page may ask: that of the manifest, and one of its files. */
const MOST_ORIGINS = 3;

const FOLDER = new URL('./viewer/', import.meta.url);

/** A file that the page loads: its media type, and the function that makes its content. */
interface PageFile {
  readonly type: string;
  readonly make: () => Promise<string | Buffer>;
}

const FILES: ReadonlyMap<string, PageFile> = new Map([
  ['main.js', { type: 'text/javascript; charset=utf-8', make: bundleScript }],
  ['viewer.css', { type: 'text/css; charset=utf-8', make: () => readFile(new URL('viewer.css', FOLDER)) }],
]);

const made = new Map<string, Promise<string | Buffer>>();

/** Returns the page's script in one file, with the parts of the clinical reading that it shows records by. */
async function bundleScript(): Promise<string> {
  const { build, stop } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('main.js', FOLDER))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    minify: true,
    legalComments: 'none',
    logLevel: 'silent',
  });
  await stop(); // Its process isn't needed again.
  return outputFiles.map(({ text }) => text).join('');
}

/** Returns a file's content, which is made once; after a fault the next request tries again. */
function readContent(name: string, { make }: PageFile): Promise<string | Buffer> {
  const content = made.get(name) ?? make();
  made.set(name, content);
  content.catch(() => made.delete(name));
  return content;
}

/** Returns the routes. @param baseUrl of the service, without a slash at its end */
export function viewPageRouter(baseUrl: string): Router {
  const root = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const router = new Router();
  router.get('/shl/view', (ctx) => answerView(ctx, root));
  router.get('/shl/view/:name', async (ctx) => {
    const { name = '' } = ctx.params;
    const file = FILES.get(name);
    if (file === undefined) return;
    ctx.body = await readContent(name, file);
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    ctx.type = file.type;
  });
  return router;
}

/** Returns the texts that the page's script has words from. */
function viewerWords(lang: Language): Readonly<Record<string, string>> {
  const parts = ['shl.', 'known.', 'past.', 'days.until', 'record.d', 'result.'];
  return Object.assign({}, ...parts.map((prefix) => pickWords(lang, prefix)));
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
<div id="viewer" data-texts="${JSON.stringify(viewerWords(lang))}"></div>
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
 * Returns the other servers that the page may ask once the reader confirms them: https, or this machine. The page's
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
