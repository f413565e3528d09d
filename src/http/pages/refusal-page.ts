/** Renders the page that a person sees in cases where a program would get an error as JSON. */
import type { Context } from 'koa';
import { html } from '#src/shared/html.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import { pageHeaders } from '../answer/security-headers.ts';
import { isPage } from '../page-paths.ts';
import { onwardPart, urlAgain, type Way } from './onward.ts';
import { shellNeeds, shellPage } from './shell.ts';
import { chooseLanguage, languagesFor, type Texts, texts } from './texts.ts';

/** The page texts for these kinds of refusals. Messages of all other kinds are written for programs: see `error.programs`. */
const TEXTS = {
  not_found: { title: 'signin.unknown', text: 'signin.unknowntext' },
  gone: { title: 'signin.unknown', text: 'signin.unknowntext' },
  throttled: { title: 'shell.error', text: 'error.many' },
  unavailable: { title: 'shell.error', text: 'error.service' },
  internal: { title: 'shell.error', text: 'error.service' },
} as const satisfies Partial<Record<Refusal['kind'], object>>;

function hasText(kind: Refusal['kind']): kind is keyof typeof TEXTS {
  return Object.hasOwn(TEXTS, kind);
}

/** Kinds of refusals that may not occur again if the same request is sent a moment later. */
const PASSING: ReadonlySet<Refusal['kind']> = new Set(['throttled', 'unavailable', 'internal']);

/**
 * Returns the page for a browser, which is a client that prefers HTML to JSON; undefined for programs.
 * @param baseUrl the service's URL, without a trailing slash
 */
export function refusalPage(ctx: Context, refusal: Refusal, baseUrl: string): Answer | undefined {
  if (!isForPerson(ctx, refusal)) return undefined;
  const { kind, status, headers } = refusal;
  const asked = new URLSearchParams(ctx.querystring).get('lang');
  const [preferred] = languagesFor(ctx.get('Accept-Language'));
  const say = texts(asked === null ? (preferred ?? 'en') : chooseLanguage(asked));
  const { title, text } = hasText(kind)
    ? TEXTS[kind]
    : ({ title: 'shell.error', text: 'error.programs' } as const);
  const root = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const detail = !hasText(kind)
    ? html`<p class="quiet small">${say('shell.detail')}<br><code lang="en" dir="ltr">${refusal.message}</code></p>
`
    : html``;
  const body = html`<p role="alert">${say(text)}</p>
${detail}<p class="quiet small">${say('shell.number', { request: String(ctx.state.requestId) })}</p>
${onwardPart(say, root, waysFrom(ctx, refusal, say, root))}`;
  const isShownAgain = ctx.method === 'GET' || ctx.method === 'HEAD';
  const here = isShownAgain
    ? { url: urlAgain(ctx, root), acceptLanguage: ctx.get('Accept-Language') }
    : undefined;
  const vary = asked === null ? 'Accept, Accept-Language' : 'Accept';
  return {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      ...headers,
      ...pageHeaders(shellNeeds()),
      Vary: vary,
    },
    body: shellPage({ lang: say.lang, title: say(title), body, here }),
  };
}

/**
 * Returns whether a person will read the response. A program that requests only HTML from an interface gets an error saying
 * that HTML isn't available.
 */
function isForPerson(ctx: Context, { kind }: Refusal): boolean {
  if (kind === 'not_acceptable') return false;
  if (!isPage(ctx.path) && ctx.method !== 'GET' && ctx.method !== 'HEAD') return false;
  return ctx.accepts('application/json', 'application/fhir+json', 'text/html') === 'text/html';
}

/** Paths for people who write programs. */
const FOR_DEVELOPERS = /^\/(?:docs|fhir|v1|admin|me|webhooks|openapi\.json|dev|health|metrics)(?:\/|$)/i;

function waysFrom(ctx: Context, { kind }: Refusal, say: Texts, root: string): readonly Way[] {
  const retry: readonly Way[] =
    PASSING.has(kind) && ctx.method !== 'POST'
      ? [{ url: urlAgain(ctx, root), text: say('signin.again') }]
      : [];
  return [
    ...retry,
    ...(FOR_DEVELOPERS.test(ctx.path)
      ? (['docs', 'records', 'start'] as const)
      : (['records', 'start'] as const)),
  ];
}
