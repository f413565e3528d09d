/** Detects trends: the Mann–Kendall test decides whether there is one, and the Theil–Sen slope says how large it is. */
import { linearRegression } from 'simple-statistics';
import type { Steps } from '#src/shared/load/slices.ts';
import { roundConfidence, roundToSix } from '../finding.ts';
import { ASSUMED, autocorrelation, inflationOfTrend } from '../methods/autocorrelation.ts';
import { balances, isExact, mannKendall } from '../methods/mann-kendall.ts';
import { theilSen } from '../methods/theil-sen.ts';
import type { Sample, Track } from '../track.ts';
import { evidenceOfSamples, type Fitted, residual, scatter, timeWindow, WORTH_A_LOOK } from './fitted.ts';
import { LEAST } from './levels.ts';

/** The method's name. */
export const TREND_METHOD =
  'Mann–Kendall (asymptotic, continuity and ties corrected, variance inflated by autocorrelation) with Theil–Sen slope';
/** The method's name for fewer than 12 values. */
export const SHORT_TREND_METHOD =
  'Mann–Kendall (exact, variance inflated by autocorrelation) with Theil–Sen slope';

/** Describes a series by a trend; undefined if the series has too few values or shows no sign of a trend. */
export function* fitTrend(track: Track, samples: readonly Sample[]): Steps<Fitted | undefined> {
  const n = samples.length;
  if (n < LEAST.trend) return undefined;
  const first = samples[0]?.time ?? 0;
  const times = samples.map(({ time }) => time - first);
  const values = samples.map(({ value }) => value);
  if (mannKendall(times, values).p >= WORTH_A_LOOK) return undefined;
  yield;
  const line = yield* theilSen(times, values);
  if (line === undefined || line.slope === 0) return undefined;
  const residuals = samples.map((sample, k) =>
    residual(sample, line.intercept + line.slope * (times[k] ?? 0)),
  );
  const { s, p } = mannKendall(
    times,
    values,
    inflationOfTrend(autocorrelation(residuals, ASSUMED.course), n),
  );
  const inflation = inflationOfTrend(autocorrelation(residuals), n);
  return {
    p,
    misfit: scatterOfLine(times, values),
    describe: function* () {
      const { low, high } = yield* line.interval(inflation);
      const span = times.at(-1) ?? 0;
      // At least half of the value's pairs with other values go in the trend's direction.
      const supports = Array.from(balances(times, values), (balance) => balance * Math.sign(s) >= 0);
      return {
        kind: 'trend',
        codes: track.codes,
        direction: line.slope > 0 ? 'up' : 'down',
        effect: {
          value: roundToSix(line.slope * span),
          unit: track.unit,
          low: roundToSix(low * span),
          high: roundToSix(high * span),
          per_day: roundToSix(line.slope),
        },
        confidence: roundConfidence(p),
        method: isExact(times) ? SHORT_TREND_METHOD : TREND_METHOD,
        window: timeWindow(track, samples),
        pieces: () => evidenceOfSamples(track, samples, supports),
      };
    },
  };
}

/** Returns the sum of the squared differences between values and their least-squares line. */
function scatterOfLine(times: readonly number[], values: readonly number[]): number {
  const { m } = linearRegression(times.map((time, k) => [time, values[k] ?? 0]));
  return scatter(values.map((value, k) => value - m * (times[k] ?? 0)));
}
