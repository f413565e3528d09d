/** Shows who is linked to a record, and lets people end their own link. */
import type { LinkedPerson } from '#queries/consents/linked-people.ts';
import { type Html, html } from '#src/shared/html.ts';
import type { Outcome, PatientPage } from './page.ts';
import type { OpenRecord } from './records.ts';
import { HOME, type Visit } from './visit.ts';

/** Maximum number of grants that are counted. */
const MOST = 200;

const VIA = {
  invitation: 'people.invitation',
  own: 'people.started',
  identity_grant: 'people.trusted',
} as const;

/** Returns the page. */
export async function peoplePage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say, deps } = visit;
  const rows = await deps.pages.linkedPeople(record.record);
  const own = rows.find(({ id }) => id === record.linkId);
  const others = rows.filter(({ id }) => id !== record.linkId);
  return {
    title: say('nav.people'),
    lead: html`${say('people.lead')}`,
    record,
    section: 'people',
    body: html`<ul class="rows">
${ownRow(visit, record, own)}${others.map((link) => linkRow(visit, link))}</ul>
<section class="stack" aria-labelledby="end">
<h2 id="end">${say('people.end')}</h2>
${
  record.linkId === undefined
    ? html`<p>${say('people.computed')}</p>`
    : html`<p>${say('people.endnote')}</p>
<p class="buttons"><a class="button danger" href="${visit.to(`${record.path}/people/end`)}">${say('people.endlink')}</a></p>`
}
</section>`,
  };
}

function ownRow({ say }: Visit, record: OpenRecord, link: LinkedPerson | undefined): Html {
  const role = say(record.relationship === 'self' ? 'people.you' : 'people.yourep');
  return html`<li><p><strong>${role}</strong></p>
<p class="quiet small">${link === undefined ? say('people.address') : sinceText(say, link)}</p></li>
`;
}

function linkRow({ say }: Visit, link: LinkedPerson): Html {
  const role = say(link.relationship === 'self' ? 'people.patient' : 'people.representative');
  const name = link.name === null ? html`` : html`<strong><bdi>${link.name}</bdi></strong> `;
  return html`<li><p>${name}<span${link.name === null ? html`` : html` class="quiet"`}>${role}</span></p>
<p class="quiet small">${sinceText(say, link)}</p></li>
`;
}

function sinceText(say: Visit['say'], { via, since }: LinkedPerson): string {
  return `${say('people.since', { day: say.day(since / 1_000) })} · ${say(VIA[via])}`;
}

/** Returns the page that asks the person to confirm ending their link. */
export async function unlinkPage(visit: Visit, record: OpenRecord): Promise<Outcome> {
  const { say, deps } = visit;
  if (record.linkId === undefined) return { goTo: visit.below(`${record.path}/people`) };
  const { rows } = await deps.services.consentQueries.listGrants({
    record: record.record,
    person: visit.session.person,
    limit: MOST,
  });
  const applications = rows.filter(({ status }) => status === 'active').length;
  return {
    title: say('people.asktitle'),
    record,
    section: 'people',
    body: html`<ul class="bullets">
<li>${say('people.lose')}</li>
<li>${say('people.grants', { applications })}</li>
<li>${say('people.stays')}</li>
<li>${say('people.back')}</li>
</ul>
${visit.form(`${record.path}/people/end`)}<div class="actions">
<button class="button danger">${say('people.endlink')}</button>
<a class="button second" href="${visit.to(`${record.path}/people`)}">${say('form.cancel')}</a>
</div>
</form>`,
  };
}

/**
 * Ends the link, as `DELETE /me/patients/{patient_id}/link` does.
 * @throws Refusal
 */
export async function unlink(visit: Visit, record: OpenRecord): Promise<Outcome> {
  await visit.api.me('DELETE', '/me/patients/{patient_id}/link', { patient_id: record.record });
  return { goTo: visit.below(HOME, { done: 'unlinked' }) };
}
