/**
 * Draws a chart of values over time as SVG. The reference range is shaded, and values outside it are squares, so that colour
 * isn't the only difference. The time axis runs from left to right in every language. The text alternative gives the newest
 * value; the page lists all values in a table.
 */

import { formatDecimal } from '#src/clinical/reading/numbers/decimal.ts';
import { joinUnit, unitTextIn } from '#src/clinical/reading/numbers/quantity.ts';
import { type Html, html } from '#src/shared/html.ts';
import { dayIn, isVague, timeIn } from '#src/shared/time/day.ts';
import type { Texts } from '../../pages/texts.ts';
import { dateText } from '../../reading/day-text.ts';
import { numberText } from '../../reading/values.ts';
import { axisFor } from './chart-axis.ts';
import type { ChartData, Point, Series } from './chart-data.ts';

const WIDTH = 400;
const HEIGHT = 200;
/** Space for the unit above the plot, and for the first and last dates below it. */
const TOP = 30;
const BOTTOM = 30;
/** Pixels per character of a label, and the space beside the label. */
const CHARACTER = 7;
const BESIDE = 12;
/** Labels that are closer together than this, in pixels, would overlap. */
const LABEL = 13;
/** With this many points or more, only the line is drawn. */
const DENSE = 60;
/** The class of each line; there are at most three. */
const LINES = ['first', 'second', 'more'] as const;

/** Returns whether a chart is drawn; there is none for a single value. */
export function isDrawn({ series }: Pick<ChartData, 'series'>): boolean {
  return series.reduce((sum, { points }) => sum + points.length, 0) > 1;
}

/**
 * Returns the chart; empty if there are fewer than two values.
 * @param name the measurement's name
 */
