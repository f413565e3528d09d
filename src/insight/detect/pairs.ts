/**
 * Detects associations between two series: Spearman's correlation of their deviations from their regression lines, at seven
 * lags.
 */
import { linearRegression } from 'simple-statistics';
import type { Steps } from '#src/shared/load/slices.ts';
import { type Detected, type Evidence, roundConfidence, roundToSix } from '../finding.ts';
import { autocorrelation, effectivePairs } from '../methods/autocorrelation.ts';
import { rank } from '../methods/ranks.ts';
import { findMedian } from '../methods/select.ts';
import { spearman } from '../methods/spearman.ts';
import type { Sample, Track } from '../track.ts';
import { evidenceOfSamples, timeWindow } from './fitted.ts';
import { LEAST } from './levels.ts';

/** The method's name. */
export const PAIR_METHOD =
  'Spearman (ties corrected, Student approximation, effective number of pairs) of deviations from straight lines, with lag';

/** Number of steps by which one series may lag behind the other, in either direction. */
const LAGS = [0, 1, -1, 2, -2, 3, -3] as const;
/** Smaller correlations aren't reported. */
const LEAST_RHO = 0.5;
/** Two series are matched by occasion if at least this share of their values was measured together. */
const SHARED = 0.9;
/** Maximum number of paired series; those with the most values are used. This makes 780 pairs, at seven lags each. */
export const MOST_SERIES = 40;
/** Maximum number of associations reported; the strongest are reported. */
export const MOST_TOLD = 50;

/** A track with its samples. */
export interface Sampled {
  readonly track: Track;
  readonly samples: readonly Sample[];
}

/** A track with the deviations of its values from its regression line. */
interface Deviating extends Sampled {
  readonly deviations: Float64Array;
  readonly ranks: Float64Array;
  /** Median interval, in days. */
  readonly step: number;
}

/** Values in two series that were matched with each other, by their indexes. */
interface Matched {
  readonly first: readonly number[];
  readonly second: readonly number[];
}

/** The lag, in steps, at which a pair's correlation is strongest, and that correlation. */
interface Strongest {
  readonly steps: number;
  readonly rho: number;
  readonly p: number;
}

/** Associations, the number of series that were not paired, and the number of associations that were found but not reported. */
export interface Paired {
  readonly found: readonly Detected[];
  readonly unpaired: number;
  readonly untold: number;
}

/**
 * Looks for associations between pairs of series, each at its strongest lag. For each pair, only the lag and the coefficient
 * are kept in memory; the matching of values is computed again when needed.
 * @param level for all pairs and lags that have enough values
 */
export function* findPairs(sampled: readonly Sampled[], level: number): Steps<Paired> {
  const long = sampled.filter(({ samples }) => samples.length >= LEAST.pair);
  const all: Deviating[] = [];
  for (const each of longest(long)) {
    all.push(deviating(each));
    yield;
  }
  const tried: { a: Deviating; b: Deviating; lags: number[] }[] = [];
  let tests = 0;
  for (const [n, a] of all.entries()) {
    for (const b of all.slice(n + 1)) {
      const shared = matchOccasions(a, b);
      const lags: number[] = [];
      for (const steps of LAGS) {
        const matched = matchAtLag(a, b, shared, steps);
        if (matched.first.length < LEAST.pair) continue;
        tests += 1;
        if (Math.abs(roughly(a, b, matched)) >= LEAST_RHO - 0.1) lags.push(steps);
        yield;
      }
      if (lags.length > 0) tried.push({ a, b, lags });
    }
  }
  const found: { a: Deviating; b: Deviating; strongest: Strongest }[] = [];
  for (const { a, b, lags } of tried) {
    const strongest = yield* findStrongest(a, b, lags, { level, tests });
    if (strongest !== undefined) found.push({ a, b, strongest });
  }
  const order = found.toSorted((x, y) => Math.abs(y.strongest.rho) - Math.abs(x.strongest.rho));
  const strong = new Set(order.slice(0, MOST_TOLD));
  const detected: Detected[] = [];
  for (const each of found) {
    if (!strong.has(each)) continue;
    detected.push(reportPair(each.a, each.b, each.strongest));
    yield;
  }
  return { found: detected, unpaired: long.length - all.length, untold: found.length - strong.size };
}

/** Returns the series with the most values, in their original order. */
function longest(sampled: readonly Sampled[]): Sampled[] {
  const chosen = new Set(
    sampled.toSorted((a, b) => b.samples.length - a.samples.length).slice(0, MOST_SERIES),
  );
  return sampled.filter((each) => chosen.has(each));
}

/** Returns the strongest correlation among the lags whose corrected p-value is below the level; undefined if there is none. */
function* findStrongest(
  a: Deviating,
  b: Deviating,
  lags: readonly number[],
  { level, tests }: { readonly level: number; readonly tests: number },
): Steps<Strongest | undefined> {
  const shared = matchOccasions(a, b);
  let strongest: Strongest | undefined;
  for (const steps of lags) {
    const { first, second } = matchAtLag(a, b, shared, steps);
    const x = first.map((k) => a.deviations[k] ?? 0);
    const y = second.map((k) => b.deviations[k] ?? 0);
    const pairs = effectivePairs(x.length, autocorrelation(x), autocorrelation(y));
    const result = spearman(x, y, pairs);
    yield;
    if (result === undefined || Math.abs(result.rho) < LEAST_RHO || result.p * tests >= level) continue;
    if (strongest === undefined || Math.abs(strongest.rho) < Math.abs(result.rho))
      strongest = { ...result, steps };
  }
  return strongest;
}

