/** Shows a record's results: first the abnormal ones, then all results by group, with a search. It works without scripts. */
import { findResultGroup, RESULT_GROUPS, type ResultGroup } from '#src/clinical/reading/result-groups.ts';
import { type Html, html } from '#src/shared/html.ts';
import { LOINC } from '#src/v1/elements.ts';
import { CATEGORIES } from '#src/v1/observation.ts';
import { codeLabel } from '../../reading/code-label.ts';
import {
  abnormalAmong,
  groupMeasures,
  type Measure,
  MOST_OBSERVATIONS,
  observationsOfEachKind,
} from '../../reading/measures.ts';
import { withValueChanges } from '../../reading/value-changes.ts';
import { renderAiPart } from '../entries.ts';
import type { PatientPage } from '../page.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';
import { besidePart, chartsPart, latestPart, measureUrl, noteRow } from './result-parts.ts';
import { resultSource } from './result-source.ts';

/** All charts are open if there are at most this many kinds. */
const FEW = 4;
/** All groups are open if there are at most this many kinds. */
const MANY = 24;

/** How a row shows its chart; `absent` if a different row shows it. */
type Course = 'open' | 'folded' | 'absent';

/** A part of the page. */
interface Part {
  readonly id: string;
  readonly title: string;
  readonly measures: readonly Measure[];
}

/**
 * Returns the page with all measurements.
 * @throws Refusal
 */
export async function resultsPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say } = visit;
  const { observations, partial, more, notDone } = await observationsOfEachKind(resultSource(visit, record));
  const asked = visit.asked('q', 100)?.trim();
  const all = await withValueChanges(say, groupMeasures(say, observations), visit.deps.pages.replaced);
  const found = asked === undefined ? all : all.filter((measure) => isCalled(say, measure, asked));
  const known = found.filter(({ facts }) => facts.length > 0);
  const abnormal = abnormalAmong(known);
  const notes = found.flatMap((measure) => measure.notes);
  const parts = groupParts(say, known);
  const areFolded = asked === undefined && known.length > MANY;
  const card = (measure: Measure, course: Course): Html =>
    measureCard(visit, record, measure, partial.has(measure.key), course);
  const course = known.length <= FEW ? 'open' : 'folded';
  const first =
    abnormal.length === 0
      ? html``
      : html`<section class="stack" aria-labelledby="abnormal">
<h2 id="abnormal">${say('results.abnormal')}</h2>
<ul class="rows">
${abnormal.map((measure, n) => card(measure, n < FEW ? 'open' : 'folded'))}</ul>
</section>
`;
  const sections = parts.map(({ id, title, measures }) => {
    const rows = html`<ul class="rows">
${measures.map((measure) => card(measure, abnormal.includes(measure) ? 'absent' : course))}</ul>`;
    return areFolded
      ? html`<section aria-labelledby="${id}"><details class="group"${visit.asked('group', 40) === id ? html` open` : html``}><summary><h2 id="${id}">${title}</h2> <span class="quiet small">${say('results.kinds', { kinds: measures.length })}</span></summary>
${rows}</details></section>
`
      : html`<section class="stack" aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${rows}
</section>
`;
  });
  const empty = html`<div class="empty"><p>${asked === undefined ? say('results.none') : say('results.nothing', { q: asked })}</p></div>`;
  return {
    title: say('nav.results'),
    lead: html`${say('results.lead')}`,
    record,
    section: 'results',
    body: html`${all.length === 0 ? html`` : findPart(visit, record, asked)}${asked === undefined && parts.length > 1 ? jumpPart(visit, record, parts, areFolded) : html``}
${known.length + notes.length === 0 ? empty : html`${first}${sections}`}
${await renderAiPart(visit, 'ai', notes, (note) => noteRow(visit, record, note))}${leftPart(say, notDone, more)}`,
  };
}

/** Returns the measurements by group: first the groups of LOINC codes, then the categories of the remaining measurements. */
function groupParts(say: Visit['say'], measures: readonly Measure[]): readonly Part[] {
  const places = new Map(measures.map((measure) => [measure, resultPlace(measure)]));
  const isIn = (measure: Measure, id: string): boolean => places.get(measure)?.id === id;
  const order = (measure: Measure): number => places.get(measure)?.at ?? 0;
  const part = (id: string, title: string): Part => ({
    id: `g-${id}`,
    title,
    measures: measures.filter((each) => isIn(each, id)).sort((a, b) => order(a) - order(b)),
  });
  return [
    ...(Object.keys(RESULT_GROUPS) as ResultGroup[]).map((group) => part(group, groupTitle(say, group))),
    ...CATEGORIES.map((category) =>
      part(
        category,
        category === 'laboratory' ? say('group.laboratory') : codeLabel(say, 'observationCategory', category),
      ),
    ),
    part('other', say('category.other')),
  ].filter(({ measures: own }) => own.length > 0);
}

