/** The page that a person reads where a program would get the JSON of an error. */
import type { Context } from 'koa';
import { html } from '#src/shared/html.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import { pageHeaders } from '../answer/security-headers.ts';
import { isPage } from '../page-paths.ts';
import { onwardPart, urlAgain, type Way } from './onward.ts';
import { shellNeeds, shellPage } from './shell.ts';
import { chooseLanguage, languagesFor, type Texts, texts } from './texts.ts';

/** The texts of pages. The texts of all other kinds are for programs: see `error.programs`. */
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

/** Kinds that the same request may not meet a moment later. */
const PASSING: ReadonlySet<Refusal['kind']> = new Set(['throttled', 'unavailable', 'internal']);

/**
 * Returns the page for a browser, which prefers HTML to JSON; undefined for programs.
 * @param baseUrl of the service, without a slash at its end
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
 * Tells whether a person reads the answer. A program that asks an interface only for HTML gets an error that says that
 * there is none.
 */
function isForPerson(ctx: Context, { kind }: Refusal): boolean {
  if (kind === 'not_acceptable') return false;
  if (!isPage(ctx.path) && ctx.method !== 'GET' && ctx.method !== 'HEAD') return false;
  return ctx.accepts('application/json', 'application/fhir+json', 'text/html') === 'text/html';
}

/** Paths for the people who write programs. */
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
