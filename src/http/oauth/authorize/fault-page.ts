/** Shows pages for requests that can't continue. They tell people what happened, and developers what to change. */
import type { Context } from 'koa';
import type { PageFault } from '#src/oauth/authorization/faults.ts';
import { type Html, html } from '#src/shared/html.ts';
import { answerPage } from '../../answer/security-headers.ts';
import { onwardPart, type Way } from '../../pages/onward.ts';
import { shellNeeds, shellPage } from '../../pages/shell.ts';
import type { Texts } from '../../pages/texts.ts';

/** Where a page is: `url` shows the page again in another language, and `root` is the service's path on its host. */
interface Place {
  readonly url: string | undefined;
  readonly root: string;
}

/** Responds with the page for a fault in the request itself. */
export function answerPageFault(ctx: Context, say: Texts, fault: PageFault, { url, root }: Place): void {
  const { kind, status, detail, parameter } = fault;
  const code = html`<code dir="ltr">${parameter ?? ''}</code>`;
  const text =
    kind === 'parameter' ? say.html('error.parameter', { parameter: code }) : html`${say(`error.${kind}`)}`;
  const developers = html`<p class="quiet small">${say('shell.detail')}<br><code lang="en" dir="ltr">${detail}</code></p>`;
  answerFault(ctx, say, {
    status,
    body: html`<p role="alert">${text}</p>
${developers}
${onwardPart(say, root, ['records', 'start'])}`,
    url,
  });
}

/** A reason why a person can't continue, with a link if there is a way forward. */
export interface Stop {
  readonly status: number;
  readonly text: 'error.closed' | 'error.form' | 'error.signedout' | 'error.service';
  /** Where the person can continue, as received from the browser. */
  readonly next?: string | undefined;
  /** The service's path on its host, without a trailing slash. */
  readonly root: string;
}

/** Responds with the page that tells a person why they can't continue. */
export function answerStop(ctx: Context, say: Texts, { status, text, next, root }: Stop): void {
  const ways: readonly Way[] = next === undefined ? [] : [{ url: next, text: say('error.continue') }];
  answerFault(ctx, say, {
    status,
    body: html`<p role="alert">${say(text)}</p>
${onwardPart(say, root, [...ways, 'records'])}`,
    url: next,
  });
}

function answerFault(
  ctx: Context,
  say: Texts,
  { status, body, url }: { readonly status: number; readonly body: Html; readonly url: string | undefined },
): void {
  const here = url === undefined ? undefined : { url, acceptLanguage: ctx.get('Accept-Language') };
  answerPage(ctx, status, shellPage({ lang: say.lang, title: say('shell.error'), body, here }), shellNeeds());
}
