/** Draws numbers by day. */
import { useEffect, useRef } from 'preact/hooks';
import { dateLocale, say } from '../texts/texts.ts';
import { drawPlot } from './plot.ts';

/** A line of a chart. */
export interface Line {
  readonly name: string;
  /** A CSS variable. */
  readonly colour: string;
  readonly dash?: readonly number[] | undefined;
  /** One number per day; null if unknown. */
  readonly values: readonly (number | null)[];
}

const HEIGHT = 220;

/** The possible steps between a chart's grid lines, in seconds: whole days. */
const DAYS = [1, 2, 7, 14].map((days) => days * 86_400);
/** The possible steps between a chart's grid lines: whole numbers, because the chart shows counts. */
const WHOLE = [1, 2, 5]
  .flatMap((step) => Array.from({ length: 12 }, (_, power) => step * 10 ** power))
  .sort((a, b) => a - b);

/**
 * Returns a chart; the numbers that it shows must also be in a table.
 * @param dates `YYYY-MM-DD`, oldest first
 */
export function Chart({
  title,
  dates,
  lines,
  sayValue,
}: {
  readonly title: string;
  readonly dates: readonly string[];
  readonly lines: readonly Line[];
  /** Formats a number on the axis. */
  readonly sayValue: (value: number) => string;
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    const { remove } = drawPlot(
      current,
      HEIGHT,
      [dates.map((date) => Date.parse(date) / 1_000), ...lines.map(({ values }) => [...values])],
      ({ colour, axis }) => ({
        cursor: { show: false },
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max)] } },
        axes: [
          {
            ...axis,
            incrs: DAYS,
            values: (_plot, at) => at.map((seconds) => sayDate(new Date(seconds * 1_000).toISOString())),
          },
          { ...axis, size: 64, incrs: WHOLE, values: (_plot, at) => at.map(sayValue) },
        ],
        series: [
          {},
          ...lines.map(({ name, colour: variable, dash }) => ({
            label: name,
            stroke: colour(variable),
            width: 2,
            points: { show: true },
            ...(dash === undefined ? {} : { dash: [...dash] }),
          })),
        ],
      }),
    );
    return remove;
  }, [dates, lines]);
  return (
    <section class="panel">
      <h2>{title}</h2>
      {lines.length === 1 ? null : (
        <ul class="legend">
          {lines.map(({ name, colour, dash }) => (
            <li key={name} style={{ '--line-colour': `var(${colour})` }} class={dash && 'dashed'}>
              {name}
            </li>
          ))}
        </ul>
      )}
      <div ref={place} role="img" aria-label={say('usage.chart', { what: title })} />
    </section>
  );
}

/**
 * Returns a recent day in the language's format.
 * @param date a day in UTC
 */
export function sayDate(date: string): string {
  return new Intl.DateTimeFormat(dateLocale.value, {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  }).format(new Date(date));
}
