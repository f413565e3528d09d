/** Shows one measurement in a record: its newest value, charts, and all values in a table. */

import { type Html, html } from '#src/shared/html.ts';
import { notFound } from '#src/shared/refusal.ts';
import { dayIn, timeIn } from '#src/shared/time/day.ts';
import { LOINC } from '#src/v1/elements.ts';
import { dateText } from '../../reading/day-text.ts';
import { findRange } from '../../reading/judgement.ts';
import {
  groupMeasures,
  type Measure,
  MOST_OBSERVATIONS,
  type Observation,
  readObservations,
} from '../../reading/measures.ts';
import { withValueChanges } from '../../reading/value-changes.ts';
import { whenMeasured } from '../../reading/values.ts';
import { renderAiPart } from '../entries.ts';
import type { PatientPage } from '../page.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';
import { judgementBadge } from './judgement-badge.ts';
import { besidePart, chartsPart, latestPart, markedValue, noteRow, statusBadge } from './result-parts.ts';
import { resultSource } from './result-source.ts';
import { renderRange } from './values.ts';

/** `system|code`, or only a code, as accepted by lists in REST v1. */
const CODE = /^(?:[^\s|]+\|)?[^\s|]+$/;

/**
 * Returns the page for one measurement.
 * @throws Refusal not_found (404) if the record has no measurement with this code
 */
export async function resultPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say } = visit;
  const key = visit.asked('code', 300) ?? '';
  const { measure, more } =
    (await findMeasure(visit, record, key, key)) ?? (await findMeasure(visit, record, key)) ?? {};
  if (measure === undefined) throw notFound('Observation', key.slice(0, 64));
  const [shown = measure] = await withValueChanges(say, [measure], visit.deps.pages.replaced);
  const { name, display, facts, latest, notes } = measure;
  return {
    title: name,
    heading: html`<bdi>${name}</bdi>`,
    record,
    section: 'results',
    back: { path: `${record.path}/results`, text: say('nav.results') },
    body: html`${
      display === undefined
        ? html``
        : html`<p class="quiet small"><bdi>${display}</bdi></p>
`
    }${latest === undefined ? html`` : html`${latestPart(say, latest)}${besidePart(say, shown)}`}
${chartsPart(say, measure)}
${facts.length === 0 ? html`` : renderTable(visit, record, facts)}
${await renderAiPart(visit, 'ai', notes, (note) => noteRow(visit, record, note))}${more ? html`<p class="quiet">${say('results.more', { most: MOST_OBSERVATIONS })}</p>` : html``}`,
  };
}

/**
 * Finds a measure, and whether it has more values. A measure that has no code, or whose code has no system, is found only
 * among the newest observations with any code.
 * @param code reads the observations that have the code
 */
async function findMeasure(
  visit: Visit,
  record: OpenRecord,
  key: string,
  code?: string,
): Promise<{ readonly measure: Measure; readonly more: boolean } | undefined> {
  if (code !== undefined && !CODE.test(code)) return undefined;
  const { observations, more } = await readObservations(resultSource(visit, record), code);
  const measures = groupMeasures(visit.say, observations);
  // A bare code is taken as a LOINC code, as in lists in REST v1.
  const measure =
    measures.find((each) => each.key === key) ?? measures.find((each) => each.key === `${LOINC}|${key}`);
  return measure === undefined ? undefined : { measure, more };
}

function renderTable(visit: Visit, record: OpenRecord, facts: readonly Observation[]): Html {
  const { say } = visit;
  const ranged = facts.some((each) => findRange(each) !== undefined);
  const days = facts.map(({ effective_at }) => (effective_at === null ? undefined : dayIn(effective_at)));
  const times = facts.map(({ effective_at }, i) => {
    const isAmongOthers = days[i] === days[i - 1] || days[i] === days[i + 1];
    return isAmongOthers ? timeIn(effective_at ?? '') : undefined;
  });
  const rows = facts.map((each, i) => {
    const [type = '', id = ''] = each.fhir.split('/', 2);
    const url = visit.to(`${record.path}/entries/${encodeURIComponent(type)}/${encodeURIComponent(id)}`);
    const note =
      each.note === null ? html`` : html`<br><span class="quiet small"><bdi>${each.note}</bdi></span>`;
    const own = findRange(each);
    const range = own === undefined ? html`–` : renderRange(say, own);
    return html`<tr><th scope="row"><a href="${url}">${momentText(say, each, times[i])}<span class="visually-hidden"> ${say('entry.who')}</span></a></th>
<td>${markedValue(say, each)} ${judgementBadge(say, each)} ${statusBadge(say, each)}${note}</td>${ranged ? html`<td>${range}</td>` : html``}</tr>
`;
  });
  const isInUtc = times.some((time) => time?.endsWith('Z'));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${say('results.table')}">
<table>
<caption>${say('results.table')}. ${say('results.origin')}</caption>
<thead><tr><th scope="col">${say('results.day')}</th><th scope="col">${say('results.value')}</th>${ranged ? html`<th scope="col">${say('results.range')}</th>` : html``}</tr></thead>
<tbody>
${rows}</tbody>
</table>
</div>
${isInUtc ? html`<p class="quiet small">${say('list.utc')}</p>` : html``}`;
}

/** Returns a value's day in short form, with its time if given. */
function momentText(say: Visit['say'], each: Observation, time: string | undefined): Html {
  const date = each.effective_at;
  if (date === null) return html`<span class="undated">${whenMeasured(say, each)}</span>`;
  if (!/^\d{4}-\d\d-\d\d/.test(date)) return html`${dateText(say, date)}`;
  const day = say.shortDay(Date.parse(dayIn(date)));
  if (time === undefined) return html`${day}`;
  return html`${day}<br><small dir="ltr">${time.slice(0, 5)}${time.endsWith('Z') ? '' : ` ${time.slice(5)}`}</small>`;
}
