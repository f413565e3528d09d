/**
 * The judged set: 200 synthetic series with planted trends, steps, gaps and lags, and pure noise. It was written before any
 * detector, and is the same on every machine.
 * Effects are never below the minimum size that must be found: a trend of 2 residual standard deviations with 12 values, a
 * step of 1.5 with 8 values per side, a gap of 4 times the median interval, |rho| of 0.7 with 20 pairs. In some series, which
 * are short or autocorrelated, an effect of that size is smaller than seven standard errors. There, the planted effect is
 * larger (`standardErrors`), because no test can tell a smaller effect from noise at the required error rate.
 */
import { Random } from '#src/sandbox/random.ts';

/** One value. */
export interface JudgedValue {
  /** Days since the beginning of the series. */
  readonly day: number;
  readonly value: number;
  /** Set for a value below the limit of detection; `value` is then that limit. */
  readonly comparator?: '<';
}

/** One series of a record. */
export interface JudgedSeries {
  readonly code: string;
  readonly values: readonly JudgedValue[];
  readonly range?: { readonly low: number; readonly high: number };
}

/** What was planted. */
export type Planted =
  | { readonly kind: 'trend'; readonly change: number }
  | { readonly kind: 'step'; readonly size: number; readonly day: number }
  | { readonly kind: 'gap'; readonly from: number; readonly to: number }
  | { readonly kind: 'lag'; readonly rho: number; readonly days: number };

/** A record of the set. */
export interface JudgedRecord {
  readonly name: string;
  readonly series: readonly JudgedSeries[];
  readonly planted: Planted | undefined;
}

/** The process that generates the noise. Its standard deviation is 1. */
interface Noise {
  /** AR(1) coefficient, from one value to the next. */
  readonly rho: 0 | 0.5;
  readonly sampling: 'regular' | 'jittered' | 'irregular';
  /** Share of values below the limit of detection. */
  readonly censored: 0 | 0.15;
}

const LENGTHS = [12, 14, 16, 20, 25, 30, 40, 60, 90, 150] as const;
/** Lengths of series with autocorrelation. A shorter series doesn't reveal its autocorrelation. */
const LONGER = [25, 30, 40, 60, 90, 150] as const;
const STEPS = [1, 7, 30] as const;
const SAMPLINGS = ['regular', 'jittered', 'irregular'] as const;

/** Returns the minimum size of a planted effect, in standard errors. */
const standardErrors = (n: number): number => 7 + 40 / n;

/** Returns the factor by which autocorrelation inflates the variance of a mean. */
const inflation = (rho: number): number => (1 + rho) / (1 - rho);

/**
 * Returns the records: 45 trends, 45 steps, 25 gaps, 25 lags, and 60 records of noise.
 * @param seed a different seed gives different records of the same kind, on which detectors may be tuned
 */
export function judgedSet(seed = 'judged'): JudgedRecord[] {
  const made = (count: number, kind: string, make: (random: Random, n: number) => JudgedRecord) =>
    Array.from({ length: count }, (_, n) => make(new Random(`${seed} ${kind} ${n}`), n));
  return [
    ...made(45, 'trend', trendRecord),
    ...made(45, 'step', stepRecord),
    ...made(25, 'gap', gapRecord),
    ...made(25, 'lag', lagRecord),
    ...made(60, 'noise', noiseRecord),
  ];
}

function trendRecord(random: Random, n: number): JudgedRecord {
  const noise = noiseOf(random, n);
  const count = lengthOf(random, noise);
  const days = daysOf(random, count, noise.sampling);
  const last = days.at(-1) ?? 1;
  // The standard error of a line's change over its window, for evenly spread values.
  const error = Math.sqrt((12 * inflation(noise.rho)) / count);
  const change = sign(random) * Math.max(2, standardErrors(count) * error);
  const values = noiseValues(random, count, noise.rho).map((e, k) => e + (change * (days[k] ?? 0)) / last);
  return {
    name: `trend ${n}: ${describe(noise, count)}, ${change.toFixed(2)} SD`,
    series: [seriesOf('a', days, values, noise)],
    planted: { kind: 'trend', change },
  };
}

function stepRecord(random: Random, n: number): JudgedRecord {
  const noise = noiseOf(random, n);
  const count = Math.max(16, lengthOf(random, noise));
  const before = random.int(8, count - 8);
  const days = daysOf(random, count, noise.sampling);
  const error = Math.sqrt(inflation(noise.rho) * (1 / before + 1 / (count - before)));
  const size = sign(random) * Math.max(1.5, standardErrors(count) * error);
  const values = noiseValues(random, count, noise.rho).map((e, k) => e + (k < before ? 0 : size));
  return {
    name: `step ${n}: ${describe(noise, count)}, ${size.toFixed(2)} SD after ${before}`,
    series: [seriesOf('a', days, values, noise)],
    planted: { kind: 'step', size, day: days[before] ?? 0 },
  };
}

