/** How much the project is used, per day, errors first. */
import { useMemo } from 'preact/hooks';
import { type AnswerOf, annal, withQuery } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { useLoaded } from '../load.ts';
import { Chart, sayDate } from '../parts/chart.tsx';
import { Empty, Head, Shown, Table } from '../parts/parts.tsx';
import { language, say, sayBytes, sayNumber, type TextKey } from '../texts/texts.ts';

/** Use on one day in one environment; errors are null if they weren't recorded. */
type Day = AnswerOf<'GET', '/admin/projects/{project_id}/usage'>['data'][number];

/** A line in a chart, with one value per day. */
interface Line {
  readonly of: 'requests' | 'client_errors' | 'server_errors';
  readonly name: TextKey;
  /** A CSS variable. */
  readonly colour: string;
  readonly dash?: readonly number[];
}

const ERRORS: readonly Line[] = [
  { of: 'server_errors', name: 'usage.failed', colour: '--fault' },
  { of: 'client_errors', name: 'usage.refused', colour: '--warn', dash: [6, 4] },
];
const REQUESTS: readonly Line[] = [{ of: 'requests', name: 'usage.requests', colour: '--accent' }];

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
              <UsageChart days={days} title="usage.errors" lines={ERRORS} />
              <UsageChart days={days} title="usage.requests" lines={REQUESTS} />
              <Days days={days} />
            </>
          );
        }}
      </Shown>
    </>
  );
}

/** The charts' numbers, newest day first. */
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

/** The number of errors, with a link to them in the request log. */
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

/** Draws counts per day; the table below contains the same numbers. */
function UsageChart({
  days,
  title,
  lines,
}: {
  readonly days: readonly Day[];
  readonly title: TextKey;
  readonly lines: readonly Line[];
}) {
  const { dates, drawn } = useMemo(() => {
    const all = fillDays(days);
    return {
      dates: all.map(({ date }) => date),
      drawn: lines.map(({ of, name, colour, dash }) => ({
        ...{ name: say(name), colour, dash },
        values: all.map(({ day }) => (day === undefined ? 0 : day[of])),
      })),
    };
  }, [days, lines, language.value]);
  return <Chart title={say(title)} dates={dates} lines={drawn} sayValue={sayNumber} />;
}

/** Adds the days without use: the response leaves these days out, and they count as zero. */
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
