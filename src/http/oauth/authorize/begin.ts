/** Accepts an authorization request and shows it to the person, after they have signed in. */
import type { Context } from 'koa';
import { ownParameters } from '#src/oauth/authorization/request.ts';
import { redirectTo } from '../../signin/redirect.ts';
import { answerApplication } from './answer.ts';
import { answerClosed } from './answered.ts';
import { firstChoice } from './choice.ts';
import { waitsForSignIn } from './find-asker.ts';
import {
  type AuthorizeDeps,
  checkBeforeSignIn,
  checkRequest,
  consentPath,
  makeOffer,
  readQueryParameter,
  sayIn,
  showConsent,
} from './opened.ts';
import { readLang, readParameters } from './parameters.ts';
import { isFresh, silently } from './silent.ts';

/**
 * How long the browser keeps the cookie that binds waiting requests to it, in seconds. This is also how long a request can
 * wait.
 */
const BROWSER_S = 3600;

/** Handles `/oauth/authorize`: checks a request, stores it, and shows it. */
export async function begin(deps: AuthorizeDeps, ctx: Context): Promise<void> {
  const { services, visitors, baseUrl } = deps;
  const parameters = await readParameters(ctx);
  const say = sayIn(readLang(parameters));
  if (waitsForSignIn(parameters)) {
    if (!(await checkBeforeSignIn(deps, ctx, parameters, say))) return;
    const handle = await services.pending.save(ownParameters(parameters));
    return redirectTo(ctx, baseUrl + consentPath(handle, say.lang));
  }
  const opened = await checkRequest(deps, ctx, parameters, say);
  if (opened === undefined) return;
  const { request } = opened;
  if (request.prompt.has('none'))
    return answerApplication(deps, ctx, {
      say,
      answerTo: request,
      outcome: await silently(services, opened, await visitors.findSession(ctx)),
    });
  const handle = await services.pending.save(ownParameters(parameters));
  // Cookies belong to BASE_URL's host, and browsers don't send them with a form from another site.
  if (ctx.method === 'POST' || ctx.host !== new URL(baseUrl).host)
    return redirectTo(ctx, baseUrl + consentPath(handle, say.lang));
  await show(deps, ctx, handle);
}

/** Shows a waiting request. People who aren't signed in, or not recently enough, must sign in first. */
export async function show(deps: AuthorizeDeps, ctx: Context, handle: string): Promise<void> {
  const { services, visitors, cookie, newSecret } = deps;
  const session = await visitors.findSession(ctx);
  const browser = cookie.secret(ctx) ?? newSecret();
  const pending = await services.pending.open(handle, { browser, session: session?.id });
  if (pending === undefined) return answerClosed(deps, ctx, handle, session);
  if (session !== undefined) cookie.set(ctx, browser, BROWSER_S);
  const say = sayIn(readQueryParameter(ctx, 'lang') ?? readLang(pending.parameters));
  if (session === undefined && waitsForSignIn(pending.parameters))
    return visitors.beginSignIn(ctx, { returnTo: consentPath(handle, say.lang), lang: say.lang });
  const opened = await checkRequest(deps, ctx, pending.parameters, say);
  if (opened === undefined) return;
  const { prompt, maxAge, loginHint } = opened.request;
  const wantsOther = readQueryParameter(ctx, 'account') === 'other';
  if (session === undefined || wantsOther || !isFresh(session, opened.request, pending.createdAt)) {
    const selects = wantsOther || prompt.has('select_account');
    return visitors.beginSignIn(ctx, {
      returnTo: consentPath(handle, say.lang),
      prompt: selects ? 'select_account' : prompt.has('login') ? 'login' : undefined,
      maxAge,
      loginHint: wantsOther ? undefined : loginHint,
      lang: say.lang,
    });
  }
  const offer = await makeOffer(deps, opened, session, say);
  const choice = firstChoice(offer, session.person.name);
  showConsent(deps, ctx, say, { ...opened, session, handle, offer }, { status: 200, choice, faults: [] });
}
