/**
 * Serves `/oauth/logout`, the `end_session_endpoint`: ends a person's session here if an application requests it (OpenID
 * Connect RP-Initiated Logout 1.0; docs/spec/decisions.md, section 9, "Tokens and sessions").
 */
import Router from '@koa/router';
import type { Context } from 'koa';
import { formTarget } from '#src/oauth/authorization/response.ts';
import type { Client, FindClient } from '#src/oauth/clients.ts';
import type { IdTokenHint } from '#src/oauth/id-token-hint.ts';
import type { LogoutHints } from '#src/oauth/logout.ts';
import { readForm } from '../form-body.ts';
import type { Language, Texts } from '../pages/texts.ts';
import type { Freshness } from '../ports/freshness.ts';
import { FORM_TOKEN, requireFormToken, requireOwnOrigin } from '../signin/form-origin.ts';
import { pageErrors, type RefusalOf } from '../signin/page-errors.ts';
import { signedInPage, signedOutPage } from '../signin/pages.ts';
import { answerPeople, type PeoplePage, pageLanguage } from '../signin/people-page.ts';
import { redirectTo } from '../signin/redirect.ts';
import { signInPath, type Visitors } from '../signin/visitors.ts';
import { HOME } from '../signin/wish.ts';
import { readLang } from './authorize/parameters.ts';

/** The endpoint's path. */
export const LOGOUT_PATH = '/oauth/logout';

/** Parameters of a request; all others are ignored. */
const KNOWN = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state', 'lang', 'ui_locales'];
/** Maximum length of `state`, as in `/oauth/authorize`. */
const MAX_STATE = 512;

/** A parsed request from an application. */
interface LogoutRequest {
  /** Undefined if anything in the request is invalid. */
  readonly hint: IdTokenHint | undefined;
  /** Where the person is sent afterwards; undefined if the address isn't registered or the request is invalid. */
  readonly target: string | undefined;
}

/** Returns the routes. */
export function logoutRouter({
  visitors,
  hints,
  findClient,
  freshness,
  refusalOf,
}: {
  readonly visitors: Visitors;
  readonly hints: LogoutHints;
  readonly findClient: FindClient;
  readonly freshness: Freshness;
  readonly refusalOf: RefusalOf;
}): Router {
  const { baseUrl } = visitors;
  const below = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const router = new Router();
  router.use(pageErrors(baseUrl, refusalOf));

  router.get(LOGOUT_PATH, async (ctx) => {
    freshness.require(['projects', 'consents']);
    const parameters = new URLSearchParams(ctx.querystring);
    const { hint, target } = await readRequest(parameters);
    const session = await visitors.findAnySession(ctx);
    if (session === undefined) return finish(ctx, parameters, target);
    if (hint !== undefined && (await hints.isAbout(hint, session.person))) {
      await visitors.dismiss(ctx);
      return finish(ctx, parameters, target);
    }
    // Require proof that the application knows the person; otherwise any site could sign them out.
    const path = buildPath(parameters);
    show(ctx, chooseLanguage(ctx, parameters), (say) => {
      const page = signedInPage(say, session, below + path);
      const forms = ["'self'", ...(target === undefined ? [] : [formTarget(target)])];
      return { ...page, forms, again: path };
    });
  });

  router.post(LOGOUT_PATH, async (ctx) => {
    const form = await readForm(ctx);
    // The form comes from another site. In that case, browsers send the session cookie only with GET.
    if (!form.has(FORM_TOKEN)) {
      const parameters = new URLSearchParams([...new URLSearchParams(ctx.querystring), ...form]);
      return redirectTo(ctx, baseUrl + buildPath(parameters));
    }
    freshness.require(['projects', 'consents']);
    const session = await visitors.findAnySession(ctx);
    if (session !== undefined) {
      requireOwnOrigin(ctx, baseUrl);
      requireFormToken(form, session);
      await visitors.dismiss(ctx);
    }
    const parameters = new URLSearchParams(ctx.querystring);
    const { target } = await readRequest(parameters);
    finish(ctx, parameters, target);
  });
  return router;

  /**
   * Reads a request. If anything in it is invalid, the person isn't sent back to the application (RP-Initiated Logout 1.0,
   * section 4).
   */
  async function readRequest(parameters: URLSearchParams): Promise<LogoutRequest> {
    const one = (name: string): string | undefined => parameters.get(name) || undefined;
    const idToken = one('id_token_hint');
    const hint = idToken === undefined ? undefined : await hints.read(idToken);
    const repeats = KNOWN.some((name) => parameters.getAll(name).length > 1);
    const clientId = one('client_id') ?? hint?.clientId;
    const isWrong =
      repeats || (idToken !== undefined && hint === undefined) || (hint && hint.clientId !== clientId);
    if (isWrong) return { hint: undefined, target: undefined };
    const client = clientId === undefined ? undefined : await findClient(clientId);
    const uri = one('post_logout_redirect_uri');
    const target = client && uri ? findTarget(client, uri, one('state')) : undefined;
    return { hint, target };
  }

  /** Sends the person to the application, or shows that they are signed out. */
  function finish(ctx: Context, parameters: URLSearchParams, target: string | undefined): void {
    const lang = chooseLanguage(ctx, parameters);
    if (target !== undefined) redirectTo(ctx, target);
    else show(ctx, lang, (say) => signedOutPage(say, below + signInPath({ returnTo: HOME, lang })));
  }

  function show(ctx: Context, lang: Language, make: (say: Texts) => PeoplePage): void {
    answerPeople(ctx, { status: 200, lang, baseUrl }, make);
  }
}

/** Returns a registered address with `state` added; undefined if the address isn't registered. */
function findTarget(client: Client, uri: string, state: string | undefined): string | undefined {
  if (!client.postLogoutRedirectUris.includes(uri)) return undefined;
  if (state === undefined) return uri;
  if (state.length > MAX_STATE || !state.isWellFormed()) return undefined;
  return `${uri}${uri.includes('?') ? '&' : '?'}state=${encodeURIComponent(state)}`;
}

/** Returns a request's path and query, without ignored parameters. */
function buildPath(parameters: URLSearchParams): string {
  const own = [...parameters].filter(([name, value]) => KNOWN.includes(name) && value !== '');
  return own.length === 0 ? LOGOUT_PATH : `${LOGOUT_PATH}?${new URLSearchParams(own)}`;
}

function chooseLanguage(ctx: Context, parameters: URLSearchParams): Language {
  return pageLanguage(ctx, readLang([...parameters]) ?? null);
}
