/** Renders the account page: who is signed in, which applications they have muted, and how to sign out. */
import { type Html, html } from '#src/shared/html.ts';
import { FORM_TOKEN } from '../signin/form-origin.ts';
import type { Api } from './own-api.ts';
import type { Outcome, PatientPage } from './page.ts';
import { HOME, type Visit } from './visit.ts';

/** The page's path below BASE_URL. */
export const ACCOUNT = `${HOME}/account`;

/** Returns the page. */
export async function accountPage(visit: Visit): Promise<PatientPage> {
  const { say, session } = visit;
  const { name, email, subject } = session.person;
  const { data } = await visit.api.me('GET', '/me/muted-applications', { limit: 200 });
  return {
    title: say('account.title'),
    back: { path: HOME, text: say('home.title') },
    body: html`<section class="stack" aria-labelledby="who">
<h2 id="who">${say('account.signedin')}</h2>
<p><strong><bdi>${name ?? email ?? subject}</bdi></strong>${name !== undefined && email !== undefined ? html` <span class="quiet">(<bdi>${email}</bdi>)</span>` : html``}</p>
<form method="post" action="${visit.to('/signin/out')}">
<input type="hidden" name="${FORM_TOKEN}" value="${session.formToken}">
<p class="buttons"><button class="button second small">${say('signin.signout')}</button></p>
</form>
</section>
<section class="stack" aria-labelledby="muted">
<h2 id="muted">${say('account.muted')}</h2>
<p class="quiet">${say('account.mutednote')}</p>
${mutedPart(visit, data)}
</section>`,
  };
}

function mutedPart(visit: Visit, data: readonly Api.MutedApplication[]): Html {
  const { say } = visit;
  if (data.length === 0) return html`<div class="empty"><p>${say('account.mutednone')}</p></div>`;
  const rows = data.map(({ application_id, name, muted_at }) => {
    const app = html`<bdi>${name ?? application_id}</bdi>`;
    return html`<li class="row-top"><span><strong>${app}</strong><br><span class="quiet small">${say('account.since', { day: say.day(Date.parse(muted_at)) })}</span></span>
${visit.form(ACCOUNT)}<input type="hidden" name="unmute" value="${application_id}">
<button class="button second small">${say.html('account.unmute', { app: html`<span class="visually-hidden">${app}</span>` })}</button></form></li>
`;
  });
  return html`<ul class="rows">
${rows}</ul>`;
}

/**
 * Unmutes an application, so that its requests are shown again.
 * @throws Refusal
 */
export async function unmute(visit: Visit, form: URLSearchParams): Promise<Outcome> {
  const application_id = (form.get('unmute') ?? '').slice(0, 100);
  await visit.api.me('DELETE', '/me/muted-applications/{application_id}', { application_id });
  return { goTo: visit.below(ACCOUNT, { done: 'unmuted' }) };
}
