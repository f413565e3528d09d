/**
 * Shows which applications may use a record, and what they read and when. Also shows the applications whose access has ended,
 * and the receipts.
 */
import type { GrantUse } from '#queries/access-use.ts';
import type { GrantRow } from '#queries/consents/grants.ts';
import { consentItems } from '#src/oauth/consent-items.ts';
import { knownScopes } from '#src/oauth/scopes.ts';
import { GUESTS } from '#src/shared/access/guests.ts';
import { type Html, html } from '#src/shared/html.ts';
import { guestBadge } from '../../oauth/authorize/asker.ts';
import type { Texts } from '../../pages/texts.ts';
import { kindsText } from '../../reading/kinds.ts';
import type { PatientPage } from '../page.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';
import { RECENT_MS, usageText } from '../words.ts';

/** Maximum number of grants on a page. */
const MOST = 50;

/** Number of applications with ended access that are shown without being collapsed. */
const SHOWN = 8;

/** Returns how grants were used, by grant id. */
export function readGrantUse(
  visit: Visit,
  grants: readonly GrantRow[],
): Promise<ReadonlyMap<string, GrantUse>> {
  const since = (visit.now - RECENT_MS) * 1_000;
  return visit.deps.services.grantUseOf(grants, since);
}

/** Returns the page. */
export async function applicationsPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say, deps } = visit;
  const cursor = visit.asked('cursor');
  const { rows, next } = await deps.services.consentQueries.listGrants({
    record: record.record,
    limit: MOST,
    cursor,
  });
  const active = rows.filter(({ status }) => status === 'active');
  const ended = rows.filter(({ status }) => status !== 'active');
  const uses = await readGrantUse(visit, active);
  const endedList = html`<ul class="rows">
${ended.map((grant) => endedRow(visit, record, grant))}</ul>`;
  const more =
    next === undefined
      ? html``
      : html`<p class="pager"><a class="button second small" href="${visit.to(`${record.path}/applications`, { cursor: next })}">${say('list.older')}</a></p>`;
  return {
    title: say('nav.applications'),
    lead: html`${say('applications.lead')}`,
    record,
    section: 'applications',
    body: html`<section class="stack" aria-labelledby="active">
<h2 id="active">${say('applications.active', { applications: active.length })}</h2>
${
  active.length === 0
    ? html`<div class="empty"><p>${say('applications.none')}</p></div>`
    : html`<ul class="cards">
${active.map((grant) => grantCard(visit, record, grant, uses.get(grant.id)))}</ul>`
}
</section>
${
  ended.length === 0
    ? html``
    : html`<section class="stack" aria-labelledby="ended">
<h2 id="ended">${say('applications.ended')}</h2>
${ended.length > SHOWN ? html`<details class="past"><summary>${say('log.entries', { entries: ended.length })}</summary>${endedList}</details>` : endedList}
</section>`
}${more}`,
  };
}

/** Returns the card for an application that may use the record. */
export function grantCard(
  visit: Visit,
  record: OpenRecord,
  grant: GrantRow,
  use: GrantUse | undefined,
): Html {
  const { say, now } = visit;
  const app = html`<bdi>${applicationName(grant)}</bdi>`;
  return html`<li class="card opens">
<h3><a href="${visit.to(`${record.path}/applications/${grant.id}`)}">${app}</a></h3>
<p class="quiet small">${keeperText(say, grant)}</p>
<p>${usageText(say, use, now)}</p>
<p class="quiet small">${say('applications.may', { things: mayText(say, grant) })} · ${say('days.until', { day: say.day(grant.expires_at / 1_000) })}</p>
</li>
`;
}

/** Returns the name of a grant's application. */
export function applicationName({ application_name, application_id }: GrantRow): string {
  return application_name ?? application_id;
}

/** Returns who runs the application that has the grant. The name of a guest application begins with its host. */
export function keeperText(say: Texts, { project, organization }: GrantRow): Html {
  if (project === GUESTS.project) return guestBadge(say);
  return say.html('consent.by', { organization: html`<bdi>${organization ?? ''}</bdi>` });
}

/** Returns what a grant covers, with reading and writing combined. */
function mayText(say: Texts, { scopes }: GrantRow): string {
  const items = consentItems(knownScopes(scopes));
  return kindsText(
    say,
    items.flatMap(({ types }) => types),
  );
}

const ENDS = {
  patient: 'ended.patient',
  expired: 'ended.expired',
  replaced: 'ended.replaced',
  link_ended: 'ended.link',
  application_deleted: 'ended.application',
} as const;

/** Returns when and why a grant ended. */
export function endText(say: Texts, { ended_at, expires_at, end_reason }: GrantRow): string {
  const day = say.day((ended_at ?? expires_at) / 1_000);
  const reason = end_reason ?? 'expired';
  const known = Object.entries(ENDS).find(([name]) => name === reason)?.[1];
  return say(known ?? 'ended.platform', { day });
}

function endedRow(visit: Visit, record: OpenRecord, grant: GrantRow): Html {
  return html`<li><p><a href="${visit.to(`${record.path}/applications/${grant.id}`)}"><bdi>${applicationName(grant)}</bdi></a></p>
<p class="quiet small">${endText(visit.say, grant)}</p></li>
`;
}
