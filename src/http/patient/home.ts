/** Shows the home page: who is requesting access, and the person's records. */
import type { Environment } from '#src/shared/access/caller.ts';
import { type Html, html } from '#src/shared/html.ts';
import { codeForm } from '../signin/invitation-pages.ts';
import type { PatientPage } from './page.ts';
import { type OpenRecord, recordDetails, recordsIn } from './records.ts';
import { HOME, type Visit } from './visit.ts';

/** Maximum number of requests and applications that are counted. */
const MOST = 200;

/** Returns the page. */
export async function homePage(visit: Visit): Promise<PatientPage> {
  const { say } = visit;
  const [production, sandbox] = [await recordsIn(visit, 'production'), await recordsIn(visit, 'sandbox')];
  const asking = [
    ...(await pendingRequests(visit, 'production')),
    ...(await pendingRequests(visit, 'sandbox')),
  ];
  const none =
    production.length + sandbox.length > 0
      ? html``
      : html`<div class="empty"><p>${say('home.none')}</p></div>`;
  return {
    title: say('home.title'),
    lead: html`${say('home.lead')}`,
    body: html`${asking.length === 0 ? html`` : requestsPart(visit, asking)}
${
  production.length === 0 && sandbox.length > 0
    ? html``
    : html`<section class="stack" aria-labelledby="records">
<h2 id="records">${say('home.records')}</h2>
${none}${production.length === 0 ? html`` : await renderList(visit, production)}
</section>`
}
${
  sandbox.length === 0
    ? html``
    : html`<section class="stack" aria-labelledby="sandbox">
<h2 id="sandbox">${say('home.sandbox')}</h2>
<p class="quiet">${say('consent.sandbox')}</p>
${await renderList(visit, sandbox)}
</section>`
}
${invitationPart(visit)}`,
  };
}

/** An access request that is waiting. */
interface Waiting {
  readonly id: string;
  readonly app: string;
  readonly organization: string;
}

/** Returns the access requests that are waiting for the person's decision, newest first. */
async function pendingRequests(visit: Visit, environment: Environment): Promise<readonly Waiting[]> {
  const asked = { environment, status: 'pending', limit: MOST } as const;
  const { data } = await visit.api.me('GET', '/me/access-requests', asked);
  return data.map(({ id, application }) => ({
    id,
    app: application.name,
    organization: application.organization,
  }));
}

function requestsPart(visit: Visit, asking: readonly Waiting[]): Html {
  const { say } = visit;
  const cards = asking.map(
    ({ id, app: name, organization }) => html`<li class="card asks">
<h3>${say.html('consent.title', { app: html`<bdi>${name}</bdi>` })}</h3>
<p class="quiet">${say.html('consent.by', { organization: html`<bdi>${organization}</bdi>` })}</p>
<p class="buttons"><a class="button small" href="${visit.to(`${HOME}/requests/${id}`)}">${say.html('home.decide', { app: html`<span class="visually-hidden"><bdi>${name}</bdi></span>` })}</a></p>
</li>
`,
  );
  return html`<section class="stack" aria-labelledby="requests">
<h2 id="requests">${say('home.requests', { requests: asking.length })}</h2>
<ul class="cards">
${cards}</ul>
</section>`;
}

async function renderList(visit: Visit, records: readonly OpenRecord[]): Promise<Html> {
  const cards: Html[] = [];
  for (const record of records) cards.push(await renderCard(visit, record));
  return html`<ul class="cards">
${cards}</ul>`;
}

async function renderCard(visit: Visit, record: OpenRecord): Promise<Html> {
  const { say, deps } = visit;
  const { rows } = await deps.services.consentQueries.listGrants({ record: record.record, limit: MOST });
  const applications = rows.filter(({ status }) => status === 'active').length;
  const { total: proposals } = await deps.services.consentQueries.listProposals({
    record: record.record,
    status: 'pending',
    limit: 1,
  });
  return html`<li class="card opens">
<h3><a href="${visit.to(record.path)}"><bdi>${record.name}</bdi></a></h3>
<p class="quiet">${recordDetails(say, record).join(' · ')}</p>
<p class="small">${say('home.applications', { applications })}</p>
${
  proposals === 0
    ? html``
    : html`<p><strong>${say('home.proposals', { proposals })}</strong></p>
`
}</li>
`;
}

/** The form is sent to the page at an invitation's `url`, which checks the code. */
function invitationPart(visit: Visit): Html {
  const { say } = visit;
  const action = visit.to('/invitations').split('?', 1)[0] ?? '';
  return html`<section class="stack" aria-labelledby="invitation">
<h2 id="invitation">${say('home.invitation')}</h2>
<p class="quiet">${say('home.invitationnote')}</p>
${codeForm(say, { action })}
</section>`;
}
