/** How much the project is used, by day, errors first. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type AnswerOf, annal, withQuery } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { useLoaded } from '../load.ts';
import { Empty, Head, Shown, Table } from '../parts/parts.tsx';
import { language, say, type TextKey } from '../texts/texts.ts';

/** Use on a day, in one environment; errors are null if they weren't recorded. */
type Day = AnswerOf<'GET', '/admin/projects/{project_id}/usage'>['data'][number];

/** A line of a chart, by day. */
interface Line {
  readonly of: 'requests' | 'client_errors' | 'server_errors';
  readonly name: TextKey;
  /** A variable of the style sheet. */
  readonly colour: string;
  readonly dash?: readonly number[];
}

const ERRORS: readonly Line[] = [
  { of: 'server_errors', name: 'usage.failed', colour: '--fault' },
  { of: 'client_errors', name: 'usage.refused', colour: '--warn', dash: [6, 4] },
];
const REQUESTS: readonly Line[] = [{ of: 'requests', name: 'usage.requests', colour: '--accent' }];

const HEIGHT = 220;

/** Returns the screen. */
export function Usage() {
  const here = useProject();
  const usage = useLoaded(
    (signal) => annal.get('/admin/projects/{project_id}/usage', { project_id: here.project }, { signal }),
    [here.project, here.environment],
  );
  return (
    <>
      <Head title={say('usage.title')} about={say('usage.says')} />
      <Shown of={usage}>
        {({ data }) => {
          const days = data.filter(({ environment }) => environment === here.environment);
          return days.length === 0 ? (
            <Empty>
              <p>{say('usage.none')}</p>
            </Empty>
          ) : (
            <>
              <Chart days={days} title="usage.errors" lines={ERRORS} />
              <Chart days={days} title="usage.requests" lines={REQUESTS} />
              <Days days={days} />
            </>
          );
        }}
      </Shown>
    </>
  );
}

/** The numbers of the charts, the newest day first. */
function Days({ days }: { readonly days: readonly Day[] }) {
  return (
    <Table
      label={say('usage.title')}
      rows={[...days].reverse()}
      keyOf={({ date }) => date}
      columns={[
        { title: say('usage.day'), cell: ({ date }) => sayDate(date) },
        {
          title: say('usage.failed'),
          isNumber: true,
          cell: ({ date, server_errors }) => <Errors date={date} status="5xx" count={server_errors} />,
        },
        {
          title: say('usage.refused'),
          isNumber: true,
          cell: ({ date, client_errors }) => <Errors date={date} status="4xx" count={client_errors} />,
        },
        { title: say('usage.requests'), isNumber: true, cell: ({ requests }) => sayNumber(requests) },
        { title: say('usage.reads'), isNumber: true, isWide: true, cell: ({ reads }) => sayNumber(reads) },
        {
          title: say('usage.writes'),
          isNumber: true,
          isWide: true,
          cell: ({ writes }) => sayNumber(writes),
        },
        {
          title: say('usage.stored'),
          isNumber: true,
          isWide: true,
          cell: ({ storage_bytes }) => sayBytes(storage_bytes),
        },
      ]}
    />
  );
}

/** A number of errors, which leads to them in the request log. */
function Errors({
  date,
  status,
  count,
}: {
  readonly date: string;
  readonly status: string;
  readonly count: number | null;
}) {
  const here = useProject();
  if (count === null) return <span class="quiet">{say('usage.notRecorded')}</span>;
  if (count === 0) return <>{sayNumber(0)}</>;
  return (
    <a href={withQuery(pathOf(here, '/requests'), { status, from: date, to: date })}>{sayNumber(count)}</a>
  );
}

/** Draws numbers by day; the table below has them. */
function Chart({
  days,
  title,
  lines,
}: {
  readonly days: readonly Day[];
  readonly title: TextKey;
  readonly lines: readonly Line[];
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    const style = getComputedStyle(current);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const axis = {
      stroke: colour('--quiet'),
      grid: { stroke: colour('--line') },
      ticks: { stroke: colour('--line') },
    };
    const all = fillDays(days);
    const plot = new uPlot(
      {
        width: current.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max)] } },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
        axes: [
          {
            ...axis,
            incrs: DAYS,
            values: (_plot, at) => at.map((seconds) => sayDate(new Date(seconds * 1_000).toISOString())),
          },
          { ...axis, incrs: WHOLE, values: (_plot, at) => at.map(sayNumber) },
        ],
        series: [
          {},
          ...lines.map(({ name, colour: variable, dash }) => ({
            label: say(name),
            stroke: colour(variable),
            width: 2,
            points: { show: true },
            ...(dash === undefined ? {} : { dash: [...dash] }),
          })),
        ],
      },
      [
        all.map(({ date }) => Date.parse(date) / 1_000),
        ...lines.map(({ of }) => all.map(({ day }) => (day === undefined ? 0 : day[of]))),
      ],
      current,
    );
    const resized = new ResizeObserver(() => plot.setSize({ width: current.clientWidth, height: HEIGHT }));
    resized.observe(current);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [days, lines]);
  return (
    <section class="panel">
      <h2>{say(title)}</h2>
      {lines.length === 1 ? null : (
        <ul class="legend">
          {lines.map(({ of, name, colour, dash }) => (
            <li key={of} style={{ '--line-colour': `var(${colour})` }} class={dash && 'dashed'}>
              {say(name)}
            </li>
          ))}
        </ul>
      )}
      <div ref={place} role="img" aria-label={say('usage.chart', { what: say(title) })} />
    </section>
  );
}

/** Steps between the lines of a chart, in seconds: days are whole. */
const DAYS = [1, 2, 7, 14].map((days) => days * 86_400);
/** Steps between the lines of a chart: requests are whole. */
const WHOLE = [1, 2, 5]
  .flatMap((step) => Array.from({ length: 10 }, (_, power) => step * 10 ** power))
  .sort((a, b) => a - b);

/** Adds the days without use: they are left out of the answer, and count as zero. */
function fillDays(days: readonly Day[]): { readonly date: string; readonly day: Day | undefined }[] {
  const known = new Map(days.map((day) => [day.date, day]));
  const [first] = days;
  if (first === undefined) return [];
  const all: { date: string; day: Day | undefined }[] = [];
  for (let at = Date.parse(first.date); at <= Date.now(); at += 86_400_000) {
    const date = new Date(at).toISOString().slice(0, 10);
    all.push({ date, day: known.get(date) });
  }
  return all;
}

/** Returns a day of the last month as the language writes it. @param date a day in UTC */
function sayDate(date: string): string {
  return new Intl.DateTimeFormat(language.value, { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    new Date(date),
  );
}

function sayNumber(value: number): string {
  return value.toLocaleString(language.value);
}

function sayBytes(bytes: number): string {
  const [divisor, unit] = bytes >= 1e6 ? [1e6, 'megabyte'] : [1e3, 'kilobyte'];
  return new Intl.NumberFormat(language.value, { style: 'unit', unit, maximumFractionDigits: 1 }).format(
    bytes / divisor,
  );
}
