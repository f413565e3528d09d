/**
 * Shows a record's access log in plain words: who read what and when, and what was refused. The filters are a form that works
 * without scripts.
 */
import type { GrantRow } from '#queries/consents/grants.ts';
import { ACCESS_STATUSES } from '#src/shared/access/access-entry.ts';
import { type Html, html } from '#src/shared/html.ts';
import type { Texts } from '../../pages/texts.ts';
import { kindsText } from '../../reading/kinds.ts';
import type { Api } from '../own-api.ts';
import type { PatientPage } from '../page.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';
import { applicationName } from './applications.ts';
import { takenBackPart } from './taken-back.ts';

/** Entries of a page. */
const LIMIT = 25;
/** Maximum number of grants in the list of applications. */
const MOST = 200;

type Entry = Api.AccessLogEntry;

/**
 * Returns the page.
 * @throws Refusal not_found (404) for a grant on a different record
 */
export async function logPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say, deps } = visit;
  const day = (name: string) => {
    const value = visit.asked(name, 10);
    return value !== undefined && !Number.isNaN(Date.parse(value)) && /^\d{4}-\d\d-\d\d$/.test(value)
      ? value
      : undefined;
  };
  const filters = {
    from: day('from'),
    to: day('to'),
    status: ACCESS_STATUSES.find((each) => each === visit.asked('status')),
  };
  const grant_id = visit.asked('grant', 100);
  const ordered = filters.from === undefined || filters.to === undefined || filters.from <= filters.to;
  const asked = ordered ? filters : { ...filters, from: filters.to, to: filters.from };
  const cursor = visit.asked('cursor');
  const query = { patient_id: record.record, ...asked, limit: LIMIT, cursor };
  const page =
    grant_id === undefined
      ? await visit.api.me('GET', '/me/patients/{patient_id}/access-log', query)
      : await visit.api.me('GET', '/me/patients/{patient_id}/grants/{grant_id}/access-log', {
          ...query,
          grant_id,
        });
  const { rows } = await deps.services.consentQueries.listGrants({ record: record.record, limit: MOST });
  const kept = { ...asked, grant: grant_id };
  const older =
    page.next_cursor === null
      ? html``
      : html`<a class="button second small" href="${visit.to(`${record.path}/log`, { ...kept, cursor: page.next_cursor })}">${say('list.older')}</a>`;
  const newest =
    cursor === undefined
      ? html``
      : html`<a class="button second small" href="${visit.to(`${record.path}/log`, kept)}">${say('list.newest')}</a>`;
  return {
    title: say('nav.log'),
    lead: html`${say('log.lead')}`,
    record,
    section: 'log',
    body: html`${cursor === undefined ? await takenBackPart(visit, record) : html``}${filterPart(visit, record, rows, kept)}
<p role="status" class="quiet">${say('log.entries', { entries: page.total })}</p>
${page.data.length === 0 ? html`<div class="empty"><p>${say('log.none')}</p></div>` : daysPart(say, page.data, (receipt) => visit.to(`${record.path}/log/${receipt}`))}
<p class="pager">${newest}${older}</p>
<p class="quiet small">${say('log.own')} ${say('list.utc')}</p>
<p class="quiet small">${say('log.check')}</p>`,
  };
}

function filterPart(
  visit: Visit,
  record: OpenRecord,
  grants: readonly GrantRow[],
  chosen: Readonly<Record<'from' | 'to' | 'status' | 'grant', string | undefined>>,
): Html {
  const { say } = visit;
  const option = (value: string, text: Html, is: string | undefined): Html =>
    html`<option value="${value}"${value === (is ?? '') ? html` selected` : html``}>${text}</option>
`;
  const names = grants.map((grant) =>
    option(grant.id, html`${applicationName(grant)} (${say.day(grant.created_at / 1_000)})`, chosen.grant),
  );
  const statuses = ACCESS_STATUSES.map((each) => option(each, html`${say(`log.${each}`)}`, chosen.status));
  const lang = visit.query.has('lang')
    ? html`<input type="hidden" name="lang" value="${say.lang}">
`
    : html``;
  const action = visit.to(`${record.path}/log`).split('?', 1)[0] ?? '';
  const isFiltered = Object.values(chosen).some((value) => value !== undefined);
  return html`<details class="filters"${isFiltered ? html` open` : html``}>
<summary>${say('log.filter')}</summary>
<form method="get" action="${action}">
${lang}<div class="field"><label for="grant">${say('log.application')}</label>
<select id="grant" name="grant">
${option('', html`${say('log.all')}`, chosen.grant)}${names}</select></div>
<div class="field"><label for="status">${say('log.outcome')}</label>
<select id="status" name="status">
${option('', html`${say('log.all')}`, chosen.status)}${statuses}</select></div>
<div class="field"><label for="from">${say('log.from')}</label>
<input id="from" name="from" type="date" value="${chosen.from ?? ''}"></div>
<div class="field"><label for="to">${say('log.to')}</label>
<input id="to" name="to" type="date" value="${chosen.to ?? ''}"></div>
<p class="buttons"><button class="button second small">${say('log.apply')}</button></p>
</form></details>`;
}

