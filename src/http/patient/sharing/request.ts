/**
 * Shows an application's access request. The person allows it for a record and a duration, possibly with fewer rights, or
 * denies it.
 */
import type { AccessRequestRow } from '#queries/consents/access-requests.ts';
import { knownScopes, normalise } from '#src/oauth/scopes.ts';
import { type Html, html } from '#src/shared/html.ts';
import { notFound } from '#src/shared/refusal.ts';
import { askedPart } from '../../oauth/authorize/asked.ts';
import { domainBadge, domainNote } from '../../oauth/authorize/asker.ts';
import {
  type Choice,
  type FaultyField,
  findFaultyFields,
  firstChoice,
  grantDays,
  keptScopes,
  type Offer,
  readChoice,
} from '../../oauth/authorize/choice.ts';
import {
  alwaysPart,
  daysPart,
  decidePart,
  faultsPart,
  itemsPart,
  recordPart,
} from '../../oauth/authorize/choosing.ts';
import { itemSentences } from '../../oauth/authorize/sentences.ts';
import type { Outcome, PatientPage } from '../page.ts';
import { HOME, type Visit } from '../visit.ts';

/** A request with its choices. */
interface Asked {
  readonly request: AccessRequestRow;
  readonly offer: Offer;
  readonly domain: string | undefined;
}

/**
 * Returns a request that the person is allowed to see.
 * @throws Refusal not_found (404)
 */
async function askedFor(visit: Visit, id: string): Promise<Asked> {
  const { accessRequests, freshness } = visit.deps.services;
  await freshness.catchUp(['consents', 'resources', 'projects']);
  const { person } = visit.session;
  const request = await accessRequests.find(person, id);
  const found = request && (await accessRequests.offer(person, request));
  if (request === undefined || found === undefined) throw notFound('access request', id.slice(0, 64));
  const { client, records } = found;
  const scopes = knownScopes(request.scope.split(' '));
  // The receipt contains the sentences that `/me` makes, so these must be the same.
  const { own } = await accessRequests.recordsOf(person, request.environment);
  const named = records.filter(({ id: record }) => record === request.named);
  return {
    request,
    domain: client.organization.domain,
    offer: {
      records: request.named === null ? records : named,
      asksOther: false,
      mayStart: false,
      items: itemSentences(visit.say, scopes, own),
      days: grantDays(client),
      scopes,
    },
  };
}

const requestPath = (id: string): string => `${HOME}/requests/${encodeURIComponent(id)}`;

/**
 * Returns the page.
 * @throws Refusal not_found (404)
 */
export async function requestPage(visit: Visit, id: string): Promise<PatientPage> {
  const asked = await askedFor(visit, id);
  return asked.request.status === 'pending'
    ? renderPage(visit, asked, firstChoice(asked.offer, undefined), [])
    : answeredPage(visit, asked.request);
}

function answeredPage(visit: Visit, { status, application_name }: AccessRequestRow): PatientPage {
  const { say } = visit;
  const state = status === 'pending' ? 'expired' : status;
  return {
    title: say('request.over'),
    back: { path: HOME, text: say('home.title') },
    body: html`<p>${say.html(`request.${state}`, { app: html`<bdi>${application_name}</bdi>` })}</p>`,
  };
}

function renderPage(
  visit: Visit,
  { request, offer, domain }: Asked,
  choice: Choice,
  faults: readonly FaultyField[],
): PatientPage {
  const { say, now } = visit;
  const { application_name: name, organization, binding_message: message, privacy_url, expires_at } = request;
  const app = html`<bdi>${name}</bdi>`;
  const choosing = { client: { name }, offer, choice, faults, now };
  const title = say('consent.title', { app: name });
  const minutes = Math.max(1, Math.ceil((expires_at / 1_000 - now) / 60_000));
  const facts: Html[] = [
    // Access requests have no purpose, and neither do the resulting grants.
    html`<div><dt>${say('purpose.legend')}</dt><dd>${say('purpose.none')}</dd></div>
`,
    ...(message === null
      ? []
      : [
          html`<div><dt>${say('request.message')}</dt><dd>“<bdi>${message}</bdi>” <span class="quiet">${say('request.compare')}</span></dd></div>
`,
        ]),
    ...(privacy_url === null
      ? []
      : [
          html`<div><dt>${say('consent.privacylegend')}</dt><dd><a href="${privacy_url}" target="_blank" rel="noopener noreferrer">${say.html('consent.privacy', { app, host: html`<bdi>${new URL(privacy_url).host}</bdi>` })}</a></dd></div>
`,
        ]),
    html`<div><dt>${say('request.waits')}</dt><dd>${say('request.minutes', { minutes })}</dd></div>
`,
  ];
  return {
    title: faults.length === 0 ? title : `${say('fault.heading')} – ${title}`,
    heading: say.html('consent.heading', { app }),
    status: faults.length === 0 ? 200 : 422,
    back: { path: HOME, text: say('home.title') },
    body: html`${visit.form(requestPath(request.id), 'consent')}${faultsPart(say, faults)}
<p>${say.html('consent.by', { organization: html`<bdi>${organization ?? ''}</bdi>` })} ${domainBadge(say, domain)}</p>
${domainNote(say, domain)}${
  request.environment === 'sandbox'
    ? html`<p class="note">${say('consent.sandbox')}</p>
`
    : html``
}${askedPart(say, choosing)}
<dl class="facts">
${facts}</dl>
${recordPart(say, choosing)}
${itemsPart(say, choosing)}
${alwaysPart(say, choosing)}
${daysPart(say, choosing)}
<section class="stack" aria-labelledby="decision">
<h2 id="decision">${say('consent.decide')}</h2>
<p>${say('consent.revoke')}</p>
<div class="ticks"><label class="tick"><input type="checkbox" name="mute" value="yes"><span>${say.html('request.mute', { app })}</span></label></div>
</section>
${decidePart(say)}
</form>`,
  };
}

/**
 * Carries out the person's decision. The `/me` route repeats all checks.
 * @throws Refusal
 */
export async function decideRequest(visit: Visit, form: URLSearchParams, id: string): Promise<Outcome> {
  const asked = await askedFor(visit, id);
  const { request, offer } = asked;
  if (request.status !== 'pending') return answeredPage(visit, request);
  const about = { request_id: request.id, lang: visit.say.lang };
  if (form.get('decision') !== 'allow') {
    const mute = form.get('mute') === 'yes';
    await visit.api.me('POST', '/me/access-requests/{request_id}/deny', { ...about, body: { mute } });
    return { goTo: visit.below(HOME, { done: mute ? 'muted' : 'denied' }) };
  }
  const choice = readChoice(form, offer);
  const faults = findFaultyFields(choice, offer, new Date(visit.now).toISOString().slice(0, 10));
  const { record: patient_id, days: duration_days } = choice;
  if (faults.length > 0 || patient_id === undefined || duration_days === undefined)
    return renderPage(visit, asked, choice, faults);
  const body = {
    patient_id,
    duration_days,
    scopes: normalise(keptScopes(choice, offer)),
  };
  await visit.api.me('POST', '/me/access-requests/{request_id}/approve', { ...about, body });
  const record = encodeURIComponent(patient_id);
  return { goTo: visit.below(`${HOME}/records/${record}/applications`, { done: 'approved' }) };
}
