/** Measurements of a record: the newest value and a chart of each kind; all values of one kind in a table. */

import { dayIn } from '#src/clinical/reading/day.ts';
import { unitText } from '#src/clinical/reading/unit.ts';
import { type Html, html } from '#src/shared/html.ts';
import { notFound } from '#src/shared/refusal.ts';
import { LOINC } from '#src/v1/elements.ts';
import { CATEGORIES } from '#src/v1/observation.ts';
import { chart, isDrawn } from './chart.ts';
import { type ChartData, chartsOf } from './chart-data.ts';
import { codeLabel } from './code-label.ts';
import { aiPartOf, originAfter } from './entries.ts';
import { judgementBadge, judgementOf, rangeOf } from './judgement.ts';
import {
  dateOf,
  type Measure,
  MOST_OBSERVATIONS,
  measuresOf,
  type Observation,
  observationsOf,
  observationsOfEachKind,
} from './measures.ts';
import type { PatientPage } from './page.ts';
import { dateText, type OpenRecord } from './records.ts';
import { resultName } from './result-names.ts';
import { pressureIn, rangeText, valueText } from './values.ts';
import type { Visit } from './visit.ts';

/** Returns the page of all measurements. @throws Refusal */
export async function resultsPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say } = visit;
  const { observations, partial } = await observationsOfEachKind(visit, record);
  const measures = measuresOf(say, observations);
  const known = measures.filter(({ facts }) => facts.length > 0);
  const notes = measures.flatMap((measure) => measure.notes);
  const sections = [...CATEGORIES, 'other' as const].map((category) => {
    const own = known.filter((measure) => categoryOf(measure) === category);
    if (own.length === 0) return html``;
    const title =
      category === 'other' ? say('category.other') : codeLabel(say, 'observationCategory', category);
    return html`<section class="stack" aria-labelledby="c-${category}">
<h2 id="c-${category}">${title}</h2>
<ul class="cards">
${own.map((measure) => measureCard(visit, record, measure, partial.has(measure.key)))}</ul>
</section>
`;
  });
  return {
    title: say('nav.results'),
    lead: html`${say('results.lead')}`,
    record,
    section: 'results',
    body: html`${observations.length === 0 ? html`<div class="empty"><p>${say('results.none')}</p></div>` : html`${sections}`}
${await aiPartOf(visit, 'ai', notes, (note) => noteRow(visit, record, note))}<p class="quiet small">${say('list.utc')}</p>`,
  };
}

function categoryOf({ category }: Measure): (typeof CATEGORIES)[number] | 'other' {
  return CATEGORIES.find((each) => each === category) ?? 'other';
}

function pathOf({ path }: OpenRecord): string {
  return `${path}/results/one`;
}

/** Returns the card of a measurement: name, newest value, chart. @param isPartial whether it has older values, too */
function measureCard(visit: Visit, record: OpenRecord, measure: Measure, isPartial: boolean): Html {
  const { say } = visit;
  const [newest] = measure.facts;
  if (newest === undefined) return html``;
  return html`<li class="card">
<div class="row-top"><h3><a href="${visit.to(pathOf(record), { code: measure.key })}"><bdi>${measure.name}</bdi></a></h3>
<span class="quiet small">${say(isPartial ? 'results.newestvalues' : 'results.values', { values: measure.facts.length })}</span></div>
${latestPart(say, newest)}
${chartsPart(say, measure, 1)}
</li>
`;
}

/** `system|code`, or a code alone, as lists of REST v1 take them. */
const CODE = /^(?:[^\s|]+\|)?[^\s|]+$/;

/** Returns the page of one measurement. @throws Refusal not_found (404) if the record has none of the code */
export async function resultPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say } = visit;
  const key = visit.asked('code', 300) ?? '';
  const { measure, more } =
    (await measureOf(visit, record, key, key)) ?? (await measureOf(visit, record, key)) ?? {};
  if (measure === undefined) throw notFound('Observation', key.slice(0, 64));
  const { name, display, facts, notes } = measure;
  const [newest] = facts;
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
    }${newest === undefined ? html`` : latestPart(say, newest)}
${chartsPart(say, measure)}
${facts.length === 0 ? html`` : tableOf(visit, record, facts)}
<p class="quiet small">${say('list.utc')}</p>
${await aiPartOf(visit, 'ai', notes, (note) => noteRow(visit, record, note))}${more ? html`<p class="quiet">${say('results.more', { most: MOST_OBSERVATIONS })}</p>` : html``}`,
  };
}

/** Returns the charts of a measurement: one for each unit that can't be converted to another, and why they stand apart. @param most charts that are shown */
function chartsPart(say: Visit['say'], { name, facts }: Measure, most = Number.POSITIVE_INFINITY): Html {
  const { charts, without } = chartsOf(say, facts);
  const units = [...new Set(charts.map(({ unit }) => unitText(unit)))];
  const apart =
    units.length < 2
      ? html``
      : html`<p class="quiet small">${say.html('results.apart', { units: html`${units.map((unit, i) => html`${i === 0 ? '' : `${say('shl.comma')} `}<bdi dir="ltr">${unit === '' ? say('results.nounit') : unit}</bdi>`)}` })}</p>
`;
  const left =
    without > 0 && charts.some(isDrawn)
      ? html`<p class="quiet small">${say('results.left', { values: without })}</p>
