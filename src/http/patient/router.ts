/**
 * Serves `/connections`: the pages on which people see who reads their record, decide who may, and see the record itself
 * (docs/connections.md). The session cookie is the only credential. Forms are accepted only from pages in the same session.
 * Other people's ids get the same response as unknown ids.
 */
import Router from '@koa/router';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import { isOwnPath } from '#src/shared/access/session.ts';
import { html } from '#src/shared/html.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import { sendContent } from '../answer/content.ts';
import { send } from '../answer/send.ts';
import { urlAgain } from '../pages/onward.ts';
import { texts } from '../pages/texts.ts';
import { formFaultPage } from '../signin/pages.ts';
import { answerPeople, pageLanguage } from '../signin/people-page.ts';
import { redirectTo } from '../signin/redirect.ts';
import { accountPage, unmute } from './account.ts';
import { dataPage, erase, erasePage, recordDownload } from './data.ts';
import { documentContent, documentsPage } from './documents.ts';
import { entryJson, entryPage } from './entry/entry.ts';
import { homePage } from './home.ts';
import { healthPage } from './known/health.ts';
import { overviewPage } from './overview.ts';
import { answerPatientPage, type Outcome, type PatientPage } from './page.ts';
import { peoplePage, unlink, unlinkPage } from './people.ts';
import { printPage } from './print.ts';
import { type OpenRecord, openRecord } from './records.ts';
import { resultPage } from './results/result-page.ts';
import { resultsPage } from './results/results.ts';
import { applicationsPage } from './sharing/applications.ts';
import { endGrant, endPage, grantPage, receiptPage } from './sharing/grant.ts';
import { endLink, endLinkPage, linkPage, linksPage } from './sharing/links.ts';
import { logPage } from './sharing/log.ts';
import { makeLink, newLinkPage } from './sharing/new-link.ts';
import { decideProposal, proposalPage, proposalsPage } from './sharing/proposals.ts';
import { decideRequest, requestPage } from './sharing/request.ts';
import { shownPage } from './sharing/shown.ts';
import { timelinePage } from './timeline.ts';
import { HOME, type PatientDeps, Visit } from './visit.ts';

/** Dependencies of the routes. */
export interface PatientRoutes extends PatientDeps {
  readonly refusalOf: (error: unknown) => Refusal | undefined;
  readonly log: Logger;
}

type Made = Outcome | Promise<Outcome>;

