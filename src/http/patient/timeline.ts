/** Shows the REST v1 timeline by kind, newest first. An AI's notes are listed separately. */
import { type Html, html } from '#src/shared/html.ts';
import { DEFAULT_KINDS, TIMELINE_KINDS } from '#src/v1/timeline.ts';
import { resultName } from '../pages/result-names.ts';
import { kindText } from '../reading/kinds.ts';
import { sayWhen } from '../reading/known-words.ts';
import type { Observation } from '../reading/measures.ts';
import { summaryText, summaryToday, titleText } from '../reading/summary-words.ts';
import { originAfter, renderAiPart, splitByAuthor } from './entries.ts';
import type { Api } from './own-api.ts';
import type { PatientPage } from './page.ts';
import type { OpenRecord } from './records.ts';
import { resultsAmong, resultText } from './results/timeline-results.ts';
import type { Visit } from './visit.ts';

/** Entries of a page. */
const LIMIT = 20;

type Entry = Api.TimelineEntry;

/**
 * Returns the page.
 * @throws Refusal
 */
export async function timelinePage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say } = visit;
  const kind = TIMELINE_KINDS.find((each) => each === visit.asked('kind', 20));
  const cursor = visit.asked('cursor');
  const { data, total, next_cursor } = await visit.api.read(
    record,
    { action: 'timeline', resourceType: null },
    '/v1/patients/{patient_id}/timeline',
    {
      patient_id: record.record,
      limit: LIMIT,
      cursor,
      kinds: kind === undefined ? [...TIMELINE_KINDS] : [kind],
    },
  );
  const { facts, notes } = splitByAuthor(data);
  const results = await resultsAmong(visit, record, data);
  const path = `${record.path}/timeline`;
  const older =
    next_cursor === null
      ? html``
      : html`<a class="button second small" href="${visit.to(path, { kind, cursor: next_cursor })}">${say('list.older')}</a>`;
  const newest =
    cursor === undefined
      ? html``
      : html`<a class="button second small" href="${visit.to(path, { kind })}">${say('list.newest')}</a>`;
  return {
    title: say('nav.timeline'),
    record,
    section: 'timeline',
    body: html`${filterPart(visit, path, kind)}
<p role="status" class="quiet">${say('timeline.entries', { entries: total })}</p>
${data.length === 0 ? html`<div class="empty"><p>${say('timeline.none')}</p></div>` : yearsPart(visit, record, facts, results)}
${await renderAiPart(visit, 'ai', notes, (entry) => renderEntryRow(visit, record, entry, results.get(entry.fhir)))}<p class="pager">${newest}${older}</p>`,
  };
}

function filterPart(visit: Visit, path: string, chosen: string | undefined): Html {
  const { say } = visit;
  const ordered = [...new Set([...DEFAULT_KINDS, ...TIMELINE_KINDS])];
  const options = ordered.map(
    (
      kind,
    ) => html`<option value="${kind}"${kind === chosen ? html` selected` : html``}>${kindText(say, kind)}</option>
`,
  );
  const lang = visit.query.has('lang')
    ? html`<input type="hidden" name="lang" value="${say.lang}">
`
    : html``;
  return html`<details class="filters"${chosen === undefined ? html`` : html` open`}>
<summary>${say('log.filter')}</summary>
<form method="get" action="${visit.to(path).split('?', 1)[0] ?? ''}">
${lang}<div class="field"><label for="kind">${say('timeline.kind')}</label>
<select id="kind" name="kind">
<option value="">${say('log.all')}</option>
${options}</select></div>
<p class="buttons"><button class="button second small">${say('log.apply')}</button></p>
</form></details>`;
}

function yearsPart(
  visit: Visit,
  record: OpenRecord,
  entries: readonly Entry[],
  results: ReadonlyMap<string, Observation>,
): Html {
  const { say } = visit;
  const years = new Map<string, Html[]>();
  for (const entry of entries) {
    const year = entry.date_means === 'entered' ? '' : entry.date.slice(0, 4);
    years.set(year, [
      ...(years.get(year) ?? []),
      renderEntryRow(visit, record, entry, results.get(entry.fhir)),
    ]);
  }
  const parts = [...years].map(
    ([year, rows]) => html`<section class="stack" aria-labelledby="year-${year}">
<h2 id="year-${year}">${year === '' ? say('timeline.undated') : year}</h2>
<ul class="rows">
${rows}</ul>
</section>
`,
  );
  return html`${parts}`;
}

function renderEntryRow(
  visit: Visit,
  record: OpenRecord,
  entry: Entry,
  result: Observation | undefined,
): Html {
  const { say } = visit;
  const { kind, title: stored, date, date_means: means, fhir } = entry;
  const summary = summaryToday(kind, date, entry.summary, new Date(visit.now).toISOString());
  const title =
    result === undefined ? titleText(say, kind, stored) : resultName(say, { ...result, display: stored });
  const said =
    (result === undefined ? undefined : resultText(say, result, entry)) ??
    (summary === null ? undefined : summaryText(say, kind, summary));
  return html`<li><p class="row-top"><strong><bdi>${title}</bdi></strong> <span class="quiet small">${sayWhen(say, date, means)}</span></p>
${
  said === undefined
    ? html``
    : html`<p>${said}</p>
`
}<p class="quiet small">${kindText(say, kind)}${originAfter(visit, record, fhir, title)}</p></li>
`;
}
