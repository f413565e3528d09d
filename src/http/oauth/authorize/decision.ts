/** Accepts the form on the consent page and carries out the person's decision. */
import type { Context } from 'koa';
import { Refusal } from '#src/shared/refusal.ts';
import { readForm } from '../../form-body.ts';
import { chooseLanguage } from '../../pages/texts.ts';
import { requireFormToken, requireOwnOrigin } from '../../signin/form-origin.ts';
import { allow } from './allow.ts';
import { answerApplication } from './answer.ts';
import { answerClosed } from './answered.ts';
import { type FaultyField, findFaultyFields, readChoice } from './choice.ts';
import { answerStop } from './fault-page.ts';
import {
  type AuthorizeDeps,
  checkRequest,
  consentPath,
  makeOffer,
  readQueryParameter,
  sayIn,
  showConsent,
} from './opened.ts';
import { readLang } from './parameters.ts';
import { isFresh } from './silent.ts';

/**
 * Handles `POST /oauth/consent`. Record, scopes and duration are checked again. The form is accepted only once, and only if it
 * comes from our own page, in the session that last showed the request.
 */
export async function decide(deps: AuthorizeDeps, ctx: Context): Promise<void> {
  const { services, visitors, baseUrl, root, refusalOf } = deps;
  const lang = readQueryParameter(ctx, 'lang');
  const stop = (status: number, text: 'error.form' | 'error.signedout', next?: string): void =>
    answerStop(ctx, sayIn(lang), { status, text, next, root });
  if (isRefused(() => requireOwnOrigin(ctx, baseUrl))) return stop(403, 'error.form');
  const form = await readForm(ctx);
  const handle = form.get('request') ?? '';
  const next = root + consentPath(handle.slice(0, 100), chooseLanguage(lang));
  const session = await visitors.findSession(ctx);
  // The page links to the sign-in instead of redirecting, because the form's policy doesn't allow a redirect to it.
  if (session === undefined) return stop(401, 'error.signedout', next);
  if (isRefused(() => requireFormToken(form, session))) return stop(403, 'error.form', next);
  const pending = await services.pending.find(handle, session.id);
  if (pending === undefined) return answerClosed(deps, ctx, handle, session);
  const say = sayIn(lang ?? readLang(pending.parameters));
  const opened = await checkRequest(deps, ctx, pending.parameters, say);
  if (opened === undefined) return;
  const { request } = opened;
  // The form is forged: the page for this request required the person to sign in again first.
  if (!isFresh(session, request, pending.createdAt)) return stop(401, 'error.signedout', next);
  const take = async (): Promise<boolean> =>
    (await services.pending.decide(handle, session.id)) !== undefined;
  const decision = form.get('decision');
  if (decision === 'deny') {
    if (!(await take())) return answerClosed(deps, ctx, handle, session);
    await services.pending.conclude(handle, 'denied');
    const error = { error: 'access_denied', error_description: 'the person denied access' };
    return answerApplication(deps, ctx, { say, answerTo: request, outcome: error });
  }
  const offer = await makeOffer(deps, opened, session, say);
  const choice = readChoice(form, offer);
  const again = (status: number, faults: readonly FaultyField[]): void =>
    showConsent(deps, ctx, say, { ...opened, session, handle, offer }, { status, choice, faults });
  if (decision !== 'allow') return again(200, []);
  const faults = findFaultyFields(choice, offer, new Date().toISOString().slice(0, 10));
  if (faults.length > 0) return again(422, faults);
  if (!(await take())) return answerClosed(deps, ctx, handle, session);
  try {
    const code = await allow(
      services,
      { ...opened, session, say, offer, choice },
      String(ctx.state.requestId),
    );
    await services.pending.conclude(handle, 'allowed');
    answerApplication(deps, ctx, { say, answerTo: request, outcome: { code } });
  } catch (error) {
    await services.pending.reopen(handle);
    const kind = refusalOf(error)?.kind;
    if (kind !== 'not_found' && kind !== 'conflict') throw error;
    // The record has been deleted, purged or unlinked in the meantime.
    again(409, ['unavailable']);
  }
}

/** Returns whether a check refuses the form. */
function isRefused(check: () => void): boolean {
  try {
    check();
    return false;
  } catch (error) {
    if (error instanceof Refusal) return true;
    throw error;
  }
}