function deviating({ track, samples }: Sampled): Deviating {
  const first = samples[0]?.time ?? 0;
  const line = linearRegression(samples.map(({ time, value }) => [time - first, value]));
  const slope = Number.isFinite(line.m) ? line.m : 0;
  const deviations = Float64Array.from(samples, ({ time, value }) => value - slope * (time - first));
  const intervals = samples.slice(1).map(({ time }, n) => time - (samples[n]?.time ?? time));
  return { track, samples, deviations, ranks: rank(deviations).ranks, step: findMedian(intervals) };
}

/** Returns the values measured on the same occasions. */
function matchOccasions(a: Deviating, b: Deviating): Matched {
  return byTime(a.samples, b.samples, 0, 0);
}

/**
 * Returns the values that match at a lag of the given number of steps. Series that are mostly measured on the same occasions
 * are matched by occasion; all others are matched by time, at the lag plus or minus half a step.
 */
function matchAtLag(a: Deviating, b: Deviating, shared: Matched, steps: number): Matched {
  const step = Math.max(a.step, b.step);
  if (shared.first.length < SHARED * Math.max(a.samples.length, b.samples.length))
    return byTime(a.samples, b.samples, steps * step, step / 2);
  const count = Math.max(0, shared.first.length - Math.abs(steps));
  const [from, to] = [Math.max(0, -steps), Math.max(0, steps)];
  return { first: shared.first.slice(from, from + count), second: shared.second.slice(to, to + count) };
}

/** Returns the values whose times differ by the lag, plus or minus `give`; each value is used once, in chronological order. */
function byTime(a: readonly Sample[], b: readonly Sample[], lag: number, give: number): Matched {
  const [first, second]: [number[], number[]] = [[], []];
  let n = 0;
  for (const [k, { time }] of a.entries()) {
    const wanted = time + lag;
    const off = (at: number): number => Math.abs((b[at]?.time ?? Number.POSITIVE_INFINITY) - wanted);
    while (n < b.length && (b[n]?.time ?? 0) < wanted - give) n += 1;
    // The next value may be nearer.
    while (n + 1 < b.length && off(n + 1) < off(n)) n += 1;
    if (n < b.length && off(n) <= give) {
      first.push(k);
      second.push(n);
      n += 1;
    }
  }
  return { first, second };
}

/**
 * Returns the correlation of the values' ranks among all values, not only the matched ones, which is faster and gives nearly
 * the same result.
 */
function roughly({ ranks: x }: Deviating, { ranks: y }: Deviating, { first, second }: Matched): number {
  const n = first.length;
  let [sx, sy, sxx, syy, sxy] = [0, 0, 0, 0, 0];
  for (let k = 0; k < n; k += 1) {
    const [a, b] = [x[first[k] ?? 0] ?? 0, y[second[k] ?? 0] ?? 0];
    sx += a;
    sy += b;
    sxx += a * a;
    syy += b * b;
    sxy += a * b;
  }
  const spread = (sxx - (sx * sx) / n) * (syy - (sy * sy) / n);
  return spread > 0 ? (sxy - (sx * sy) / n) / Math.sqrt(spread) : 0;
}

function reportPair(a: Deviating, b: Deviating, { steps, rho, p }: Strongest): Detected {
  const { first, second } = matchAtLag(a, b, matchOccasions(a, b), steps);
  const used = (of: Deviating, at: readonly number[]): Sample[] => at.flatMap((n) => of.samples[n] ?? []);
  const [x, y] = [used(a, first), used(b, second)];
  const lag = findMedian(x.map(({ time }, k) => (y[k]?.time ?? time) - time));
  const [wa, wb] = [timeWindow(a.track, x), timeWindow(b.track, y)];
  const isEarlier = (x[0]?.time ?? 0) <= (y[0]?.time ?? 0);
  const isLater = (x.at(-1)?.time ?? 0) >= (y.at(-1)?.time ?? 0);
  return {
    kind: 'correlation',
    codes: [...a.track.codes.slice(0, 1), ...b.track.codes.slice(0, 1)],
    direction: rho > 0 ? 'together' : 'opposite',
    effect: { value: roundToSix(rho), unit: '1', low: null, high: null, lag_days: roundToSix(lag) },
    confidence: roundConfidence(p),
    method: PAIR_METHOD,
    window: { from: isEarlier ? wa.from : wb.from, to: isLater ? wa.to : wb.to },
    pieces: () => evidenceOfPair(a, b, { steps, rho }),
  };
}

/** Returns the evidence for a correlation: the first series' values, then the second's. */
function* evidenceOfPair(
  a: Deviating,
  b: Deviating,
  { steps, rho }: Pick<Strongest, 'steps' | 'rho'>,
): Generator<Evidence, void> {
  const { first, second } = matchAtLag(a, b, matchOccasions(a, b), steps);
  const middle = (of: Deviating, at: readonly number[]) => findMedian(at.map((n) => of.deviations[n] ?? 0));
  const [mx, my] = [middle(a, first), middle(b, second)];
  const supports = first.map((n, k) => {
    const product = ((a.deviations[n] ?? 0) - mx) * ((b.deviations[second[k] ?? 0] ?? 0) - my);
    return product * rho >= 0;
  });
  const used = (of: Deviating, at: readonly number[]) => at.flatMap((n) => of.samples[n] ?? []);
  yield* evidenceOfSamples(a.track, used(a, first), supports);
  yield* evidenceOfSamples(b.track, used(b, second), supports);
}
