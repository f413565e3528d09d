/** A result's values over time, with their reference range. You can zoom in on a part of the chart. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { formatDecimal } from '../../../src/clinical/reading/numbers/decimal.ts';
import { type AnswerOf, withQuery } from '../../api.ts';
import { parseDigits, type WithDigits } from '../../indent.ts';
import { useLoaded } from '../../load.ts';
import { Button, Shown, Table } from '../../parts/parts.tsx';
import { drawPlot } from '../../parts/plot.ts';
import { language, say, sayDate } from '../../texts/texts.ts';
import type { RecordPlace } from './record-place.ts';

type Answer = AnswerOf<'GET', '/v1/patients/{patient_id}/series'>;
type Series = WithDigits<Answer>['data'][number];
type Point = Series['points'][number];

const HEIGHT = 240;
const YEAR = 365.25 * 86_400;

/** Returns the chart for a code, `system|code`. */
export function ResultChart({
  code,
  title,
  place,
}: {
  readonly code: string;
  readonly title: string;
  readonly place: RecordPlace;
}) {
  const { records, patient, asOf, keys } = place;
  const series = useLoaded(
    async (signal) => {
      const path = withQuery(`/v1/patients/${patient}/series`, { code, bucket: 'raw', ...asOf });
      const { text } = await records.send('GET', path, undefined, { signal });
      return parseDigits<Answer>(text);
    },
    [...keys, code],
  );
  return (
    <Shown of={series}>
      {({ data }) =>
        data.every(({ points }) => points.length === 0) ? (
          <p class="quiet">{say('record.chart.none')}</p>
        ) : (
          data.map((each) => (
            <Plot key={`${each.code} ${each.unit}`} series={each} title={title} place={place} />
          ))
        )
      }
    </Shown>
  );
}

function Plot({
  series,
  title,
  place,
}: {
  readonly series: Series;
  readonly title: string;
  readonly place: RecordPlace;
}) {
  const { points, unit, warnings } = series;
  const [years, zoom] = useState<number>();
  const range = points.findLast(({ reference_range }) => reference_range !== null)?.reference_range ?? null;
  return (
    <figure class="chart">
      <Canvas
        points={points}
        range={range}
        years={years}
        label={say('record.chart.of', { what: title, unit: unit ?? '' })}
      />
      <div class="acts">
        {[1, 5].map((each) => (
          <Button key={each} aria-pressed={years === each} onClick={() => zoom(each)}>
            {say(each === 1 ? 'record.chart.year' : 'record.chart.years', { years: each })}
          </Button>
        ))}
        <Button aria-pressed={years === undefined} onClick={() => zoom(undefined)}>
          {say('record.chart.all')}
        </Button>
      </div>
      <figcaption class="small quiet">
        {unit === null ? null : `${say('record.chart.unit', { unit })} `}
        {range === null ? null : `${say('record.chart.range', { range: sayRange(range) })} `}
        {say('record.chart.zoom')} {warnings.map(({ text }) => text).join(' ')}
      </figcaption>
      <details>
        <summary>{say('record.chart.values')}</summary>
        <Table
          label={title}
          rows={[...points].reverse()}
          keyOf={({ fhir }) => fhir}
          columns={[
            { title: say('record.day'), cell: ({ at }) => sayDate(at) },
            { title: say('record.value'), isNumber: true, cell: (point) => sayValue(point) },
            {
              title: say('record.rangeTitle'),
              isWide: true,
              cell: ({ reference_range }) => (reference_range === null ? '' : sayRange(reference_range)),
            },
            {
              title: say('record.versionTitle'),
              cell: ({ fhir }) => {
                const [type, id, , version] = fhir.split('/');
                return (
                  <a href={place.entryPath(`${type}/${id}`, Number(version))}>
                    {say('record.version', { version: Number(version) })}
                  </a>
                );
              },
            },
          ]}
        />
      </details>
    </figure>
  );
}

const sayNumber = (literal: string): string => formatDecimal(literal, language.value);
/** Writes a reference range as the record does: `70 – 99`; with only one end `≥ 70` or `≤ 99`. */
function sayRange({ low, high }: NonNullable<Point['reference_range']>): string {
  if (high === null) return low === null ? '' : `≥ ${sayNumber(low)}`;
  return low === null ? `≤ ${sayNumber(high)}` : `${sayNumber(low)} – ${sayNumber(high)}`;
}
const sayValue = ({ comparator, value }: Point): string =>
  `${comparator ?? ''}${comparator === null ? '' : ' '}${sayNumber(value)}`;

function Canvas({
  points,
  range,
  years,
  label,
}: {
  readonly points: readonly Point[];
  readonly range: Point['reference_range'];
  /** The number of most recent years to show. */
  readonly years: number | undefined;
  readonly label: string;
}) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  useEffect(() => {
    const { current } = holder;
    if (current === null) return undefined;
    const ends = [range?.low, range?.high].flatMap((end) => (end == null ? [] : [Number(end)]));
    const made = drawPlot(
      current,
      HEIGHT,
      [points.map(({ at }) => Date.parse(at) / 1_000), points.map(({ value }) => Number(value))],
      ({ colour, axis }) => ({
        cursor: { drag: { x: true, y: false } },
        scales: {
          y: {
            range: (_plot, min, max) => {
              const [low, high] = [Math.min(min, ...ends), Math.max(max, ...ends)];
              const space = (high - low || Math.abs(high) || 1) * 0.08;
              return [low - space, high + space];
            },
          },
        },
        axes: [
          axis,
          { ...axis, size: 60, values: (_plot, at) => at.map((value) => sayNumber(String(value))) },
        ],
        series: [{}, { stroke: colour('--accent'), width: 2, points: { show: true, size: 6 } }],
        hooks: { drawClear: [(drawn) => shade(drawn, range, colour('--soft'))] },
      }),
    );
    plot.current = made.plot;
    return made.remove;
  }, [points, range]);
  useEffect(() => {
    const last = Date.parse(points.at(-1)?.at ?? '') / 1_000;
    const first = Date.parse(points[0]?.at ?? '') / 1_000;
    if (Number.isNaN(last)) return;
    const from = years === undefined ? first : last - years * YEAR;
    // A single value gets a month around it; if there are several, some space keeps the first and last from being cut off at
    // the edges.
    const space = last === from ? YEAR / 24 : (last - from) * 0.02;
    plot.current?.setScale('x', { min: from - space, max: last + space });
  }, [years, points]);
  return <div ref={holder} role="img" aria-label={label} />;
}

/** Shades the reference range. */
function shade(plot: uPlot, range: Point['reference_range'], colour: string): void {
  if (range === null) return;
  const { left, top, width, height } = plot.bbox;
  const place = (end: string | null, edge: number): number =>
    end === null ? edge : Math.min(top + height, Math.max(top, plot.valToPos(Number(end), 'y', true)));
  const [from, to] = [place(range.high, top), place(range.low, top + height)];
  plot.ctx.save();
  plot.ctx.fillStyle = colour;
  plot.ctx.fillRect(left, from, width, to - from);
  plot.ctx.restore();
}