export function chart(say: Texts, name: string, { series, range, unit }: ChartData): Html {
  const points = series.flatMap((line) => line.points);
  if (!isDrawn({ series })) return html``;
  const times = points.map(({ at }) => at);
  const [from, until] = [Math.min(...times), Math.max(...times)];
  const ends = [range?.low ?? null, range?.high ?? null].filter((end) => end !== null);
  const bounds = ends.map(Number);
  const [bottom, top] = [range?.low, range?.high].map((end) => (end == null ? undefined : Number(end)));
  const values = [...points.map(({ value }) => value), ...bounds];
  const { low, high, ticks, digits } = axisFor(Math.min(...values), Math.max(...values));
  const label = (value: number): string => formatDecimal(value.toFixed(digits), say.lang);
  const limits = ends.map((end) => formatDecimal(shortened(end), say.lang));
  const roomFor = (texts: readonly string[]): number =>
    BESIDE + Math.max(0, ...texts.map(({ length }) => length)) * CHARACTER;
  const [left, end] = [roomFor(ticks.map(label)), WIDTH - roomFor(limits)];
  const x = (at: number): number =>
    until === from ? (left + end) / 2 : left + 8 + ((at - from) / (until - from)) * (end - left - 16);
  const y = (value: number): number => TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const ordered = [...points].sort((a, b) => a.at - b.at);
  const [begin, finish] = labelEnds(say, ordered[0]?.date ?? '', ordered.at(-1)?.date ?? '');
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${describeChart(say, name, series)}">
<text x="0" y="13">${unitTextIn(unit, say.lang)}</text>
${ticks.map(
  (tick) =>
    html`<line class="grid" x1="${left}" x2="${end}" y1="${fixed(y(tick))}" y2="${fixed(y(tick))}"/><text x="${left - 7}" y="${fixed(y(tick) + 4)}" text-anchor="end">${label(tick)}</text>
`,
)}${
  range === undefined
    ? html``
    : html`<rect class="range" x="${left}" y="${fixed(y(top ?? high))}" width="${end - left}" height="${fixed(y(bottom ?? low) - y(top ?? high))}"/>
${bounds.map((bound, i) => {
  const isCovered = i === 1 && Math.abs(y(bounds[0] ?? bound) - y(bound)) < LABEL;
  return html`<line class="bound" x1="${left}" x2="${end}" y1="${fixed(y(bound))}" y2="${fixed(y(bound))}"/>${isCovered ? html`` : html`<text class="limit" x="${end + 5}" y="${fixed(y(bound) + 4)}">${limits[i] ?? ''}</text>`}
`;
})}`
}<text x="${left}" y="${HEIGHT - 8}">${begin}</text>${
    finish === '' ? html`` : html`<text x="${end}" y="${HEIGHT - 8}" text-anchor="end">${finish}</text>`
  }
${series.map((line, i) => drawLine(line, LINES[i] ?? 'more', x, y))}</svg>
${series.length < 2 ? html`` : legend(series)}`;
}

function drawLine(
  { points }: Series,
  name: string,
  x: (at: number) => number,
  y: (value: number) => number,
): Html {
  const path = points.map(({ at, value }) => `${fixed(x(at))},${fixed(y(value))}`).join(' ');
  const shown = points.length > DENSE ? points.filter(isOutside) : points;
  return html`<g class="${name}"><polyline class="line" points="${path}"/>${shown.map((point) =>
    drawDot(point, x(point.at), y(point.value)),
  )}</g>
`;
}

function isOutside({ grade }: Point): boolean {
  return grade === 'out' || grade === 'critical';
}

/** Returns the mark for a value: a square if the value is outside its range, otherwise a circle. */
function drawDot(point: Point, x: number, y: number): Html {
  const { grade } = point;
  if (isOutside(point))
    return html`<rect class="dot ${grade === 'critical' ? 'critical' : 'out'}" x="${fixed(x - 4)}" y="${fixed(y - 4)}" width="8" height="8"/>`;
  return html`<circle class="dot${grade === 'good' ? ' good' : ''}" cx="${fixed(x)}" cy="${fixed(y)}" r="3.5"/>`;
}

/** Returns the legend, which identifies the lines. The lines also have different dashes. */
function legend(series: readonly Series[]): Html {
  return html`<p class="legend">${series.map(
    ({ name }, i) =>
      html`<span><svg class="chart" viewBox="0 0 32 12" aria-hidden="true"><g class="${LINES[i] ?? 'more'}"><line class="line" x1="1" x2="31" y1="6" y2="6"/></g></svg> <bdi>${name}</bdi></span> `,
  )}</p>
`;
}

/** Returns the chart in words, with one sentence for each line. */
function describeChart(say: Texts, name: string, series: readonly Series[]): string {
  return series
    .map(({ name: line, measured, points }) => {
      const ascending = points.toSorted((a, b) => a.value - b.value);
      const last = points.at(-1);
      const number = (point: Point | undefined): string => numberText(say, point?.literal ?? '', measured);
      return say('chart.summary', {
        name: series.length === 1 ? name : line,
        values: points.length,
        least: number(ascending[0]),
        most: number(ascending.at(-1)),
        last: joinUnit(number(last), unitTextIn(measured.unit ?? '', say.lang)),
        day: dateText(say, last?.date ?? ''),
      });
    })
    .join(' ');
}

/** Returns an end of a range as written, or with six digits if it has more, as converted numbers do. */
function shortened(literal: string): string {
  const short = Number(Number(literal).toPrecision(6));
  return short === Number(literal) ? literal : String(short);
}

const months = new Map<string, Intl.DateTimeFormat>();

/** Returns the month of a FHIR date in short form; the year if the date has no month. */
function monthText({ lang }: Texts, date: string): string {
  if (date.length < 7) return date;
  const format =
    months.get(lang) ?? new Intl.DateTimeFormat(lang, { month: 'short', year: 'numeric', timeZone: 'UTC' });
  months.set(lang, format);
  return format.format(Date.parse(`${date.slice(0, 7)}-01`)).replace(/[\u200e\u200f\u061c]/g, '');
}

/**
 * Returns the labels for both ends of the time axis, as written: the months; the days, if both ends are in the same month; or
 * the times, if both are on the same day.
 */
function labelEnds(say: Texts, from: string, until: string): readonly [string, string] {
  const [first, last] = [monthText(say, from), monthText(say, until)];
  if (first !== last) return [first, last];
  if (isVague(from) || isVague(until)) return [first, ''];
  const [day, otherDay] = [from, until].map((date) => say.shortDay(Date.parse(dayIn(date))));
  if (day === undefined || otherDay === undefined || day !== otherDay) return [day ?? '', otherDay ?? ''];
  const [time, otherTime] = [from, until].map((date) =>
    timeIn(date)
      ?.replace(/Z$/, ' UTC')
      .replace(/(?=[+-])/, ' '),
  );
  return time === undefined || otherTime === undefined || time === otherTime ? [day, ''] : [time, otherTime];
}

/** Returns a coordinate with one decimal place. */
function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}