`
      : html``;
  const shown = charts.filter(isDrawn).slice(0, most);
  return html`${shown.map((data) => (most === 1 ? chart(say, name, data) : chartPart(say, name, data)))}${apart}${most === 1 ? html`` : left}`;
}

function chartPart(say: Visit['say'], name: string, data: ChartData): Html {
  const { range } = data;
  const shaded =
    range === undefined
      ? html``
      : html`<p class="quiet small">${say.html('results.shaded', { range: rangeText(say, range) })}</p>
`;
  return html`${chart(say, name, data)}
${shaded}`;
}

/**
 * Finds a measure, and whether there is more of it. Those without a code, or with one of no system, are among the newest
 * observations of all codes alone.
 * @param code reads the observations that have it
 */
async function measureOf(
  visit: Visit,
  record: OpenRecord,
  key: string,
  code?: string,
): Promise<{ readonly measure: Measure; readonly more: boolean } | undefined> {
  if (code !== undefined && !CODE.test(code)) return undefined;
  const { observations, more } = await observationsOf(visit, record, code);
  const measures = measuresOf(visit.say, observations);
  // A bare code means LOINC, as in lists of REST v1.
  const measure =
    measures.find((each) => each.key === key) ?? measures.find((each) => each.key === `${LOINC}|${key}`);
  return measure === undefined ? undefined : { measure, more };
}

/** Returns the newest value, with its day and what is said of it. Values of several parts are long: they are smaller. */
function latestPart(say: Visit['say'], newest: Observation): Html {
  const { value, components } = newest;
  const isLong = value === null && components.length > 0 && pressureIn(say, components) === undefined;
  return html`<p class="latest${isLong ? ' parts' : ''}">${markedValue(say, newest)} <small>${dateText(say, dateOf(newest))}</small> ${judgementBadge(say, newest)} ${statusBadge(say, newest)}</p>`;
}

/** Returns a value that stands out if it is critical. */
export function markedValue(say: Visit['say'], each: Observation): Html {
  const shown = valueText(say, each);
  return judgementOf(each)?.grade === 'critical' ? html`<strong class="fault">${shown}</strong>` : shown;
}

function tableOf(visit: Visit, record: OpenRecord, facts: readonly Observation[]): Html {
  const { say } = visit;
  const ranged = facts.some((each) => rangeOf(each) !== undefined);
  const days = facts.map((each) => dayIn(dateOf(each)));
  const rows = facts.map((each, i) => {
    const isAmongOthers = days[i] === days[i - 1] || days[i] === days[i + 1];
    const [type = '', id = ''] = each.fhir.split('/', 2);
    const url = visit.to(`${record.path}/entries/${encodeURIComponent(type)}/${encodeURIComponent(id)}`);
    const note =
      each.note === null ? html`` : html`<br><span class="quiet small"><bdi>${each.note}</bdi></span>`;
    const own = rangeOf(each);
    const range = own === undefined ? html`–` : rangeText(say, own);
    return html`<tr><th scope="row"><a href="${url}">${momentText(say, each, isAmongOthers)}<span class="visually-hidden"> ${say('entry.who')}</span></a></th>
<td>${markedValue(say, each)} ${judgementBadge(say, each)} ${statusBadge(say, each)}${note}</td>${ranged ? html`<td>${range}</td>` : html``}</tr>
`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${say('results.table')}">
<table>
<caption>${say('results.table')}. ${say('results.origin')}</caption>
<thead><tr><th scope="col">${say('results.day')}</th><th scope="col">${say('results.value')}</th>${ranged ? html`<th scope="col">${say('results.range')}</th>` : html``}</tr></thead>
<tbody>
${rows}</tbody>
</table>
</div>`;
}

/** Returns the row of a value that an AI noted. */
export function noteRow(visit: Visit, record: OpenRecord, note: Observation): Html {
  const { say } = visit;
  const name = resultName(say, note);
  return html`<li><p class="row-top"><strong><bdi>${name}</bdi></strong> <span class="quiet small">${dateText(say, dateOf(note))}</span></p>
<p>${markedValue(say, note)} ${judgementBadge(say, note)} ${statusBadge(say, note)}${originAfter(visit, record, note.fhir, name)}</p></li>
`;
}

/** Returns a mark for a result that isn't final. */
export function statusBadge(say: Visit['say'], { status }: Observation): Html {
  return status === 'preliminary'
    ? html`<span class="badge warn">${codeLabel(say, 'resultStatus', status)}</span>`
    : html``;
}

/** Returns the day of a value in few characters, with the time if the day has other values. Less than a day stays as it is. */
function momentText(say: Visit['say'], each: Observation, withTime: boolean): Html {
  const date = dateOf(each);
  if (!/^\d{4}-\d\d-\d\d/.test(date)) return html`${date}`;
  const day = say.shortDay(Date.parse(dayIn(date)));
  const offset = /[+-]\d\d:\d\d$/.exec(date.slice(10))?.[0] ?? '';
  const hasTime = each.effective_at === null || each.effective_at.includes('T');
  return withTime && hasTime
    ? html`${day}<br><small dir="ltr">${date.slice(11, 16)}${offset === '' ? '' : ` ${offset}`}</small>`
    : html`${day}`;
}
