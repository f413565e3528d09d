/** Handles an authorization request that a person can decide: checks it again at every step, and shows it. */
import type { Context } from 'koa';
import type { Logger } from 'pino';
import { PageFault, RedirectFault } from '#src/oauth/authorization/faults.ts';
import {
  type AuthorizationRequest,
  isTooLong,
  type Parameters,
  readAuthorizationRequest,
  readClientId,
} from '#src/oauth/authorization/request.ts';
import { formTarget } from '#src/oauth/authorization/response.ts';
import type { Session } from '#src/shared/access/session.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import { answerPage } from '../../answer/security-headers.ts';
import { urlAgain } from '../../pages/onward.ts';
import { shellNeeds } from '../../pages/shell.ts';
import { chooseLanguage, type Texts, texts } from '../../pages/texts.ts';
import type { AskingClient, AuthorizeServices } from '../../ports/authorize.ts';
import type { Cookie } from '../../signin/cookie.ts';
import type { Visitors } from '../../signin/visitors.ts';
import { answerApplication, offerReturn } from './answer.ts';
import { type Choice, type FaultyField, grantDays, type Offer } from './choice.ts';
import { consentPage } from './consent-page.ts';
import { answerPageFault } from './fault-page.ts';
import { findAsker } from './find-asker.ts';
import { itemSentences } from './sentences.ts';

/** Dependencies of the authorization routes. */
export interface AuthorizeDeps {
  readonly services: AuthorizeServices;
  readonly visitors: Pick<Visitors, 'findSession' | 'beginSignIn'>;
  /** Without a trailing slash; it is also the issuer. */
  readonly baseUrl: string;
  /** Path of `baseUrl`, without a trailing slash. */
  readonly root: string;
  /** Binds waiting requests to a browser. */
  readonly cookie: Cookie;
  /** Returns a new secret for the cookie. */
  readonly newSecret: () => string;
  readonly refusalOf: (error: unknown) => Refusal | undefined;
  readonly log: Logger;
}

/** A request that can be decided. */
export interface Opened {
  readonly client: AskingClient;
  readonly request: AuthorizationRequest;
}

/** A request shown on a person's page. */
export interface Shown extends Opened {
  readonly session: Session;
  readonly handle: string;
  readonly offer: Offer;
}

/** Returns a page's texts in the language that `lang` names. */
export function sayIn(lang: string | null | undefined): Texts {
  return texts(chooseLanguage(lang));
}

/** Returns the first value of a query parameter. */
export function readQueryParameter(ctx: Context, name: string): string | undefined {
  return new URLSearchParams(ctx.querystring).get(name) ?? undefined;
}

/** Returns the consent page's path and query, below BASE_URL. */
export function consentPath(handle: string, lang: string): string {
  return `/oauth/consent?${new URLSearchParams({ request: handle, lang })}`;
}

/**
 * Returns a request if it can be decided; otherwise responds to it. A faulty request is reported to the application at once if
 * the person is signed in here or if the request must be answered without a page. In all other cases, anyone could use a link
 * to this service to redirect strangers, so a page first says where the link leads (RFC 9700, section 4.11.2).
 */
export async function checkRequest(
  deps: AuthorizeDeps,
  ctx: Context,
  parameters: Parameters,
  say: Texts,
): Promise<Opened | undefined> {
  const { services, visitors, baseUrl } = deps;
  return orAnswer(deps, ctx, say, async () => {
    const client = await findAsker(services, parameters, () => visitors.findSession(ctx));
    const request = readAuthorizationRequest(parameters, client, baseUrl);
    return client === undefined ? undefined : { client, request };
  });
}

/**
 * Checks a guest's request as far as possible before the person has signed in; see `waitsForSignIn`.
 * @returns whether the request can wait for the sign-in; otherwise the response has been sent
 */
export async function checkBeforeSignIn(
  deps: AuthorizeDeps,
  ctx: Context,
  parameters: Parameters,
  say: Texts,
): Promise<boolean> {
  const checked = await orAnswer(deps, ctx, say, async () => {
    if (isTooLong(parameters)) throw new PageFault('guest', 400, 'the request is too long');
    await deps.services.guests.check(readClientId(parameters));
    return true;
  });
  return checked === true;
}

/** Returns the result of a check. If the check fails, responds to the request. */
async function orAnswer<T>(
  deps: AuthorizeDeps,
  ctx: Context,
  say: Texts,
  check: () => Promise<T>,
): Promise<T | undefined> {
  const { visitors, root } = deps;
  const url = ctx.method === 'POST' ? undefined : urlAgain(ctx, root);
  try {
    return await check();
  } catch (error) {
    if (error instanceof RedirectFault) {
      const { error: code, description } = error.error;
      const outcome = { error: code, error_description: description };
      const answer = { say, answerTo: error.answerTo, outcome };
      const isKnown = error.silent || (await visitors.findSession(ctx)) !== undefined;
      if (isKnown) answerApplication(deps, ctx, answer);
      else offerReturn(deps, ctx, answer, url);
    } else if (error instanceof PageFault) {
      answerPageFault(ctx, say, error, { url, root });
    } else throw error;
    return undefined;
  }
}

/** Returns what a person can currently choose from. */
export async function makeOffer(
  { services }: AuthorizeDeps,
  { client, request }: Opened,
  { person }: Session,
  say: Texts,
): Promise<Offer> {
  const records = await services.recordsFor(person, client, request.patient);
  const own = records.every(({ relationship }) => relationship === 'self');
  return {
    records,
    asksOther: request.patient !== undefined && !records.some(({ isMeant }) => isMeant),
    mayStart: records.every(({ via }) => via !== 'own'),
    items: itemSentences(say, request.scopes, own),
    days: grantDays(client),
    scopes: request.scopes,
  };
}

/** Responds with the consent page. */
export function showConsent(
  { root }: AuthorizeDeps,
  ctx: Context,
  say: Texts,
  { client, request, session, handle, offer }: Shown,
  { status, choice, faults }: { status: number; choice: Choice; faults: readonly FaultyField[] },
): void {
  const { purpose, redirectUri } = request;
  const text = consentPage(say, {
    ...{ client, session, purpose, redirectUri, offer, choice, faults, handle, root },
    now: Date.now(),
    here: { url: root + consentPath(handle, say.lang), acceptLanguage: ctx.get('Accept-Language') },
  });
  const forms = ["'self'", ...(request.mode === 'query' ? [formTarget(redirectUri)] : [])];
  answerPage(ctx, status, text, shellNeeds(forms, ["'self'"]));
}
