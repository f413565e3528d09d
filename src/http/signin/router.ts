/**
 * Serves `/signin`: signs people in at the installation's issuers, and signs them out (docs/spec/decisions.md, section 9,
 * "Relying party" and "Sessions").
 */
import Router from '@koa/router';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { SignInWish } from '#src/shared/access/session.ts';
import { SignInFault, type SignInFaultKind } from '#src/shared/access/sign-in-fault.ts';
import type { Texts } from '../pages/texts.ts';
import { chooseLanguage } from '../pages/texts.ts';
import type { SignIn } from '../ports/signin.ts';
import { Cookie } from './cookie.ts';
import { pageErrors, type RefusalOf } from './page-errors.ts';
import { chooserPage, failedPage, nobodyPage, signedInPage, signedOutPage, unknownPage } from './pages.ts';
import { answerPeople, type PeoplePage, pageLanguage } from './people-page.ts';
import { redirectTo } from './redirect.ts';
import { signInPath, type Visitors } from './visitors.ts';
import { HOME, parseWish } from './wish.ts';

/** How long the browser's secret is kept after the browser last began a sign-in, in seconds. */
const BROWSER_S = 3600;

const STATUS: Readonly<Record<SignInFaultKind, number>> = {
  not_begun: 400,
  denied: 403,
  away: 503,
  not_fresh: 403,
  refused: 400,
};

/** Dependencies of the routes. */
export interface SignInRoutes {
  readonly signIn: SignIn;
  readonly visitors: Visitors;
  readonly log: Logger;
  readonly refusalOf: RefusalOf;
}

/** Returns the routes. */
export function signInRouter({ signIn, visitors, log, refusalOf }: SignInRoutes): Router {
  const { baseUrl } = visitors;
  const below = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const browserCookie = new Cookie('annal_sign_in', baseUrl);
  const router = new Router();
  router.use(pageErrors(baseUrl, refusalOf));

  router.get('/signin', async (ctx) => {
    const { wish, issuer, sso } = parseWish(ctx.querystring);
    const [only, ...more] = signIn.issuers;
    if (sso !== undefined) await begin(ctx, '', wish, sso);
    else if (only === undefined) show(ctx, 503, nobodyPage);
    else if (issuer !== undefined || more.length === 0) await begin(ctx, issuer ?? only.key, wish);
    else {
      const choices = signIn.issuers.map(({ key, name }) => ({ name, url: below + signInPath(wish, key) }));
      show(ctx, 200, (say) => ({ ...chooserPage(say, choices), again: signInPath(wish) }));
    }
  });

  router.get('/signin/callback/:key', async (ctx) => {
    const key = ctx.params.key ?? '';
    try {
      const earlier = visitors.readSecret(ctx);
      const done = await signIn.complete(key, ctx.querystring, browserCookie.read(ctx), earlier);
      if (done === undefined) return show(ctx, 404, unknownPage);
      visitors.admit(ctx, done.secret);
      redirectTo(ctx, baseUrl + done.returnTo);
    } catch (error) {
      showFailed(ctx, key, error);
    }
  });

  router.get('/signin/out', async (ctx) => {
    const session = await visitors.findAnySession(ctx);
    const lang = pageLanguage(ctx);
    const again = below + signInPath({ returnTo: HOME, lang });
    show(ctx, 200, (say) =>
      session === undefined
        ? signedOutPage(say, again)
        : signedInPage(say, session, `${below}/signin/out?lang=${lang}`),
    );
  });

  router.post('/signin/out', async (ctx) => {
    const session = await visitors.findAnySession(ctx);
    if (session !== undefined) {
      await visitors.form(ctx, session);
      await visitors.dismiss(ctx);
    }
    redirectTo(ctx, `${baseUrl}/signin/out?lang=${pageLanguage(ctx)}`);
  });
  return router;

  /**
   * Begins a sign-in.
   * @param sso an organization's domain; its issuer is then used instead of the issuer for `key`
   */
  async function begin(ctx: Context, key: string, wish: SignInWish, sso?: string): Promise<void> {
    const browser = browserCookie.secret(ctx) ?? signIn.newSecret();
    try {
      const asked = { ...wish, lang: pageLanguage(ctx) };
      const url = await (sso === undefined
        ? signIn.begin(key, asked, browser)
        : signIn.beginSso(sso, asked, browser));
      if (url === undefined) return show(ctx, 404, unknownPage);
      browserCookie.set(ctx, browser, BROWSER_S);
      redirectTo(ctx, url);
    } catch (error) {
      showFailed(ctx, key, error);
    }
  }

  function showFailed(ctx: Context, key: string, error: unknown): void {
    if (!(error instanceof SignInFault)) throw error;
    const { kind, message, begun } = error;
    const issuer = signIn.issuers.find((each) => each.key === key);
    const name = issuer?.name ?? '';
    const request = String(ctx.state.requestId);
    log.warn({ request_id: request, issuer: name, kind, reason: message }, 'a sign-in failed');
    const lang = begun === undefined ? pageLanguage(ctx) : chooseLanguage(begun.lang);
    const wish = { returnTo: HOME, ...begun, lang };
    const again = below + signInPath(wish, begun && issuer?.key);
    if (kind === 'away') ctx.set('Retry-After', '10');
    answerPeople(ctx, { status: STATUS[kind], lang, baseUrl }, (say) =>
      failedPage(say, { kind, issuer: name, again, request }),
    );
  }

  function show(ctx: Context, status: number, make: (say: Texts) => PeoplePage): void {
    answerPeople(ctx, { status, lang: pageLanguage(ctx), baseUrl }, make);
  }
}
