/** The page that a person reads where a program would get the JSON of an error. */
import type { Context } from 'koa';
import { html } from '#src/shared/html.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer.ts';
import { isPage } from '../page-paths.ts';
import { pageHeaders } from '../security-headers.ts';
import { shellNeeds, shellPage } from './shell.ts';
import { languageOf, languagesFor, texts } from './texts.ts';

/** Refusals that come before a page's own answers, or that it doesn't answer. */
const TEXTS = {
  throttled: 'error.many',
  unavailable: 'error.service',
  internal: 'error.service',
} as const satisfies Partial<Record<Refusal['kind'], string>>;

/** Returns the page for a browser that asked for one; undefined for other requests and other refusals. */
export function refusalPage(ctx: Context, { kind, status, headers }: Refusal): Answer | undefined {
  if (!isPage(ctx.path) || !ctx.get('Accept').includes('text/html')) return undefined;
  if (kind !== 'throttled' && kind !== 'unavailable' && kind !== 'internal') return undefined;
  const asked = new URLSearchParams(ctx.querystring).get('lang');
  const [preferred] = languagesFor(ctx.get('Accept-Language'));
  const say = texts(asked === null ? (preferred ?? 'en') : languageOf(asked));
  const body = html`<p role="alert">${say(TEXTS[kind])}</p>
<p class="quiet small">${say('shell.number', { request: String(ctx.state.requestId) })}</p>`;
  return {
    status,
    headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers, ...pageHeaders(shellNeeds()) },
    body: shellPage({ lang: say.lang, title: say('shell.error'), body, here: undefined }),
  };
}
