/**
 * Serves `/invitations`, the page at an invitation's `url`. Only the first request contains the code, in its query. After
 * that, a cookie in the browser contains the code, so the code isn't in any path, Referer or return address of the sign-in.
 * Part of the code's hash distinguishes the pages.
 */
import { createHash } from 'node:crypto';
import Router from '@koa/router';
import type { Context } from 'koa';
import type { Consents } from '#commands/consent/consents.ts';
import { isDate } from '#src/fhir/validation/primitives.ts';
import type { Session } from '#src/shared/access/session.ts';
import { IdSource, newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { urlAgain } from '../pages/onward.ts';
import type { Texts } from '../pages/texts.ts';
import { Cookie } from './cookie.ts';
import {
  birthDatePage,
  gonePage,
  introPage,
  linkedPage,
  mistypedPage,
  type Preview,
  takenPage,
  tooManyPage,
} from './invitation-pages.ts';
import { pageErrors, type RefusalOf } from './page-errors.ts';
import { formFaultPage } from './pages.ts';
import { answerPeople, type PeoplePage, pageLanguage } from './people-page.ts';
import { redirectTo } from './redirect.ts';
import { signInPath, type Visitors } from './visitors.ts';

/** How long a browser keeps the code of an invitation that it has opened, in seconds. */
const KEPT_S = 3600;
/** Matches codes, which are 128 bits long. */
const CODE = /^[\w-]{22}$/;
const HANDLE = /^[0-9a-f]{16}$/;

/** Dependencies of the routes. */
export interface InvitationRoutes {
  readonly visitors: Visitors;
  readonly consents: Pick<Consents, 'redeemInvitation' | 'previewInvitation'>;
  readonly refusalOf: RefusalOf;
}

/** Returns the routes. */
export function invitationRouter({ visitors, consents, refusalOf }: InvitationRoutes): Router {
  const { baseUrl } = visitors;
  const below = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const action = `${below}/invitations`;
  const router = new Router();
  router.use(pageErrors(baseUrl, refusalOf));

  router.get('/invitations', (ctx) => {
    const query = new URLSearchParams(ctx.querystring);
    const code = (query.get('code') ?? '').trim();
    if (!CODE.test(code)) return show(ctx, 404, (say) => mistypedPage(say, code.slice(0, 64), action));
    const handle = makeHandle(code);
    makeCookie(handle).set(ctx, code, KEPT_S);
    const lang = query.has('lang') ? `?lang=${pageLanguage(ctx)}` : '';
    redirectTo(ctx, `${baseUrl}/invitations/${handle}${lang}`);
  });

  router.get('/invitations/:handle', async (ctx) => {
    const code = codeFor(ctx);
    if (code === undefined) return show(ctx, 404, (say) => gonePage(say, undefined, action));
    const session = await visitors.findSession(ctx);
    if (session === undefined) return show(ctx, 200, (say) => introPage(say, signInLink(ctx)));
    const preview = await consents.previewInvitation(session.person, code);
    if (preview === undefined) return show(ctx, 404, (say) => gonePage(say, signInLink(ctx, true), action));
    ask(ctx, 200, session, preview);
  });

  router.post('/invitations/:handle', async (ctx) => {
    const code = codeFor(ctx);
    const session = await visitors.findSession(ctx);
    if (code === undefined || session === undefined)
      return show(ctx, 403, (say) => formFaultPage(say, urlAgain(ctx, below)));
    const form = await visitors.form(ctx, session);
    await redeem(ctx, session, code, (form.get('birth_date') ?? '').slice(0, 40));
  });
  return router;

  async function redeem(ctx: Context, session: Session, code: string, birthDate: string): Promise<void> {
    const preview = await consents.previewInvitation(session.person, code);
    if (preview === undefined) return show(ctx, 404, (say) => gonePage(say, signInLink(ctx, true), action));
    if (!isDay(birthDate)) return ask(ctx, 422, session, preview, { birthDate, fault: 'nodate' });
    const { issuer, subject } = session.person;
    const by = {
      credential: { kind: 'id_token', issuer, subject },
      requestId: String(ctx.state.requestId),
      ids: new IdSource(newUuid(), Date.now()),
      now: nowMicros,
    } as const;
    try {
      const { result } = await consents.redeemInvitation(by, session.person, code, birthDate);
      makeCookie(makeHandle(code)).clear(ctx);
      const record = `${below}/connections/records/${result.patient}?lang=${pageLanguage(ctx)}`;
      show(ctx, 200, (say) => linkedPage(say, preview, record));
    } catch (error) {
      return refused(ctx, session, preview, birthDate, error);
    }
  }

  function refused(
    ctx: Context,
    session: Session,
    preview: Preview,
    birthDate: string,
    error: unknown,
  ): void {
    if (!(error instanceof Refusal)) throw error;
    if (error.kind === 'invalid') ask(ctx, 422, session, preview, { birthDate, fault: 'wrong' });
    else if (error.kind === 'not_found')
      show(ctx, 404, (say) => gonePage(say, signInLink(ctx, true), action));
    else if (error.kind === 'conflict') show(ctx, 409, (say) => takenPage(say, preview));
    else if (error.kind === 'throttled') {
      ctx.set('Retry-After', '3600');
      show(ctx, 429, tooManyPage);
    } else throw error;
  }

  function ask(
    ctx: Context,
    status: number,
    session: Session,
    preview: Preview,
    entered?: { readonly birthDate: string; readonly fault: 'nodate' | 'wrong' },
  ): void {
    const form = `${below}${invitationPath(ctx)}?lang=${pageLanguage(ctx)}`;
    const switchAccount = signInLink(ctx, true);
    show(ctx, status, (say) => ({
      ...birthDatePage(say, {
        preview,
        session,
        action: form,
        switchAccount,
        ...(entered === undefined ? {} : { entered }),
      }),
      again: invitationPath(ctx),
    }));
  }

  /** Returns the link to the sign-in that returns to this invitation. */
  function signInLink(ctx: Context, another = false): string {
    const lang = pageLanguage(ctx);
    const returnTo = `${invitationPath(ctx)}?lang=${lang}`;
    return below + signInPath({ returnTo, lang, ...(another ? { prompt: 'select_account' } : {}) });
  }

  function makeCookie(handle: string): Cookie {
    return new Cookie(`annal_invitation_${handle}`, baseUrl, '/invitations');
  }

  /** Returns the code of the invitation in the path; undefined if this browser hasn't opened that invitation. */
  function codeFor(ctx: Context): string | undefined {
    const handle = String(ctx.params.handle);
    const code = HANDLE.test(handle) ? makeCookie(handle).read(ctx) : undefined;
    return code !== undefined && makeHandle(code) === handle ? code : undefined;
  }

  function show(ctx: Context, status: number, make: (say: Texts) => PeoplePage): void {
    answerPeople(ctx, { status, lang: pageLanguage(ctx), baseUrl }, (say) => ({
      again: ctx.params.handle === undefined ? undefined : invitationPath(ctx),
      ...make(say),
    }));
  }
}

/** Returns a handle that distinguishes an invitation's pages but doesn't open the invitation. */
function makeHandle(code: string): string {
  return createHash('sha256').update(code).digest('hex').slice(0, 16);
}

/** The path contains the handle only after it has been checked, so it contains no other characters. */
function invitationPath(ctx: Context): string {
  const handle = String(ctx.params.handle);
  return `/invitations/${HANDLE.test(handle) ? handle : ''}`;
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && isDate(text);
}