function gapRecord(random: Random, n: number): JudgedRecord {
  const noise: Noise = {
    rho: n % 3 === 0 ? 0.5 : 0,
    sampling: n % 2 === 0 ? 'regular' : 'jittered',
    censored: 0,
  };
  const count = random.pick([16, 20, 30, 60, 100]);
  const days = daysOf(random, count, noise.sampling);
  const at = random.int(4, count - 4);
  const intervals = days.slice(1).map((day, k) => day - (days[k] ?? 0));
  const median = intervals.toSorted((a, b) => a - b)[Math.floor(intervals.length / 2)] ?? 1;
  const length = random.pick([4, 4.5, 5, 6, 8, 12]) * median * 1.001;
  const shift = length - ((days[at] ?? 0) - (days[at - 1] ?? 0));
  const moved = days.map((day, k) => (k < at ? day : day + shift));
  const [from = 0, to = 0] = [moved[at - 1], moved[at]];
  return {
    name: `gap ${n}: ${describe(noise, count)}, ${(length / median).toFixed(1)} medians`,
    series: [seriesOf('a', moved, noiseValues(random, count, noise.rho), noise)],
    planted: { kind: 'gap', from, to },
  };
}

function lagRecord(random: Random, n: number): JudgedRecord {
  const noise: Noise = {
    rho: n % 3 === 0 ? 0.5 : 0,
    sampling: n % 2 === 0 ? 'regular' : 'jittered',
    censored: n % 5 === 0 ? 0.15 : 0,
  };
  const lag = n % 4;
  const pairs = random.pick(noise.rho === 0 ? [20, 25, 40, 60, 120] : [40, 60, 120]);
  const step = random.pick([1, 7]);
  const days = regular(random, pairs + lag, step, noise.sampling);
  // The number of effective pairs if both series have the same autocorrelation.
  const effective = pairs * ((1 - noise.rho ** 2) / (1 + noise.rho ** 2));
  const rho = sign(random) * Math.max(0.7, Math.tanh(standardErrors(pairs) / Math.sqrt(effective - 3)));
  const first = noiseValues(random, pairs + lag, noise.rho);
  const other = noiseValues(random, pairs + lag, noise.rho);
  const second = other.map((e, k) =>
    k < lag ? e : rho * (first[k - lag] ?? 0) + Math.sqrt(1 - rho * rho) * e,
  );
  return {
    name: `lag ${n}: ${describe(noise, pairs)}, rho ${rho.toFixed(2)} after ${lag * step} days`,
    series: [seriesOf('a', days, first, noise), seriesOf('b', days, second, noise)],
    planted: { kind: 'lag', rho, days: lag * step },
  };
}

/** Returns a record in which nothing was planted; different seeds give more records of the same kind. */
export function noiseRecord(random: Random, n: number): JudgedRecord {
  const noise = noiseOf(random, n);
  const step = random.pick(STEPS);
  const count = random.pick([...LENGTHS, 300]);
  const series = Array.from({ length: 1 + (n % 3) }, (_, k) => {
    const days = regular(random, count, step, noise.sampling);
    const range = n % 2 === 0 ? { range: { low: -2.5, high: 2.5 } } : {};
    return {
      ...seriesOf('abc'[k] ?? 'a', days, noiseValues(random, count, noise.rho), noise),
      ...range,
    };
  });
  return { name: `noise ${n}: ${describe(noise, count)}`, series, planted: undefined };
}

/** Returns one of the twelve kinds of noise, in rotation. */
function noiseOf(random: Random, n: number): Noise {
  return {
    rho: n % 2 === 0 ? 0.5 : 0,
    sampling: SAMPLINGS[Math.floor(n / 2) % 3] ?? 'regular',
    censored: random.next() < 0.3 ? 0.15 : 0,
  };
}

const lengthOf = (random: Random, { rho }: Noise): number => random.pick(rho === 0 ? LENGTHS : LONGER);

const sign = (random: Random): number => (random.next() < 0.5 ? -1 : 1);

const describe = ({ rho, sampling, censored }: Noise, count: number): string =>
  `${count} values, ${sampling}${rho === 0 ? '' : ', AR(1) 0.5'}${censored === 0 ? '' : ', censored'}`;

function daysOf(random: Random, count: number, sampling: Noise['sampling']): number[] {
  return regular(random, count, random.pick(STEPS), sampling);
}

/**
 * Returns days in ascending order. The distance to the previous day is a step, a step with up to 30 % variation, or an
 * exponential time.
 */
function regular(random: Random, count: number, step: number, sampling: Noise['sampling']): number[] {
  let day = 0;
  return Array.from({ length: count }, () => {
    const now = day;
    const factor = {
      regular: 1,
      jittered: 0.7 + 0.6 * random.next(),
      irregular: -Math.log(1 - random.next()),
    }[sampling];
    day += Math.max(1 / 1440, step * factor);
    return now;
  });
}

/** Returns a standard normal value (Box and Muller). */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

/** Returns standard normal values, each correlated with the previous one by `rho`. */
function noiseValues(random: Random, count: number, rho: number): number[] {
  let last = normal(random);
  return Array.from({ length: count }, (_, n) => {
    if (n > 0) last = rho * last + Math.sqrt(1 - rho * rho) * normal(random);
    return last;
  });
}

/** Returns a series whose values have three digits. In censored noise, values below the limit are shown as below it. */
function seriesOf(
  code: string,
  days: readonly number[],
  values: readonly number[],
  { censored }: Noise,
): JudgedSeries {
  const sorted = values.toSorted((a, b) => a - b);
  const limit =
    censored === 0 ? Number.NEGATIVE_INFINITY : (sorted[Math.floor(censored * values.length)] ?? 0);
  return {
    code,
    values: values.map((value, n) => {
      const day = days[n] ?? 0;
      if (value < limit) return { day, value: Number(limit.toFixed(3)), comparator: '<' };
      return { day, value: Number(value.toFixed(3)) };
    }),
  };
}
