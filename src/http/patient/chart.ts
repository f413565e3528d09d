/**
 * A chart of values over time as SVG: the reference range shaded, values outside of it as squares, so that colour is not
 * all that tells them apart. Its text alternative says what the newest value is; the page has all values in a table.
 */

import { unitText } from '#src/clinical/reading/unit.ts';
import { type Html, html } from '#src/shared/html.ts';
import type { Texts } from '../pages/texts.ts';
import type { ChartData, Series } from './measures.ts';

const WIDTH = 400;
const HEIGHT = 190;
const LEFT = 46;
const RIGHT = 14;
const TOP = 14;
const BOTTOM = 30;
/** Points from which only the line is drawn. */
const DENSE = 60;
/** The class of each line; three at most. */
const LINES = ['first', 'second', 'more'] as const;

/** Returns whether there is a chart: one value has none. */
export function isDrawn({ series }: Pick<ChartData, 'series'>): boolean {
  return series.reduce((sum, { points }) => sum + points.length, 0) > 1;
}

/** Returns the chart; nothing for fewer than two values. @param name of what was measured */
export function chart(say: Texts, name: string, { series, range }: ChartData): Html {
  const points = series.flatMap((line) => line.points);
  const [first] = points;
  if (first === undefined || !isDrawn({ series })) return html``;
  const times = points.map(({ at }) => at);
  const [from, until] = [Math.min(...times), Math.max(...times)];
  const bounds = [range?.low ?? null, range?.high ?? null].filter((bound) => bound !== null);
  const values = [...points.map(({ value }) => value), ...bounds];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const margin = most === least ? Math.abs(most) * 0.1 || 1 : (most - least) * 0.1;
  const [low, high] = [least - margin, most + margin];
  const x = (at: number): string =>
    fixed(
      until === from
        ? (LEFT + WIDTH - RIGHT) / 2
        : LEFT + ((at - from) / (until - from)) * (WIDTH - LEFT - RIGHT),
    );
  const y = (value: number): string => fixed(TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - BOTTOM));
  const ticks = [...new Set([least, ...bounds, most])].filter((tick, i, all) =>
    all.slice(0, i).every((other) => Math.abs(other - tick) > (high - low) * 0.09),
  );
  const unit = series[0]?.unit ?? '';
  const [begin, end] = endsOf(say, from, until);
  // As many digits as tell the ends apart.
  const digits = Math.min(20, Math.max(3, 1 - Math.floor(Math.log10(high - low))));
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${summaryOf(say, name, series)}">
${
  range === undefined
    ? html``
    : html`<rect class="range" x="${LEFT}" y="${y(range.high ?? high)}" width="${WIDTH - LEFT - RIGHT}" height="${fixed(Number(y(range.low ?? low)) - Number(y(range.high ?? high)))}"/>
${bounds.map(
  (bound) => html`<line class="bound" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(bound)}" y2="${y(bound)}"/>
`,
)}`
}${ticks.map(
  (
    tick,
  ) => html`<line class="grid" x1="${LEFT - 4}" x2="${LEFT}" y1="${y(tick)}" y2="${y(tick)}"/><text x="${LEFT - 7}" y="${fixed(Number(y(tick)) + 4)}" text-anchor="end">${say.number(tick, digits)}</text>
`,
)}<line class="grid" x1="${LEFT}" x2="${LEFT}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/><line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${HEIGHT - BOTTOM}" y2="${HEIGHT - BOTTOM}"/>
<text x="${LEFT}" y="${HEIGHT - 10}">${begin}</text>${
    from === until
      ? html``
      : html`<text x="${WIDTH - RIGHT}" y="${HEIGHT - 10}" text-anchor="end">${end}</text>`
  }<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">${unit === '1' ? '' : unitText(unit)}</text>
${series.map((line, i) => lineOf(line, LINES[i] ?? 'more', x, y))}</svg>
${series.length < 2 ? html`` : legend(series)}`;
}

function lineOf(
  { points }: Series,
  name: string,
  x: (at: number) => string,
  y: (value: number) => string,
): Html {
  const path = points.map(({ at, value }) => `${x(at)},${y(value)}`).join(' ');
  const dots =
    points.length > DENSE
      ? html``
      : html`${points.map(({ at, value, out }) =>
          out
            ? html`<rect class="dot out" x="${fixed(Number(x(at)) - 4)}" y="${fixed(Number(y(value)) - 4)}" width="8" height="8"/>`
            : html`<circle class="dot" cx="${x(at)}" cy="${y(value)}" r="3.5"/>`,
        )}`;
  return html`<g class="${name}"><polyline class="line" points="${path}"/>${dots}</g>
`;
}

/** Returns which line is which; the lines differ by their dashes, too. */
function legend(series: readonly Series[]): Html {
  return html`<p class="legend">${series.map(
    ({ name }, i) =>
      html`<span><svg class="chart" viewBox="0 0 32 12" aria-hidden="true"><g class="${LINES[i] ?? 'more'}"><line class="line" x1="1" x2="31" y1="6" y2="6"/></g></svg> <bdi>${name}</bdi></span> `,
  )}</p>
`;
}

/** Returns the chart in a sentence for each line. */
function summaryOf(say: Texts, name: string, series: readonly Series[]): string {
  return series
    .map(({ name: line, unit, points }) => {
      const values = points.map(({ value }) => value);
      const last = points.at(-1);
      return say('chart.summary', {
        name: series.length === 1 ? name : line,
        values: points.length,
        least: say.number(Math.min(...values), 3),
        most: say.number(Math.max(...values), 3),
        last: `${say.number(last?.value ?? 0, 3)} ${unit === '1' ? '' : unitText(unit)}`.trim(),
        day: say.day(last?.at ?? 0),
      });
    })
    .join(' ');
}

const months = new Map<string, Intl.DateTimeFormat>();

function monthOf({ lang }: Texts, at: number): string {
  const format =
    months.get(lang) ?? new Intl.DateTimeFormat(lang, { month: 'short', year: 'numeric', timeZone: 'UTC' });
  months.set(lang, format);
  return format.format(at).replace(/[\u200e\u200f\u061c]/g, '');
}

/** Returns the labels of both ends: their months, or their days in one month, or their times (UTC) on one day. */
function endsOf(say: Texts, from: number, until: number): readonly [string, string] {
  const [first, last] = [monthOf(say, from), monthOf(say, until)];
  if (first !== last || from === until) return [first, last];
  const [day, otherDay] = [say.shortDay(from), say.shortDay(until)];
  if (day !== otherDay) return [day, otherDay];
  const [time, otherTime] = [from, until].map((at) => `${new Date(at).toISOString().slice(11, 16)} UTC`);
  return [time ?? '', time === otherTime ? '' : (otherTime ?? '')];
}

/** Returns a coordinate with one digit. */
function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}
