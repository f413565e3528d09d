/** Simulated values that no method was tuned on: device data without any changes, intervals, and false rhythms. */
import { expect } from 'chai';
import { COMPARE_METHOD, type Comparison, comparePeriods } from '#src/insight/compare.ts';
import { fitChange } from '#src/insight/detect/change.ts';
import { RHYTHM_METHODS } from '#src/insight/detect/rhythm.ts';
import { findPatterns } from '#src/insight/find.ts';
import type { Finding } from '#src/insight/finding.ts';
import { hodgesLehmann } from '#src/insight/methods/hodges-lehmann.ts';
import { makeSamples, type Track } from '#src/insight/track.ts';
import { atOnce } from '#src/shared/load/slices.ts';
import { someOf } from '#test/support/scale.ts';
import { daily, run, wandering } from './simulated.ts';

const find = (tracks: readonly Track[]): readonly Finding[] => atOnce(findPatterns(tracks, [])).findings;
const times = <T>(count: number, each: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => each(n));
const isWeekly = ({ method }: Finding): boolean => method === RHYTHM_METHODS.week;

/** Compares the values before an index with the values from that index on. */
const compared = (track: Track, count: number, end = track.points.length): Comparison => {
  const numbers = new Map(track.points.map((point, n) => [point, n]));
  const isIn = (from: number, to: number) => (point: Track['points'][number]) => {
    const n = numbers.get(point) ?? -1;
    return n >= from && n < to;
  };
  return atOnce(comparePeriods(track, { a: isIn(0, count), b: isIn(count, end) }));
};

describe('insight: held-out simulations', () => {
  for (const [rho, most] of someOf(
    [
      [0.9, 3],
      [0.95, 5],
    ] as const,
    1,
  ))
    it(`find little in a year of daily values that wander (AR(1) ${rho})`, () => {
      const found = times(40, (n) => {
        const random = run(`held out ${rho}`, n);
        return find([daily('a', wandering(random, 365, rho)), daily('b', wandering(random, 365, rho))]);
      }).filter(({ length }) => length > 0);
      expect(found.length, JSON.stringify(found.flat().map(({ method }) => method))).to.be.at.most(most);
    });

  it('make no rhythm of a trend or of a change, and find one that is there beside them', () => {
    const weights = (name: string, course: (n: number) => number): Track[] =>
      times(40, (k) =>
        daily(
          'a',
          wandering(run(name, k), 182, 0).map((noise, n) => 90 + 0.4 * noise + course(n)),
        ),
      );
    const weekly = (tracks: readonly Track[]): number =>
      tracks.filter((track) => find([track]).some(isWeekly)).length;
    expect(weekly(weights('falling', (n) => -0.07 * n))).to.be.at.most(1);
    expect(weekly(weights('falling fast', (n) => -0.3 * n))).to.be.at.most(1);
    expect(weekly(weights('changed', (n) => (n < 93 ? 0 : 8)))).to.be.at.most(1);
    const resting = weights('resting', (n) => -0.1 * n + (n % 7 >= 5 ? 0.5 : 0));
    expect(weekly(resting)).to.be.at.least(38);
    const [effect] = resting.flatMap((track) => find([track]).filter(isWeekly));
    expect(effect?.effect.value).to.be.within(0.3, 0.9);
  });

  it('cover a shift of autocorrelated values in 95 % of intervals, as of independent ones they would not', () => {
    const shifts = times(200, (k) =>
      wandering(run('shift', k), 80, 0.45).map((value, n) => (n < 40 ? value : value + 5)),
    );
    const covers = ({ low, high }: { low: number | null; high: number | null }): boolean =>
      low !== null && high !== null && low <= 5 && high >= 5;
    // Each change is so large that its position is certain.
    const changes = shifts.flatMap((values) => {
      const track = daily('a', values);
      const change = fitChange(track, atOnce(makeSamples(track.points)));
      return change === undefined ? [] : [atOnce(change.describe()).effect];
    });
    expect(changes).to.have.length(200);
    expect(changes.filter(covers).length).to.be.at.least(186);
    const told = shifts.flatMap((values) => compared(daily('a', values), 40).difference ?? []);
    expect(told).to.have.length(200);
    expect(told.filter(covers).length).to.be.at.least(186);
    const independent = shifts.map((values) => atOnce(hodgesLehmann(values.slice(0, 40), values.slice(40))));
    expect(independent.filter(covers).length).to.be.at.most(170);
  });

  it('rarely call periods different that only wander, and say how', () => {
    const p = times(300, (k) => {
      const track = daily('a', wandering(run('periods', k), 60, 0.45));
      return compared(track, 30).difference?.p_value ?? 1;
    });
    expect(p.filter((each) => each < 0.05).length).to.be.within(1, 24);
    expect(COMPARE_METHOD).to.contain('variance inflated by autocorrelation');
    // Fewer than eight values per period: the test is exact, and all values of one period are below all values of the other.
    const few = daily('a', [1.1, 1.2, 1.3, 1.4, 1.5, 2.1, 2.2, 2.3, 2.4, 2.5]);
    expect(compared(few, 5).difference?.p_value).to.be.closeTo(2 / 252, 1e-9);
  });

  it('compare a long period with a short one by the medians of days of both', () => {
    // Ten values per day, for 250 days and for 20 days.
    const random = run('days', 0);
    const values = times(2_700, (n) => (n % 10 === 0 ? 50 : 0) + random.noise(1) + (n < 2_500 ? 0 : 3));
    const track = daily('a', values, 10);
    const long = compared(track, 2_500);
    expect(long.a.count).to.equal(2_500);
    expect(long.difference?.absolute).to.be.closeTo(3, 0.2);
    // Twenty daily medians. With single values, the interval would extend to their outliers.
    expect((long.difference?.high ?? 9) - (long.difference?.low ?? 0)).to.be.below(0.8);
    const short = compared(track, 2_500, 2_540);
    expect(short).to.include({ sufficient: false, difference: null });
    expect(short.reason).to.match(/^period b has values on 4 days; at least 5 are needed/);
  });
});
