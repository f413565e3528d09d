/** Medicines over time: when each was taken and prescribed, as far as the sources say. */
import { say, sayDate } from '../../texts/texts.ts';
import type { Line, Overview, RecordPlace } from './record-place.ts';

const DAY = 86_400_000;

/** A period on the axis, in ms. */
interface Bar {
  readonly from: number;
  readonly until: number;
  readonly kind: 'taken' | 'day' | 'prescribed';
  /** True if the end of the period is unknown. */
  readonly isOpen: boolean;
  /** True if the beginning of the period is unknown. */
  readonly isCut: boolean;
  readonly text: string;
}

/**
 * Returns the bars for the medicines that have dates, current ones first.
 * @param until the time as of which the record is shown
 */
export function Bars({
  list: { now, planned, past },
  until,
}: {
  readonly list: Overview['medicines'];
  readonly until: string;
  readonly place: RecordPlace;
}) {
  const end = Date.parse(until);
  const rows = [...now, ...planned, ...past].flatMap((line) => {
    const bars = line.periods.map((period) => makeBar(period, end)).filter((bar) => bar !== undefined);
    return bars.length === 0 ? [] : [{ line, bars }];
  });
  if (rows.length === 0) return null;
  const known = rows.flatMap(({ bars }) => bars.flatMap(({ from, isCut }) => (isCut ? [] : [from])));
  const start = Math.min(...(known.length === 0 ? [end - 365 * DAY] : known)) - 5 * DAY;
  const latest = Math.max(end, ...rows.flatMap(({ bars }) => bars.map((bar) => bar.until)));
  const x = (at: number): number => (100 * (Math.max(at, start) - start)) / (latest - start);
  return (
    <details class="bars screen" open={rows.length <= 12}>
      <summary>{say('record.bars')}</summary>
      <ul class="legend small">
        <li style={{ '--line-colour': 'var(--accent)' }}>{say('record.bars.taken')}</li>
        <li class="dot">{say('record.bars.prescribed')}</li>
        <li class="fading">{say('record.bars.open')}</li>
      </ul>
      <div class="years" aria-hidden="true">
        {yearsBetween(start, latest).map(({ year, at }) => (
          <span key={year} style={{ insetInlineStart: `${x(at)}%` }}>
            {year}
          </span>
        ))}
      </div>
      <ul class="rows">
        {rows.map(({ line, bars }) => (
          <li key={line.resource}>
            <span class={now.includes(line) ? '' : 'quiet'}>{line.title}</span>
            <span class="track">
              {bars.map((bar, n) => (
                <span
                  key={n}
                  class={`lasting ${bar.kind} ${bar.isOpen ? 'open' : ''} ${bar.isCut ? 'cut' : ''}`}
                  style={{
                    insetInlineStart: `${x(bar.from)}%`,
                    ...(bar.kind === 'taken' ? { inlineSize: `${x(bar.until) - x(bar.from)}%` } : {}),
                  }}
                  title={bar.text}
                />
              ))}
              <span class="away">{[...new Set(bars.map(({ text }) => text))].join('; ')}</span>
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/**
 * Returns a period's bar; undefined if the period has no date. A date without a day stands for its first day or, if it ends
 * the period, for its last day.
 */
function makeBar({ means, from, until, current }: Line['periods'][number], end: number): Bar | undefined {
  const first = from === null ? undefined : Date.parse(from);
  const last = until === null ? undefined : lastMoment(until);
  if (means !== 'taken' && means !== 'planned') {
    if (first === undefined || from === null) return undefined;
    const text = say(means === 'taken_on' ? 'record.bars.on' : 'record.bars.prescribedOn', {
      day: sayDate(from),
    });
    const kind = means === 'taken_on' ? 'day' : 'prescribed';
    return { from: first, until: first, kind, isOpen: false, isCut: false, text };
  }
  if (first === undefined && last === undefined) return undefined;
  const text = say(means === 'planned' ? 'record.bars.planned' : 'record.bars.period', {
    from: from === null ? '?' : sayDate(from),
    until: until === null ? '…' : sayDate(until),
  });
  // Without an end date, the bar of a medicine that is still being taken extends to the time shown; for other medicines, only
  // the beginning is known.
  const to = last ?? (current && (first ?? 0) < end ? end : (first ?? end) + 30 * DAY);
  return {
    from: first ?? Number.NEGATIVE_INFINITY,
    until: to,
    kind: 'taken',
    isOpen: last === undefined,
    isCut: first === undefined,
    text,
  };
}

/** Returns the end of a year, a month or a day. */
function lastMoment(date: string): number {
  const [year = '', month, day] = date.slice(0, 10).split('-');
  if (day !== undefined) return Date.parse(date.slice(0, 10)) + DAY;
  return month === undefined ? Date.UTC(Number(year) + 1, 0, 1) : Date.UTC(Number(year), Number(month), 1);
}

/** Returns the years to show on the axis, at most eight. */
function yearsBetween(start: number, end: number): { readonly year: number; readonly at: number }[] {
  const [first, last] = [new Date(start).getUTCFullYear() + 1, new Date(end).getUTCFullYear()];
  const step = [1, 2, 5, 10, 20, 50].find((each) => (last - first) / each <= 7) ?? 100;
  const years: { year: number; at: number }[] = [];
  for (let year = Math.ceil(first / step) * step; year <= last; year += step)
    years.push({ year, at: Date.UTC(year, 0, 1) });
  return years;
}
