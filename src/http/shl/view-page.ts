/**
 * Serves `/shl/view`, the page that opens SMART Health Links in any browser. The link comes after `#`, which browsers don't
 * send to any server; this service's scripts fetch, decrypt and show its content. The page contacts no other server unless the
 * reader confirms a link that another server hosts. In that case, the page's policy names that server.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Context } from 'koa';
import { html } from '#src/shared/html.ts';
import { isLoopback } from '#src/shared/loopback.ts';
import { isSourceHost } from '#src/shared/source-host.ts';
import type { Answer } from '../answer/answer.ts';
import { makePage } from '../answer/security-headers.ts';
import { nothingThere, openRoute } from '../api/open-route.ts';
import { shellNeeds, shellPage } from '../pages/shell.ts';
import { type Language, pickWords, texts } from '../pages/texts.ts';
import { pageLanguage } from '../signin/people-page.ts';

/**
 * Maximum number of other servers that one page may contact, such as the manifest's server and the server of one of its files.
 */
const MOST_ORIGINS = 3;

const FOLDER = new URL('./viewer/', import.meta.url);

/** A file that the page loads: its media type, and the function that produces its content. */
interface PageFile {
  readonly type: string;
  readonly make: () => Promise<string | Buffer>;
}

const FILES: ReadonlyMap<string, PageFile> = new Map([
  ['main.js', { type: 'text/javascript; charset=utf-8', make: bundleScript }],
  ['viewer.css', { type: 'text/css; charset=utf-8', make: () => readFile(new URL('viewer.css', FOLDER)) }],
]);

const made = new Map<string, Promise<string | Buffer>>();

/** Returns the page's script as a single file, including the parts of the clinical reading that it uses to show records. */
async function bundleScript(): Promise<string> {
  const { build, stop } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('main.ts', FOLDER))],
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

/** Returns a file's content, which is produced only once. After a failure, the next request tries again. */
function readContent(name: string, { make }: PageFile): Promise<string | Buffer> {
  const content = made.get(name) ?? make();
  made.set(name, content);
  content.catch(() => made.delete(name));
  return content;
}

const BROWSERS_ONLY = { method: 'GET', tag: 'Patients and consent', answers: {}, unlisted: true } as const;

/** The routes. */
export const VIEW_ROUTES = [
  openRoute({
    ...BROWSERS_ONLY,
    path: '/shl/view',
    operationId: 'viewSharedLink',
    summary: 'The page',
    description: 'Opens a link in a browser.',
    run: ({ ctx, service, query }) =>
      answerView(ctx, query, new URL(service.baseUrl).pathname.replace(/\/+$/, '')),
  }),
  openRoute({
    ...BROWSERS_ONLY,
    path: '/shl/view/{name}',
    operationId: 'getViewerFile',
    summary: 'A file of the page',
    description: 'Its script and styles.',
    async run({ params: { name } }) {
      const file = FILES.get(name);
      if (file === undefined) throw nothingThere('the page loads no such file');
      const headers = { 'Content-Type': file.type, 'Cross-Origin-Resource-Policy': 'same-origin' };
      return { status: 200, headers, body: await readContent(name, file) };
    },
  }),
];

/** Returns the texts that the page's script uses. */
function viewerWords(lang: Language): Readonly<Record<string, string>> {
  const parts = ['shl.', 'known.', 'past.', 'days.until', 'record.d', 'result.'];
  const elements = [
    ...['medication', 'dosage', 'status', 'certainty', 'risk', 'reaction', 'description', 'severity', 'site'],
    ...['vaccine', 'value'],
  ].map((name) => `element.${name}`);
  return Object.assign({}, ...[...parts, ...elements].map((prefix) => pickWords(lang, prefix)));
}

function answerView(ctx: Context, query: URLSearchParams, root: string): Answer {
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
  const page = makePage(ctx, shellPage({ lang, title: say('shl.title'), heading: null, body, here }), {
    ...needs,
    styles: [...(needs.styles ?? []), "'self'"],
    scripts: ["'self'"],
    connections: ["'self'", ...origins],
    referrer: 'no-referrer',
  });
  return query.has('lang') ? page : { ...page, headers: { ...page.headers, Vary: 'Accept-Language' } };
}

/**
 * Returns the other servers that the page may contact once the reader confirms them; they must use https or be on this
 * machine. The page's script contacts none of them before the reader clicks, because anyone can put these parameters in a
 * link.
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