function resultPlace({ system, code, category }: Measure): { readonly id: string; readonly at: number } {
  const place = system === LOINC && code !== null ? findResultGroup(code) : undefined;
  if (place !== undefined) return { id: place.group, at: place.at };
  const known = CATEGORIES.find((each) => each === category);
  if (known === 'vital-signs') return { id: 'vitalSigns', at: Number.MAX_SAFE_INTEGER };
  return { id: known ?? 'other', at: 0 };
}

/** The names of the groups. */
const TITLES = {
  diabetes: 'group.diabetes',
  kidney: 'group.kidney',
  electrolytes: 'group.electrolytes',
  bloodCount: 'group.bloodcount',
  lipids: 'group.lipids',
  liver: 'group.liver',
  thyroid: 'group.thyroid',
  inflammation: 'group.inflammation',
  coagulation: 'group.coagulation',
  heart: 'group.heart',
  ironVitamins: 'group.vitamins',
} as const satisfies Readonly<Record<Exclude<ResultGroup, 'vitalSigns'>, string>>;

function groupTitle(say: Visit['say'], group: ResultGroup): string {
  return group === 'vitalSigns' ? codeLabel(say, 'observationCategory', 'vital-signs') : say(TITLES[group]);
}

/** Returns whether a search matches a measurement's name, the laboratory's name for it, its code or its group. */
function isCalled(say: Visit['say'], measure: Measure, asked: string): boolean {
  const { name, display, code } = measure;
  const [part] = groupParts(say, [measure]);
  const words = folded([name, display, code, part?.title].join(' '));
  return folded(asked)
    .split(/\s+/)
    .every((word) => words.includes(word));
}

function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

function findPart(visit: Visit, { path }: OpenRecord, asked: string | undefined): Html {
  const { say } = visit;
  const url = visit.to(`${path}/results`);
  const lang = visit.query.has('lang')
    ? html`<input type="hidden" name="lang" value="${say.lang}">
`
    : html``;
  return html`<form class="find" method="get" role="search" action="${url.split('?', 1)[0] ?? ''}">
${lang}<label for="q">${say('results.find')}</label>
<span><input id="q" name="q" type="search" maxlength="100" value="${asked ?? ''}"><button class="button second small">${say('results.search')}</button></span>
${asked === undefined ? html`` : html`<a href="${url}">${say('results.all')}</a>`}</form>
`;
}

/**
 * Returns links to the groups.
 * @param areFolded whether the groups are collapsed, so that a link must open its group
 */
function jumpPart(visit: Visit, { path }: OpenRecord, parts: readonly Part[], areFolded: boolean): Html {
  const links = parts.map(({ id, title }) => {
    const url = areFolded ? visit.to(`${path}/results`, { group: id }) : '';
    return html`<li><a href="${url}#${id}">${title}</a></li>
`;
  });
  return html`<nav class="jump" aria-label="${visit.say('results.groups')}"><ul>
${links}</ul></nav>
`;
}

/**
 * Returns the row for a measurement: name, newest value, chart.
 * @param isPartial whether the measurement also has older values
 */
function measureCard(
  visit: Visit,
  record: OpenRecord,
  measure: Measure,
  isPartial: boolean,
  course: Course,
): Html {
  const { say } = visit;
  const { latest } = measure;
  if (latest === undefined) return html``;
  const charts = course === 'absent' ? html`` : chartsPart(say, measure, 1);
  const shown =
    charts.text === ''
      ? html``
      : html`<details class="course"${course === 'open' ? html` open` : html``}><summary>${say('results.course')}<span class="visually-hidden">: <bdi>${measure.name}</bdi></span></summary>
${charts}</details>`;
  return html`<li class="measure"><div class="row-top"><h3><a href="${measureUrl(visit, record, measure)}"><bdi>${measure.name}</bdi></a></h3>
<span class="quiet small">${say(isPartial ? 'results.newestvalues' : 'results.values', { values: measure.facts.length })}</span></div>
<div class="row-top">${latestPart(say, latest)}${besidePart(say, measure)}
${shown}</div></li>
`;
}

/** Returns a note about the results that the page leaves out. */
function leftPart(say: Visit['say'], notDone: number, more: boolean): Html {
  const absent =
    notDone === 0
      ? html``
      : html`<p class="quiet small">${say('results.notdone', { values: notDone })}</p>
`;
  return more
    ? html`${absent}<p class="quiet small">${say('results.uncoded', { most: MOST_OBSERVATIONS })}</p>`
    : absent;
}
