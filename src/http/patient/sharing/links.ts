/** Shows the links and QR codes that let others see part of a record (SMART Health Links), and how to end them. */
import { type Html, html } from '#src/shared/html.ts';
import type { Api } from '../own-api.ts';
import type { Outcome, PatientPage } from '../page.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';
import { whenText } from '../words.ts';

/** Maximum number of links on a page. */
const MOST = 100;

type Link = Api.SharedLink;

const linkPath = ({ path }: OpenRecord, id = ''): string =>
  id === '' ? `${path}/links` : `${path}/links/${encodeURIComponent(id)}`;

/**
 * Returns the page with all links.
 * @throws Refusal
 */
export async function linksPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say } = visit;
  const { data, next_cursor } = await visit.api.me('GET', '/me/patients/{patient_id}/shl', {
    patient_id: record.record,
    limit: MOST,
    cursor: visit.asked('cursor'),
  });
  const active = data.filter(({ status }) => status === 'active');
  const ended = data.filter(({ status }) => status !== 'active');
  const older =
    next_cursor === null
      ? html``
      : html`<p class="pager"><a class="button second small" href="${visit.to(linkPath(record), { cursor: next_cursor })}">${say('list.older')}</a></p>`;
  return {
    title: say('nav.links'),
    lead: html`${say('links.lead')}`,
    record,
    section: 'links',
    body: html`<p class="buttons"><a class="button" href="${visit.to(`${linkPath(record)}/new`)}">${say('links.new')}</a></p>
${
  active.length === 0
    ? html`<div class="empty"><p>${say('links.none')}</p></div>`
    : html`<ul class="cards">
${active.map((each) => renderCard(visit, record, each))}</ul>`
}
${
  ended.length === 0
    ? html``
    : html`<section class="stack" aria-labelledby="ended">
<h2 id="ended">${say('links.ended')}</h2>
<ul class="rows">
${ended.map((each) => endedRow(visit, each))}</ul>
</section>`
}${older}`,
  };
}

function linkName({ say }: Visit, { label }: Link): string {
  return label ?? say('links.unnamed');
}

function contentText({ say }: Visit, { content }: Link): string {
  if (content === 'summary') return say('data.summary');
  return content === 'everything' ? say('data.everything') : say('links.document');
}

function useText({ say, now }: Visit, { access_count: times, last_access_at }: Link): string {
  const opened = say('links.opened', { times });
  if (last_access_at === null) return opened;
  return `${opened}, ${say('links.last', { when: whenText(say, Date.parse(last_access_at), now) })}`;
}

function flagText({ say }: Visit, { flag }: Link): string {
  const parts = [
    say(flag.includes('L') ? 'links.live' : 'links.fixed'),
    ...(flag.includes('P') ? [say('links.passcode')] : []),
  ];
  return parts.join(' · ');
}

function renderCard(visit: Visit, record: OpenRecord, each: Link): Html {
  const { say } = visit;
  const until = say('days.until', { day: say.day(Date.parse(each.expires_at)) });
  return html`<li class="card opens">
<h2><a href="${visit.to(linkPath(record, each.id))}"><bdi>${linkName(visit, each)}</bdi></a></h2>
<p>${contentText(visit, each)} · ${useText(visit, each)}</p>
<p class="quiet small">${flagText(visit, each)} · ${until}</p>
</li>
`;
}

function endText({ say }: Visit, { status, expires_at }: Link): string {
  if (status === 'revoked') return say('links.revoked');
  if (status === 'closed') return say('links.closed');
  return say('links.expired', { day: say.day(Date.parse(expires_at)) });
}

function endedRow(visit: Visit, each: Link): Html {
  return html`<li><p><bdi>${linkName(visit, each)}</bdi></p>
<p class="quiet small">${contentText(visit, each)} · ${useText(visit, each)} · ${endText(visit, each)}</p></li>
`;
}

/**
 * Returns a link to a record.
 * @throws Refusal not_found (404)
 */
function readLink(visit: Visit, { record }: OpenRecord, id: string): Promise<Link> {
  return visit.api.me('GET', '/me/patients/{patient_id}/shl/{link_id}', { patient_id: record, link_id: id });
}

/**
 * Returns the page about a link, with its QR code.
 * @throws Refusal not_found (404)
 */
export async function linkPage(visit: Visit, record: OpenRecord, id: string): Promise<PatientPage> {
  const { say, deps } = visit;
  const each = await readLink(visit, record, id);
  const { viewer_url: url } = each;
  const facts = html`<p>${contentText(visit, each)} · ${useText(visit, each)}</p>
<p class="quiet">${flagText(visit, each)} · ${each.status === 'active' ? say('days.until', { day: say.day(Date.parse(each.expires_at)) }) : endText(visit, each)}</p>`;
  const frame = {
    title: linkName(visit, each),
    heading: html`<bdi>${linkName(visit, each)}</bdi>`,
    record,
    section: 'links',
    back: { path: linkPath(record), text: say('nav.links') },
  } as const;
  if (url === null) return { ...frame, body: facts };
  const code = Buffer.from(await deps.services.sharedLinks.qrCode(url)).toString('base64');
  return {
    ...frame,
    body: html`${facts}
<section class="stack" aria-labelledby="code">
<h2 id="code">${say('links.qr')}</h2>
<p>${say('links.scan')}</p>
<img class="qr" src="data:image/svg+xml;base64,${code}" alt="${say('links.qr')}" width="320" height="320">
<div class="field"><label for="address">${say('links.address')}</label>
<textarea id="address" class="mono" rows="4" readonly dir="ltr">${url}</textarea></div>
<p class="note">${say(each.flag.includes('P') ? 'links.tell' : 'links.anyone')}</p>
</section>
<section class="stack" aria-labelledby="end">
<h2 id="end">${say('links.end')}</h2>
<p>${say('links.endnote')}</p>
<p class="buttons"><a class="button danger" href="${visit.to(`${linkPath(record, id)}/end`)}">${say('links.end')}</a></p>
</section>`,
  };
}

/**
 * Returns the page that asks the person to confirm ending a link.
 * @throws Refusal not_found (404)
 */
export async function endLinkPage(visit: Visit, record: OpenRecord, id: string): Promise<Outcome> {
  const { say } = visit;
  const each = await readLink(visit, record, id);
  if (each.status !== 'active') return { goTo: visit.below(linkPath(record, id)) };
  return {
    title: say('links.asktitle'),
    lead: html`<bdi>${linkName(visit, each)}</bdi>`,
    record,
    section: 'links',
    body: html`<p>${say('links.endnote')}</p>
${visit.form(`${linkPath(record, id)}/end`)}<div class="actions">
<button class="button danger">${say('links.end')}</button>
<a class="button second" href="${visit.to(linkPath(record, id))}">${say('form.cancel')}</a>
</div>
</form>`,
  };
}

/**
 * Ends a link, as `POST /me/patients/{patient_id}/shl/{link_id}/revoke` does.
 * @throws Refusal
 */
export async function endLink(visit: Visit, record: OpenRecord, id: string): Promise<Outcome> {
  const link = { patient_id: record.record, link_id: id };
  await visit.api.me('POST', '/me/patients/{patient_id}/shl/{link_id}/revoke', link);
  return { goTo: visit.below(linkPath(record), { done: 'linkended' }) };
}
