/**
 * Shows one application's access to a record: its rights, its reads, the receipt for the consent, and how to end the access.
 */
import type { GrantRow } from '#queries/consents/grants.ts';
import { type Html, html } from '#src/shared/html.ts';
import { notFound } from '#src/shared/refusal.ts';
import { grantSentences } from '../../me/sentences.ts';
import { textDirection } from '../../pages/language-menu.ts';
import { chooseLanguage, LANGUAGES } from '../../pages/texts.ts';
import type { Outcome, PatientPage } from '../page.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';
import { usageText } from '../words.ts';
import { applicationName, endText, keeperText, readGrantUse } from './applications.ts';

/** Maximum length of a note about a revocation. */
const MAX_NOTE = 1_000;

const grantPath = ({ path }: OpenRecord, { id }: GrantRow): string => `${path}/applications/${id}`;

/**
 * Returns a grant on a record, including grants given by other people.
 * @throws Refusal not_found (404)
 */
async function readGrant(visit: Visit, { record }: OpenRecord, id: string): Promise<GrantRow> {
  const found = await visit.deps.services.consentQueries.grant(id);
  if (found?.record !== record) throw notFound('grant', id.slice(0, 64));
  return found;
}

/**
 * Returns the page about a grant.
 * @throws Refusal not_found (404)
 */
export async function grantPage(visit: Visit, record: OpenRecord, id: string): Promise<PatientPage> {
  const { say, now } = visit;
  const grant = await readGrant(visit, record, id);
  const use = (await readGrantUse(visit, [grant])).get(grant.id);
  const isActive = grant.status === 'active';
  const state = isActive
    ? html`<span class="badge good">${say('grant.active')}</span> ${say('days.until', { day: say.day(grant.expires_at / 1_000) })}`
    : html`<span class="badge plain">${say('grant.ended')}</span> ${endText(say, grant)}`;
  const app = html`<bdi>${applicationName(grant)}</bdi>`;
  const path = grantPath(record, grant);
  return {
    title: applicationName(grant),
    heading: app,
    lead: keeperText(say, grant),
    record,
    section: 'applications',
    back: { path: `${record.path}/applications`, text: say('nav.applications') },
    body: html`<p>${state}</p>
<section class="stack" aria-labelledby="reads">
<h2 id="reads">${say('grant.reads')}</h2>
<p>${usageText(say, use, now)}</p>
<p><a href="${visit.to(`${record.path}/log`, { grant: grant.id })}">${say.html('grant.log', { app })}</a></p>
</section>
<section class="stack" aria-labelledby="may">
<h2 id="may">${say(isActive ? 'grant.may' : 'grant.might')}</h2>
<ul class="bullets">
${grantSentences(grant, say.lang).map(
  (sentence) => html`<li>${sentence}</li>
`,
)}</ul>
<p><a href="${visit.to(`${path}/receipt`)}">${say('grant.receipt')}</a></p>
</section>
${isActive ? endPart(visit, path, app) : html``}`,
  };
}

function endPart(visit: Visit, path: string, app: Html): Html {
  const { say } = visit;
  return html`<section class="stack" aria-labelledby="end">
<h2 id="end">${say('grant.end')}</h2>
<p>${say.html('grant.endnote', { app })}</p>
<p class="buttons"><a class="button danger" href="${visit.to(`${path}/end`)}">${say('grant.endaccess')}</a></p>
</section>`;
}

/**
 * Returns the page that asks the person to confirm ending the access.
 * @throws Refusal not_found (404)
 */
export async function endPage(visit: Visit, record: OpenRecord, id: string): Promise<Outcome> {
  const { say } = visit;
  const grant = await readGrant(visit, record, id);
  if (grant.status !== 'active') return { goTo: visit.below(grantPath(record, grant)) };
  const app = html`<bdi>${applicationName(grant)}</bdi>`;
  return {
    title: say('grant.asktitle', { app: applicationName(grant) }),
    heading: say.html('grant.asktitle', { app }),
    record,
    section: 'applications',
    body: html`<ul class="bullets">
<li>${say.html('grant.now', { app })}</li>
<li>${say.html('grant.kept', { app })}</li>
<li>${say('grant.again')}</li>
</ul>
${visit.form(`${grantPath(record, grant)}/end`)}<div class="field"><label for="note">${say('grant.note')}</label>
<p class="quiet small" id="notehint">${say('grant.notehint')}</p>
<textarea id="note" name="note" rows="3" maxlength="${MAX_NOTE}" aria-describedby="notehint"></textarea></div>
<div class="actions">
<button class="button danger">${say('grant.endaccess')}</button>
<a class="button second" href="${visit.to(grantPath(record, grant))}">${say('form.cancel')}</a>
</div>
</form>`,
  };
}

/**
 * Ends the access, as `POST /me/patients/{patient_id}/grants/{grant_id}/revoke` does.
 * @throws Refusal
 */
export async function endGrant(
  visit: Visit,
  record: OpenRecord,
  form: URLSearchParams,
  id: string,
): Promise<Outcome> {
  const note = (form.get('note') ?? '').trim().slice(0, MAX_NOTE);
  await visit.api.me('POST', '/me/patients/{patient_id}/grants/{grant_id}/revoke', {
    patient_id: record.record,
    grant_id: id,
    body: note === '' ? {} : { reason: note },
  });
  return { goTo: visit.below(`${record.path}/applications`, { done: 'revoked' }) };
}

/**
 * Returns the receipt: the sentences that were shown, their language, and when they were shown.
 * @throws Refusal not_found (404)
 */
export async function receiptPage(visit: Visit, record: OpenRecord, id: string): Promise<PatientPage> {
  const { say } = visit;
  const grant = await readGrant(visit, record, id);
  const lang = chooseLanguage(grant.lang);
  const facts = [
    [say('receipt.application'), html`<bdi>${applicationName(grant)}</bdi>`],
    [say('receipt.organization'), html`<bdi>${grant.organization ?? '–'}</bdi>`],
    [say('receipt.record'), html`<bdi>${record.name}</bdi>`],
    [say('receipt.by'), html`${say(`receipt.${grant.granted_by}`)}`],
    [say('purpose.legend'), html`<bdi>${grant.purpose ?? say('purpose.none')}</bdi>`],
    [say('receipt.given'), html`${say.moment(grant.created_at / 1_000)}`],
    [say('receipt.until'), html`${say.moment(grant.expires_at / 1_000)}`],
    ...(grant.status === 'active' ? [] : [[say('receipt.ended'), html`${endText(say, grant)}`] as const]),
    [say('shell.language'), html`<bdi lang="${lang}">${LANGUAGES[lang]}</bdi>`],
    [say('receipt.number'), html`<span class="mono" dir="ltr">${grant.id}</span>`],
  ] as const;
  return {
    title: say('receipt.title'),
    lead: html`${say('receipt.lead')}`,
    record,
    section: 'applications',
    back: { path: grantPath(record, grant), text: applicationName(grant) },
    body: html`<div class="receipt stack">
<dl class="facts">
${facts.map(
  ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
)}</dl>
<section class="stack" aria-labelledby="words">
<h2 id="words">${say('receipt.words')}</h2>
<ul class="bullets" lang="${lang}" dir="${textDirection(lang)}">
${grant.sentences.map(
  (sentence) => html`<li>${sentence}</li>
`,
)}</ul>
</section>
</div>`,
  };
}
