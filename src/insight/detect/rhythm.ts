/** Detects daily and weekly rhythms, in the patient's local time. */
import { mapSteps, type Steps } from '#src/shared/load/slices.ts';
import { type Detected, makeEvidence, roundConfidence, roundToSix } from '../finding.ts';
import { kruskalWallis } from '../methods/kruskal-wallis.ts';
import { findMedian } from '../methods/select.ts';
import { DAY, localDay, MOST_SAMPLES, type Point, type Track } from '../track.ts';
import { LEAST } from './levels.ts';

/** A period that recurs, such as a week, and its parts. */
interface Period {
  readonly method: string;
  /** Returns the number of the period that contains a point. */
  readonly of: (point: Point) => number;
  /** Part of the period. */
  readonly part: (point: Point) => number;
  readonly parts: number;
  /**
   * A series is used only if at least this many different parts of a period have values, in at least this many such periods.
   */
  readonly leastParts: number;
  readonly leastPeriods: number;
  /** Number of consecutive periods over which the values are assumed to rise or fall steadily. */
  readonly stretch: number;
}

/** Methods by period. */
export const RHYTHM_METHODS = {
  day: 'Kruskal–Wallis (ties corrected, chi-squared) of deviations from the day’s median, less the slope of five weeks, by four hours of the day',
  week: 'Kruskal–Wallis (ties corrected, chi-squared) of deviations from the week’s median, less the slope of five weeks, by day of the week',
} as const;

const PERIODS: readonly Period[] = [
  {
    method: RHYTHM_METHODS.day,
    of: localDay,
    part: ({ at, offset }) => Math.floor(modulo(at + offset * 60_000, DAY) / (DAY / 6)),
    parts: 6,
    leastParts: 2,
    leastPeriods: 20,
    stretch: 35,
  },
  {
    method: RHYTHM_METHODS.week,
    // 1970-01-01 was a Thursday; weeks begin on Mondays.
    of: (point) => Math.floor((localDay(point) + 3) / 7),
    part: (point) => modulo(localDay(point) + 3, 7),
    parts: 7,
    leastParts: 3,
    leastPeriods: 12,
    stretch: 5,
  },
];

const modulo = (value: number, by: number): number => ((value % by) + by) % by;

/** The values in one part of one period. Their median is compared with the median of the whole period. */
interface Cell {
  readonly part: number;
  readonly points: readonly Point[];
  /** Days since 1970. */
  readonly time: number;
  readonly value: number;
}

/**
 * Looks for daily and weekly rhythms.
 * @param level for each of the two
 */
export function* findRhythms(track: Track, level: number): Steps<Detected[]> {
  const found: Detected[] = [];
  for (const period of PERIODS) {
    const detected = yield* findRhythm(track, period, level);
    if (detected !== undefined) found.push(detected);
  }
  return found;
}

function* findRhythm(track: Track, period: Period, level: number): Steps<Detected | undefined> {
  const isInDays = (date: string): boolean => period.parts === 7 || date.length > 10;
  const points = track.points.filter(({ date }) => isInDays(date));
  if (points.length < LEAST.rhythm) return undefined;
  yield;
  const periods = (yield* makeCells(points, period)).filter((cells) => cells.length >= period.leastParts);
  const used = periods.slice(-Math.floor(MOST_SAMPLES / period.parts));
  if (used.length < period.leastPeriods) return undefined;
  const cells = (yield* mapSteps(divideIntoStretches(used, period.stretch), deviating)).flat();
  if (cells.length < LEAST.rhythm) return undefined;
  const groups = Array.from({ length: period.parts }, (_, part) =>
    cells.filter((cell) => cell.part === part).map(({ deviation }) => deviation),
  );
  yield;
  const result = kruskalWallis(groups);
  yield;
  if (result === undefined || result.p >= level) return undefined;
  const medians = groups.map((group) => (group.length === 0 ? Number.NaN : findMedian(group)));
  const told = medians.filter((median) => !Number.isNaN(median));
  const [least, most] = [Math.min(...told), Math.max(...told)];
  return {
    kind: 'correlation',
    codes: track.codes,
    direction: null,
    effect: { value: roundToSix(most - least), unit: track.unit, low: null, high: null },
    confidence: roundConfidence(result.p),
    method: period.method,
    window: { from: cells[0]?.points[0]?.date ?? '', to: cells.at(-1)?.points.at(-1)?.date ?? '' },
    *pieces() {
      for (const { points: of, part, deviation } of cells) {
        const median = medians[part] ?? 0;
        const supports = (median !== most || deviation >= 0) && (median !== least || deviation <= 0);
        for (const point of of) yield makeEvidence(point, track.unit, supports);
      }
    },
  };
}

/** Returns a stretch's cells with their deviations from the medians of their periods, after subtracting the stretch's slope. */
function deviating(stretch: readonly Cell[][]): (Cell & { readonly deviation: number })[] {
  const slope = medianSlope(stretch);
  return stretch.flatMap((of) => {
    const level = of.map(({ time, value }) => value - slope * (time - (of[0]?.time ?? time)));
    const middle = findMedian(level);
    return of.map((cell, n) => ({ ...cell, deviation: (level[n] ?? 0) - middle }));
  });
}

/** Divides periods into stretches of nearly equal length, each at least `length` long if there are enough periods. */
function divideIntoStretches(periods: readonly Cell[][], length: number): Cell[][][] {
  const count = Math.max(1, Math.floor(periods.length / length));
  return Array.from({ length: count }, (_, n) =>
    periods.slice(Math.floor((n * periods.length) / count), Math.floor(((n + 1) * periods.length) / count)),
  );
}

/**
 * Returns a stretch's slope per day: the median of the slopes from each value to the next value in the same part. A part is
 * compared only with itself (as in the seasonal estimate by Hirsch, Slack and Smith 1982), so a rhythm doesn't produce a
 * slope. Each value is compared only with the next one, so a single change of level doesn't produce a slope either.
 */
function medianSlope(stretch: readonly Cell[][]): number {
  const last = new Map<number, Cell>();
  const slopes: number[] = [];
  for (const cell of stretch.flat()) {
    const before = last.get(cell.part);
    if (before !== undefined && cell.time > before.time)
      slopes.push((cell.value - before.value) / (cell.time - before.time));
    last.set(cell.part, cell);
  }
  return slopes.length === 0 ? 0 : findMedian(slopes);
}

/** Returns the cells of each period, in steps; periods and cells are in chronological order. */
function* makeCells(points: readonly Point[], period: Period): Steps<Cell[][]> {
  const periods = new Map<number, Map<number, Point[]>>();
  for (const point of points) {
    const of = period.of(point);
    const parts = periods.get(of) ?? new Map<number, Point[]>();
    periods.set(of, parts);
    const part = period.part(point);
    const before = parts.get(part);
    if (before === undefined) parts.set(part, [point]);
    else before.push(point);
    yield;
  }
  return yield* mapSteps([...periods.values()], (parts) =>
    [...parts].map(([part, of]) => ({
      ...{ part, points: of },
      time: findMedian(of.map(({ at }) => at)) / DAY,
      value: findMedian(of.map(({ value }) => value)),
    })),
  );
}
