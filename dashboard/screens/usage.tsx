/** How much the project is used, by day. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { call, type Page } from '../api.ts';
import { useProject } from '../here.ts';
import { useLoaded } from '../load.ts';
import { Empty, Head, Shown, Table } from '../parts/parts.tsx';
import { language, say } from '../texts/texts.ts';

/** Use on a day, in one environment. */
interface Day {
  readonly date: string;
  readonly environment: string;
  readonly requests: number;
  readonly reads: number;
  readonly writes: number;
  readonly storage_bytes: number;
}

const HEIGHT = 220;

/** Returns the screen. */
export function Usage() {
  const here = useProject();
  const usage = useLoaded(
    (signal) => call<Page<Day>>(`/admin/projects/${here.project}/usage`, { signal }),
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
              <section class="panel">
                <Chart days={days} />
              </section>
              <Table
                label={say('usage.title')}
                rows={[...days].reverse()}
                keyOf={({ date }) => date}
                columns={[
                  { title: say('usage.day'), cell: ({ date }) => sayDate(date) },
                  {
                    title: say('usage.requests'),
                    isNumber: true,
                    cell: ({ requests }) => sayNumber(requests),
                  },
                  {
                    title: say('usage.reads'),
                    isNumber: true,
                    isWide: true,
                    cell: ({ reads }) => sayNumber(reads),
                  },
                  {
                    title: say('usage.writes'),
                    isNumber: true,
                    isWide: true,
                    cell: ({ writes }) => sayNumber(writes),
                  },
                  {
                    title: say('usage.stored'),
                    isNumber: true,
                    cell: ({ storage_bytes }) => sayBytes(storage_bytes),
                  },
                ]}
              />
            </>
          );
        }}
      </Shown>
    </>
  );
}

/** Requests by day; the table below has the numbers. */
function Chart({ days }: { readonly days: readonly Day[] }) {
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
        axes: [axis, axis],
        series: [
          {},
          {
            label: say('usage.requests'),
            stroke: colour('--accent'),
            fill: colour('--soft'),
            width: 2,
            points: { show: true },
          },
        ],
      },
      [all.map(({ date }) => Date.parse(date) / 1_000), all.map(({ requests }) => requests)],
      current,
    );
    const resized = new ResizeObserver(() => plot.setSize({ width: current.clientWidth, height: HEIGHT }));
    resized.observe(current);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [days]);
  return <div ref={place} role="img" aria-label={say('usage.chart')} />;
}

/** Puts a zero on days without use: they are left out of the answer. */
function fillDays(days: readonly Day[]): { readonly date: string; readonly requests: number }[] {
  const known = new Map(days.map(({ date, requests }) => [date, requests]));
  const [first] = days;
  if (first === undefined) return [];
  const all: { date: string; requests: number }[] = [];
  for (let at = Date.parse(first.date); at <= Date.now(); at += 86_400_000) {
    const date = new Date(at).toISOString().slice(0, 10);
    all.push({ date, requests: known.get(date) ?? 0 });
  }
  return all;
}

/** @param date a day in UTC */
function sayDate(date: string): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeZone: 'UTC' }).format(
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