/** Returns the entries by day, newest first. */
function daysPart(say: Texts, entries: readonly Entry[], pathTo: (receipt: string) => string): Html {
  const days = new Map<string, Entry[]>();
  for (const entry of entries) {
    const day = entry.ts.slice(0, 10);
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  const parts = [...days].map(
    ([day, own]) => html`<section class="stack" aria-labelledby="day-${day}">
<h2 id="day-${day}">${say.day(Date.parse(day))}</h2>
<ul class="rows">
${own.map((entry) => renderRow(say, entry, pathTo))}</ul>
</section>
`,
  );
  return html`${parts}`;
}

function renderRow(
  say: Texts,
  { ts, action, resource_type: type, status, count, purpose, actor, actor_ref, receipt }: Entry,
  pathTo: (receipt: string) => string,
): Html {
  const things = type === null ? say('kind.whole') : kindsText(say, [type]);
  const what = actionText(say, action, status, things);
  const shown =
    status === 'ok' && count !== null && !COUNTLESS.has(action)
      ? html` · ${say('log.count', { count })}`
      : html``;
  const badge =
    status === 'ok'
      ? html``
      : html` <span class="badge ${status === 'denied' ? 'warn' : 'plain'}">${say(`log.${status}`)}</span>`;
  // An application's purpose is stated in its grant, which has its own page.
  const why =
    purpose === null || actor_ref !== 'person/member'
      ? html``
      : html`
<p class="quiet small">${say('purpose.legend')}: <bdi>${purpose}</bdi></p>`;
  const link = receipt === null ? html`` : html` · <a href="${pathTo(receipt)}">${say('shown.title')}</a>`;
  const time = ts.slice(11, 16);
  return html`<li><p class="row-top"><span>${actorText(say, actor, actor_ref)}${badge}</span> <time class="quiet small" datetime="${ts}" dir="ltr">${time}</time></p>
<p>${what}<span class="quiet">${shown}</span>${link}</p>${why}</li>
`;
}

/** Keys of texts without placeholders for names. */
type PlainKey =
  `log.${'reuse' | 'codes' | 'summary' | 'course' | 'values' | 'suggested' | 'proposed' | 'ownaccess' | 'receipt'}`;

/** Text keys for actions that aren't about one kind of entry. */
const OF_ACTIONS: Readonly<Record<string, PlainKey>> = {
  token_reuse: 'log.reuse',
  terminology: 'log.codes',
  $lookup: 'log.codes',
  $expand: 'log.codes',
  '$validate-code': 'log.codes',
  $subsumes: 'log.codes',
  $translate: 'log.codes',
  $summary: 'log.summary',
  summary: 'log.summary',
  context: 'log.summary',
  timeline: 'log.course',
  series: 'log.values',
  patterns: 'log.values',
  propose: 'log.proposed',
  'read-proposal': 'log.suggested',
  'list-proposals': 'log.suggested',
  'withdraw-proposal': 'log.suggested',
  grants: 'log.ownaccess',
  receipt: 'log.receipt',
  // The `/mcp` tools. Tools that aren't listed here read entries of a single kind.
  get_context: 'log.summary',
  find_patterns: 'log.values',
  compare_periods: 'log.values',
  lookup_code: 'log.codes',
  what_may_i_do: 'log.ownaccess',
  propose_change: 'log.proposed',
  my_proposals: 'log.suggested',
};

/** Actions that don't look anything up, so their count is meaningless. */
const COUNTLESS: ReadonlySet<string> = new Set([
  'token_reuse',
  'propose',
  'propose_change',
  'withdraw-proposal',
]);

/** Actions that change something. */
const CHANGES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'labs-import']);

/** Actions by people who have a shared link. */
const OPENINGS: ReadonlySet<string> = new Set(['open-link', 'open-link-file', 'link-file-sent']);

/**
 * Returns the action in words.
 * @param things the kinds of entries, in words
 */
function actionText(say: Texts, action: string, status: Entry['status'], things: string): string {
  if (OPENINGS.has(action)) return say(status === 'ok' ? 'log.opened' : 'log.toopen');
  const own = Object.hasOwn(OF_ACTIONS, action) ? OF_ACTIONS[action] : undefined;
  if (own !== undefined) return say(own);
  if (CHANGES.has(action)) return say(status === 'ok' ? 'log.changed' : 'log.change', { things });
  return say(status === 'ok' ? 'log.read' : 'log.tried', { things });
}

/** Returns the reader in words. */
function actorText(say: Texts, actor: string | null, ref: string): Html {
  const [kind, id = ''] = ref.split('/', 2);
  const name = html`<strong><bdi>${actor ?? say('log.unknown')}</bdi></strong>`;
  const role =
    kind === 'application'
      ? say('log.app')
      : kind === 'key'
        ? say('log.key')
        : kind === 'link'
          ? say('log.link')
          : id === 'self'
            ? say('log.self')
            : id === 'representative'
              ? say('log.representative')
              : say('log.member');
  return html`${name} <span class="quiet small">${role}</span>`;
}
