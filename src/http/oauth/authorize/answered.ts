/** Shows the page for a request that has already been decided, because somebody pressed a button twice or went back. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'koa';
import { readClientId } from '#src/oauth/authorization/request.ts';
import type { Session } from '#src/shared/access/session.ts';
import { html } from '#src/shared/html.ts';
import { answerPage } from '../../answer/security-headers.ts';
import { onwardPart } from '../../pages/onward.ts';
import { shellNeeds, shellPage } from '../../pages/shell.ts';
import { answerStop } from './fault-page.ts';
import { type AuthorizeDeps, readQueryParameter, sayIn } from './opened.ts';
import { readLang } from './parameters.ts';

/** How many times to check whether a decision has been carried out, and the pause between checks, in ms. */
const LOOKS = 50;
const LOOK_MS = 200;

/**
 * Answers a request that can't be decided. If the person has decided it in this session, answers with that decision; otherwise
 * with a page that says that the request is no longer open. If a person presses Allow twice, the browser drops the first
 * response, so the second request waits for the outcome of the first. A code is never issued twice.
 */
export async function answerClosed(
  { services, root }: AuthorizeDeps,
  ctx: Context,
  handle: string,
  session: Session | undefined,
): Promise<void> {
  const look = async () =>
    session === undefined ? undefined : services.pending.answered(handle, session.id);
  let found = await look();
  for (let n = 0; n < LOOKS && found?.outcome === null; n += 1) {
    await delay(LOOK_MS);
    found = await look();
  }
  const lang =
    readQueryParameter(ctx, 'lang') ?? (found === undefined ? undefined : readLang(found.parameters));
  const say = sayIn(lang);
  if (found === undefined || found.outcome === null)
    return answerStop(ctx, say, { status: 400, text: 'error.closed', root });
  const { outcome, parameters } = found;
  const client = await services.findClient(readClientId(parameters));
  const app = html`<bdi>${client?.name ?? readClientId(parameters)}</bdi>`;
  const text =
    outcome === 'allowed' ? say.html('answered.allowedtext', { app }) : html`${say('answered.deniedtext')}`;
  const page = shellPage({
    lang: say.lang,
    title: say(`answered.${outcome}`),
    body: html`<p>${text}</p>
${onwardPart(say, root, ['records'])}`,
    here: undefined,
  });
  answerPage(ctx, 409, page, shellNeeds());
}