/** Returns the routes. */
export function patientRouter(deps: PatientRoutes): Router {
  const { visitors } = deps;
  const { baseUrl } = visitors;
  const router = new Router();
  const id = (ctx: Context, name = 'id'): string => String(ctx.params[name] ?? '');

  const show = (path: string, make: (visit: Visit) => Made): void => {
    router.get(`${HOME}${path}`, (ctx) => guarded(ctx, (visit) => make(visit)));
  };
  const take = (path: string, carryOut: (visit: Visit, form: URLSearchParams) => Made): void => {
    router.post(`${HOME}${path}`, async (ctx) => {
      const session = await visitors.findSession(ctx);
      if (session === undefined) return answerForm(ctx, 403);
      await guarded(ctx, async (visit) => carryOut(visit, await visitors.form(ctx, session)));
    });
  };
  /** Adds a page about a record. Each request checks whose record it is. */
  const ofRecord = (path: string, make: (visit: Visit, record: OpenRecord, part: string) => Made): void =>
    show(`/records/:id${path}`, async (visit) =>
      make(visit, await openRecord(visit, id(visit.ctx)), id(visit.ctx, 'part')),
    );
  const takeForRecord = (
    path: string,
    carryOut: (visit: Visit, record: OpenRecord, form: URLSearchParams, part: string) => Made,
  ): void =>
    take(`/records/:id${path}`, async (visit, form) =>
      carryOut(visit, await openRecord(visit, id(visit.ctx)), form, id(visit.ctx, 'part')),
    );

  show('', homePage);
  show('/account', accountPage);
  take('/account', unmute);
  show('/requests/:part', (visit) => requestPage(visit, id(visit.ctx, 'part')));
  take('/requests/:part', (visit, form) => decideRequest(visit, form, id(visit.ctx, 'part')));
  ofRecord('', overviewPage);
  ofRecord('/health', healthPage);
  ofRecord('/print', printPage);
  ofRecord('/results', resultsPage);
  ofRecord('/results/one', resultPage);
  ofRecord('/documents', documentsPage);
  ofRecord('/documents/:part/content', documentContent);
  ofRecord('/timeline', timelinePage);
  ofRecord('/entries/:type/:part', (visit, record, part) =>
    entryPage(visit, record, id(visit.ctx, 'type'), part),
  );
  ofRecord('/entries/:type/:part/json', (visit, record, part) =>
    entryJson(visit, record, id(visit.ctx, 'type'), part),
  );
  ofRecord('/applications', applicationsPage);
  ofRecord('/applications/:part', grantPage);
  ofRecord('/applications/:part/receipt', receiptPage);
  ofRecord('/applications/:part/end', endPage);
  takeForRecord('/applications/:part/end', endGrant);
  ofRecord('/proposals', proposalsPage);
  ofRecord('/proposals/:part', proposalPage);
  takeForRecord('/proposals/:part', decideProposal);
  ofRecord('/log', logPage);
  ofRecord('/log/:part', shownPage);
  ofRecord('/links', linksPage);
  ofRecord('/links/new', (visit, record) => newLinkPage(visit, record));
  takeForRecord('/links/new', makeLink);
  ofRecord('/links/:part', linkPage);
  ofRecord('/links/:part/end', endLinkPage);
  takeForRecord('/links/:part/end', (visit, record, _form, part) => endLink(visit, record, part));
  ofRecord('/people', peoplePage);
  ofRecord('/people/end', unlinkPage);
  takeForRecord('/people/end', unlink);
  ofRecord('/data', dataPage);
  ofRecord('/data/erase', (visit, record) => erasePage(visit, record));
  takeForRecord('/data/erase', erase);
  ofRecord('/data/:part', recordDownload);
  // All other paths below `HOME` get a page saying that the page doesn't exist.
  router.get(`${HOME}/{*rest}`, (ctx) => guarded(ctx, (visit) => unknownPage(visit)));
  return router;

  /** Responds to a signed-in person. Anybody else must sign in first and is then sent back, unless the request was a form. */
  async function guarded(ctx: Context, make: (visit: Visit) => Made): Promise<void> {
    const session = await visitors.findSession(ctx);
    const lang = pageLanguage(ctx);
    if (session === undefined) {
      const returnTo = ctx.querystring === '' ? ctx.path : `${ctx.path}?${ctx.querystring}`;
      return visitors.beginSignIn(ctx, { returnTo: isOwnPath(returnTo) ? returnTo : HOME, lang });
    }
    const visit = new Visit(deps, ctx, session, texts(lang));
    try {
      await answer(visit, await make(visit));
    } catch (error) {
      const refusal = deps.refusalOf(error);
      if (refusal === undefined || refusal.kind === 'internal') throw error;
      refused(visit, refusal);
    }
  }

  async function answer(visit: Visit, outcome: Outcome): Promise<void> {
    const { ctx } = visit;
    if ('goTo' in outcome) return redirectTo(ctx, `${baseUrl}${outcome.goTo}`);
    if (!('download' in outcome)) return answerPatientPage(visit, outcome);
    const { download } = outcome;
    // Uploaded content of any type is never displayed under this origin.
    const headers = {
      ...download.headers,
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'X-Content-Type-Options': 'nosniff',
    };
    const failed = (error: unknown): void =>
      deps.log.error({ err: error, request_id: ctx.state.requestId }, 'a download was not sent whole');
    if (download.content === undefined) await send(ctx, { ...download, headers });
    else await sendContent(ctx, { ...download, headers }, download.content, failed);
  }

  function refused(visit: Visit, { kind, status, headers }: Refusal): void {
    const { ctx, say } = visit;
    ctx.set({ ...headers });
    if (kind === 'forbidden' && ctx.method === 'POST') {
      answerForm(ctx, status);
      return;
    }
    const page = ((): PatientPage => {
      if (kind === 'not_found' || kind === 'gone') return unknownPage(visit);
      if (kind === 'conflict')
        return { title: say('fault.changed'), body: html`<p role="alert">${say('fault.changedtext')}</p>` };
      if (status >= 500)
        return { title: say('shell.error'), body: html`<p role="alert">${say('error.service')}</p>` };
      return { title: say('shell.error'), body: html`<p role="alert">${say('fault.input')}</p>` };
    })();
    answerPatientPage(visit, { back: { path: HOME, text: say('home.title') }, ...page, status });
  }

  function unknownPage({ say }: Visit): PatientPage {
    return {
      title: say('signin.unknown'),
      status: 404,
      body: html`<p role="alert">${say('fault.notyours')}</p>`,
      back: { path: HOME, text: say('home.title') },
    };
  }

  function answerForm(ctx: Context, status: number): void {
    const page = urlAgain(ctx, new URL(baseUrl).pathname.replace(/\/+$/, ''));
    answerPeople(ctx, { status, lang: pageLanguage(ctx), baseUrl }, (say) => formFaultPage(say, page));
  }
}
