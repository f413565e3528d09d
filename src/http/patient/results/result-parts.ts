/** Renders parts of the results pages: a measurement's newest value, its charts, and values noted by an AI. */
import { unitTextIn } from '#src/clinical/reading/numbers/quantity.ts';
import { type Html, html } from '#src/shared/html.ts';
import { resultName } from '../../pages/result-names.ts';
import { codeLabel } from '../../reading/code-label.ts';
import { judge } from '../../reading/judgement.ts';
import type { Measure, Observation } from '../../reading/measures.ts';
import { besideText, pressureIn, whenMeasured } from '../../reading/values.ts';
import { originAfter } from '../entries.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';
import { chart, isDrawn } from './chart.ts';
import { type ChartData, countLeft, makeCharts } from './chart-data.ts';
import { judgementBadge } from './judgement-badge.ts';
import { renderRange, renderValue } from './values.ts';

/** Returns the URL of a measurement's page. */
export function measureUrl(visit: Visit, { path }: OpenRecord, { key }: Measure): string {
  return visit.to(`${path}/results/one`, { code: key });
}

/** Returns a value with its day and judgement. Values with several parts are long, so they are shown in a smaller size. */
export function latestPart(say: Visit['say'], each: Observation): Html {
  const { value, components } = each;
  const isLong = value === null && components.length > 0 && pressureIn(say, components) === undefined;
  return html`<p class="latest${isLong ? ' parts' : ''}">${markedValue(say, each)} <small>${whenMeasured(say, each)}</small> ${judgementBadge(say, each)} ${statusBadge(say, each)}</p>`;
}

/**
 * Returns what is shown next to the newest value. This includes other values from the same time, and how a later version
 * changed the value. For a later measurement without a value, it includes its day, a note that it has no value, and its
 * judgement.
 */
export function besidePart(
  say: Visit['say'],
  { failed, beside, changed }: Pick<Measure, 'failed' | 'beside' | 'changed'>,
): Html {
  const others = besideText(say, beside);
  const also = html`${others === undefined ? html`` : html` <span class="badge warn"><bdi>${others}</bdi></span>`}${changed === undefined ? html`` : html` <small class="quiet changed"><bdi>${changed}</bdi></small>`}`;
  return failed === undefined
    ? also
    : html`${also} <small class="quiet">(${whenMeasured(say, failed)}: ${renderValue(say, failed)})</small> ${judgementBadge(say, failed)}`;
}

/** Returns a value, highlighted if it is critical. */
export function markedValue(say: Visit['say'], each: Observation): Html {
  const shown = renderValue(say, each);
  return judge(each)?.grade === 'critical' ? html`<strong class="fault">${shown}</strong>` : shown;
}

/** Returns a badge for a result that isn't final. */
export function statusBadge(say: Visit['say'], { status }: Observation): Html {
  return status === 'preliminary'
    ? html`<span class="badge warn">${codeLabel(say, 'resultStatus', status)}</span>`
    : html``;
}

/**
 * Returns a measurement's charts, one for each unit that can't be converted to another. If there are several, it says why; it
 * also says how many values are in no chart.
 * @param most maximum number of charts shown
 */
export function chartsPart(
  say: Visit['say'],
  { name, facts }: Measure,
  most = Number.POSITIVE_INFINITY,
): Html {
  const charts = makeCharts(say, facts);
  const drawn = charts.filter(isDrawn);
  const shown = drawn.slice(0, most);
  if (shown.length === 0) return html``;
  const units = [...new Set(charts.map(({ unit }) => unitTextIn(unit, say.lang)))];
  const apart =
    units.length < 2
      ? html``
      : html`<p class="quiet small">${say.html('results.apart', { units: html`${units.map((unit, i) => html`${i === 0 ? '' : `${say('shl.comma')} `}<bdi dir="ltr">${unit === '' ? say('results.nounit') : unit}</bdi>`)}` })}</p>
`;
  const left = countLeft(facts, shown);
  const absent =
    left === 0
      ? html``
      : html`<p class="quiet small">${say('results.left', { values: left })}</p>
`;
  return html`${shown.map((data) => (most === 1 ? chart(say, name, data) : chartPart(say, name, data)))}${apart}${absent}`;
}

function chartPart(say: Visit['say'], name: string, data: ChartData): Html {
  const { range } = data;
  const shaded =
    range === undefined
      ? html``
      : html`<p class="quiet small">${say.html('results.shaded', { range: renderRange(say, range) })}</p>
`;
  return html`${chart(say, name, data)}
${shaded}`;
}

/** Returns the row for a value noted by an AI. Normal values aren't marked as normal, because nobody has confirmed them. */
export function noteRow(visit: Visit, record: OpenRecord, note: Observation): Html {
  const { say } = visit;
  const name = resultName(say, note);
  const badge = judge(note)?.grade === 'good' ? html`` : judgementBadge(say, note);
  return html`<li><p class="row-top"><strong><bdi>${name}</bdi></strong> <span class="quiet small">${whenMeasured(say, note)}</span></p>
<p>${markedValue(say, note)} ${badge} ${statusBadge(say, note)}${originAfter(visit, record, note.fhir, name)}</p></li>
`;
}
