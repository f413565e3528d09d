/**
 * Sends the response to an authorization request to the application. It is sent in a redirect, or in a form on a page (OAuth
 * 2.0 Form Post Response Mode 1.0), which is submitted automatically or when the person presses a button.
 */
import type { Context } from 'koa';
import type { AnswerTo } from '#src/oauth/authorization/faults.ts';
import {
  answerParameters,
  formTarget,
  type Outcome,
  redirection,
} from '#src/oauth/authorization/response.ts';
import { Html, html } from '#src/shared/html.ts';
import { answerPage, inlineSource } from '../../answer/security-headers.ts';
import { shellNeeds, shellPage } from '../../pages/shell.ts';
import type { Texts } from '../../pages/texts.ts';
import { redirectTo } from '../../signin/redirect.ts';

/** A response, and the language of the page that delivers it. */
export interface ApplicationAnswer {
  readonly say: Texts;
  readonly answerTo: AnswerTo;
  readonly outcome: Outcome;
}

/** The script that submits the form on the page. The policy allows exactly this text to run. */
const SEND = 'document.forms[0].submit();';

/**
 * Sends the browser to the application with a response.
 * @param deps `baseUrl` is the issuer
 */
export function answerApplication(
  { baseUrl }: { readonly baseUrl: string },
  ctx: Context,
  { say, answerTo, outcome }: ApplicationAnswer,
): void {
  if (answerTo.mode === 'query') {
    redirectTo(ctx, redirection(answerTo, baseUrl, outcome));
    return;
  }
  const host = html`<bdi>${nameTarget(answerTo.redirectUri)}</bdi>`;
  const page = shellPage({
    lang: say.lang,
    title: say('answer.title'),
    body: html`<p>${say.html('answer.text', { host })}</p>
${renderForm(answerTo, answerParameters(answerTo, baseUrl, outcome), html`${say('error.continue')}`)}
<script>${new Html(SEND)}</script>`,
    here: undefined,
  });
  const needs = shellNeeds([formTarget(answerTo.redirectUri)]);
  // As with a redirect, the application doesn't learn which page sent the response.
  answerPage(ctx, 200, page, { ...needs, scripts: [inlineSource(SEND)], referrer: 'no-referrer' });
}

/**
 * Shows a fault in the application's request, and lets the person choose whether to continue to the application.
 * @param url shows the page again in another language
 */
export function offerReturn(
  { baseUrl }: { readonly baseUrl: string },
  ctx: Context,
  { say, answerTo, outcome }: ApplicationAnswer,
  url: string | undefined,
): void {
  const { redirectUri, mode } = answerTo;
  const host = html`<strong><bdi>${nameTarget(redirectUri)}</bdi></strong>`;
  // In a single element, because the spaces between the parts of a button get lost.
  const back = say.html('error.back', { host: html`<bdi>${nameTarget(redirectUri)}</bdi>` });
  const text = html`<span>${back}</span>`;
  const way =
    mode === 'query'
      ? html`<p class="actions"><a class="button second" href="${redirection(answerTo, baseUrl, outcome)}" rel="noreferrer">${text}</a></p>`
      : renderForm(answerTo, answerParameters(answerTo, baseUrl, outcome), text);
  const { error = '', error_description: detail = '' } = outcome;
  const body = html`<p role="alert">${say('error.request')}</p>
<p>${say.html('error.requestback', { host })}</p>
${way}
<p class="quiet small">${say('shell.detail')}<br><code lang="en" dir="ltr">${error}: ${detail}</code></p>`;
  const here = url === undefined ? undefined : { url, acceptLanguage: ctx.get('Accept-Language') };
  const page = shellPage({ lang: say.lang, title: say('shell.error'), body, here });
  const needs = shellNeeds(mode === 'query' ? undefined : [formTarget(redirectUri)]);
  answerPage(ctx, 400, page, { ...needs, referrer: 'no-referrer' });
}

/** Returns the destination of a response in a form that a person can recognize: the host, or an app's scheme. */
export function nameTarget(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return /^https?:$/.test(protocol) ? host : protocol.slice(0, -1);
}

/**
 * Returns the form that sends a response. Values are inserted unchanged, because `html` would replace invisible characters
 * with their names.
 */
function renderForm({ redirectUri }: AnswerTo, parameters: Outcome, button: Html): Html {
  const fields = Object.entries(parameters).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${unchanged(value)}">
`,
  );
  return html`<form method="post" action="${redirectUri}">
${fields}<p class="actions"><button class="button">${button}</button></p>
</form>`;
}

function unchanged(value: string): Html {
  return new Html(value.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`));
}
