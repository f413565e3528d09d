/**
 * The methods compared with published implementations: R 4.2.2 with maxstat 0.7-25, and SciPy 1.10.1, all as packaged in
 * Debian 12. Each figure is accompanied by the call that computed it. Data: R's `LakeHuron`, `Nile`, `discoveries`, `sleep`
 * and `airquality`, and Hollander and Wolfe's example from `?wilcox.test`.
 */
import { expect } from 'chai';
import { effectivePairs, inflationOfTrend } from '#src/insight/methods/autocorrelation.ts';
import { changePoint, lausen92, lausen94 } from '#src/insight/methods/change-point.ts';
import {
  chiSquaredTail,
  normalQuantile,
  normalTail,
  studentTwoSided,
} from '#src/insight/methods/distributions.ts';
import { hodgesLehmann } from '#src/insight/methods/hodges-lehmann.ts';
import { kruskalWallis } from '#src/insight/methods/kruskal-wallis.ts';
import { mannKendall } from '#src/insight/methods/mann-kendall.ts';
import { mannWhitney } from '#src/insight/methods/mann-whitney.ts';
import { spearman } from '#src/insight/methods/spearman.ts';
import { theilSen } from '#src/insight/methods/theil-sen.ts';
import { atOnce } from '#src/shared/load/slices.ts';

const numbers = (text: string): number[] => text.split(/\s+/).map(Number);
const times = (values: readonly number[]): number[] => values.map((_, n) => n + 1);
const near = (actual: number | undefined, wanted: number): void =>
  void expect(actual).to.be.closeTo(wanted, 1e-6 * Math.max(1, Math.abs(wanted)));
/** Expects two probabilities to agree to six digits, however small they are. */
const alike = (actual: number | undefined, wanted: number): void =>
  void expect((actual ?? 0) / wanted).to.be.closeTo(1, 1e-6);

const LAKE_HURON = numbers(
  '580.38 581.86 580.97 580.8 579.79 580.39 580.42 580.82 581.4 581.32 581.44 581.68 581.17 580.53 580.01 579.91 579.14 579.16 579.55 579.67 578.44 578.24 579.1 579.09 579.35 578.82 579.32 579.01 579 579.8 579.83 579.72 579.89 580.01 579.37 578.69 578.19 578.67 579.55 578.92 578.09 579.37 580.13 580.14 579.51 579.24 578.66 578.86 578.05 577.79 576.75 576.75 577.82 578.64 580.58 579.48 577.38 576.9 576.94 576.24 576.84 576.85 576.9 577.79 578.18 577.51 577.23 578.42 579.61 579.05 579.26 579.22 579.38 579.1 577.95 578.12 579.75 580.85 580.41 579.96 579.61 578.76 578.18 577.21 577.13 579.1 578.25 577.91 576.89 575.96 576.8 577.68 578.38 578.52 579.74 579.31 579.89 579.96',
);
const NILE = numbers(
  '1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140 1100 1210 1150 1250 1260 1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969 831 726 456 824 702 1120 1100 832 764 821 768 845 864 862 698 845 744 796 1040 759 781 865 845 944 984 897 822 1010 771 676 649 846 812 742 801 1040 860 874 848 890 744 749 838 1050 918 986 797 923 975 815 1020 906 901 1170 912 746 919 718 714 740',
);
const DISCOVERIES = numbers(
  '5 3 0 2 0 3 2 3 6 1 2 1 2 1 3 3 3 5 2 4 4 0 2 3 7 12 3 10 9 2 3 7 7 2 3 3 6 2 4 3 5 2 2 4 0 4 2 5 2 3 3 6 5 8 3 6 6 0 5 2 2 2 6 3 4 4 2 2 4 7 5 3 3 0 2 2 2 1 3 4 2 2 1 1 1 2 1 4 4 3 2 1 4 1 1 1 0 0 2 0',
);
const OZONE = numbers(
  '41 36 12 18 28 23 19 8 7 16 11 14 18 14 34 6 30 11 1 11 4 32 23 45 115 37 29 71 39 23 21 37 20 12 13 135 49 32 64 40 77 97 97 85 10 27 7 48 35 61 79 63 16 80 108 20 52 82 50 64 59 39 9 16 78 35 66 122 89 110 44 28 65 22 59 23 31 44 21 9 45 168 73 76 118 84 85 96 78 73 91 47 32 20 23 21 24 44 21 28 9 13 46 18 13 24 16 13 23 36 7 14 30 14 18 20',
);
const TEMPERATURE = numbers(
  '67 72 74 62 66 65 59 61 74 69 66 68 58 64 66 57 68 62 59 73 61 61 67 81 79 76 82 90 87 82 77 72 65 73 76 84 85 81 83 83 88 92 92 89 73 81 80 81 82 84 87 85 74 86 85 82 86 88 86 83 81 81 81 82 86 85 87 89 90 90 86 82 80 77 79 76 78 78 77 72 79 81 86 97 94 96 94 91 92 93 93 87 84 80 78 75 73 81 76 77 71 71 78 67 76 68 82 64 71 81 69 63 70 75 76 68',
);
const MONTH = numbers(
  '5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 6 6 6 6 6 6 6 6 6 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9',
);
const SLEEP = [
  numbers('0.7 -1.6 -0.2 -1.2 -0.1 3.4 3.7 0.8 0 2'),
  numbers('1.9 0.8 1.1 0.1 -0.1 4.4 5.5 1.6 4.6 3.4'),
] as const;
const HOLLANDER = [
  numbers('0.80 0.83 1.89 1.04 1.45 1.38 1.91 1.64 0.73 1.46'),
  numbers('1.15 0.88 0.90 0.74 1.21'),
] as const;

describe('insight: published figures', () => {
  it('Mann–Kendall: R cor.test(t, x, method = "kendall", exact = FALSE, continuity = TRUE)', () => {
    const huron = mannKendall(times(LAKE_HURON), LAKE_HURON);
    near(huron.z, -5.159825226030388);
    alike(huron.p, 2.47180483772577e-7);
    // Many ties.
    const counts = mannKendall(times(DISCOVERIES), DISCOVERIES);
    near(counts.z, -2.2580881099623893);
    alike(counts.p, 0.0239401667740537);
    const few = numbers('6.1 6.4 6.2 6.9 7.3 7.0 7.8 7.5 8.1 8.4');
    // Fewer than 12 values are tested exactly: of 10! orders, 209 have at most as many inversions as this one (3), and the
    // same number are as extreme in the other direction.
    alike(mannKendall(times(few), few).p, (2 * 209) / 3_628_800);
    // Of the ten orders of three equal values and two equal values, one is ascending and one is descending.
    const tied = numbers('1 1 1 2 2');
    alike(mannKendall(times(tied), tied).p, 0.2);
  });

  const fitted = (x: readonly number[], y: readonly number[]) => {
    const line = atOnce(theilSen(x, y)) ?? expect.fail('no line');
    return { ...line, ...atOnce(line.interval()) };
  };

  it('Theil–Sen: SciPy stats.theilslopes(y, x, 0.95)', () => {
    const figures = [
      [LAKE_HURON, [-0.025124999999999887, 580.3636875, -0.03492957746478899, -0.01657534246575392]],
      [DISCOVERIES, [-0.011363636363636364, 3.5738636363636362, -0.02531645569620253, 0]],
      [numbers('6.1 6.4 6.2 6.9 7.3 7.0 7.8 7.5 8.1 8.4'), [0.25, 5.775, 0.2, 0.3]],
    ] as const;
    for (const [values, [slope, intercept, low, high]] of figures) {
      const line = fitted(times(values), values);
      near(line.slope, slope);
      near(line.intercept, intercept);
      near(line.low, low);
      near(line.high, high);
    }
    const irregular = fitted([0, 3.5, 4, 9, 9, 15, 16.25, 30], [1, 4, 2, 5, 7, 6, 9, 11]);
    near(irregular.slope, 1 / 3);
    near(irregular.intercept, 2.5);
    near(irregular.low, 0.18181818181818182);
    near(irregular.high, 0.5714285714285714);
  });

  it('change point: R maxstat.test(x ~ t, smethod = "Wilcoxon", minprop = 0.1, maxprop = 0.9)', () => {
    const nile = changePoint(NILE, 10);
    expect(nile?.before).to.equal(28);
    near(nile?.z, 6.207184692817746);
    alike(lausen92(nile?.z ?? 0, 0.1, 0.9), 4.6687367574781e-8);
    alike(lausen94(nile?.z ?? 0, 100, 10, 90), 2.35626030259588e-8);
    // Many ties.
    const counts = changePoint(DISCOVERIES, 10);
    expect(counts?.before).to.equal(73);
    near(counts?.z, 4.091977859174232);
    alike(lausen92(counts?.z ?? 0, 0.1, 0.9), 0.00164982771936169);
    // pLausen92(3.0, .1, .9), pLausen92(4.2, .2, .8), pLausen94(3.0, 40, .1, .9), pLausen94(3.5, 24, .2, .8, m = 5:19)
    alike(lausen92(3, 0.1, 0.9), 0.0578438845691903);
    alike(lausen92(4.2, 0.2, 0.8), 0.000703610084768657);
    alike(lausen94(3, 40, 4, 36), 0.0416325460624901);
    alike(lausen94(3.5, 24, 5, 19), 0.00427549283331155);
  });

  it('comparison: R wilcox.test(b, a, conf.int = TRUE), SciPy stats.mannwhitneyu(b, a)', () => {
    // exact = TRUE; mannwhitneyu(method = "exact") gives the same p
    const exact = mannWhitney(...HOLLANDER);
    expect(exact).to.include({ u: 15, exact: true });
    alike(exact.p, 0.254412254412254);
    const shift = atOnce(hodgesLehmann(...HOLLANDER));
    near(shift.estimate, -0.305);
    near(shift.low, -0.76);
    near(shift.high, 0.15);
    // exact = FALSE, correct = TRUE, tol.root = 1e-12
    const [a, b] = [NILE.slice(0, 28), NILE.slice(28)];
    const nile = mannWhitney(a, b);
    expect(nile).to.include({ u: 199.5, exact: false });
    alike(nile.p, 5.52751323692413e-10);
    const moved = atOnce(hodgesLehmann(a, b));
    near(moved.estimate, -260);
    near(moved.low, -316);
    near(moved.high, -196);
    // Ties: mannwhitneyu(method = "asymptotic", use_continuity = True)
    const ties = mannWhitney(...SLEEP);
    expect(ties).to.include({ u: 74.5, exact: false });
    alike(ties.p, 0.0693275754336266);
  });

  it('Spearman: R cor.test(Ozone, Temp, method = "spearman", exact = FALSE)', () => {
    const found = spearman(OZONE, TEMPERATURE);
    near(found?.rho, 0.7740429554613015);
    alike(found?.p, 2.24766056986358e-24);
  });

  it('Kruskal–Wallis: R kruskal.test(Ozone, Month)', () => {
    const groups = [5, 6, 7, 8, 9].map((month) => OZONE.filter((_, n) => MONTH[n] === month));
    const found = kruskalWallis(groups);
    near(found?.h, 29.26657630611693);
    expect(found?.degrees).to.equal(4);
    alike(found?.p, 6.90071411854678e-6);
  });

  it('distributions: R pnorm, qnorm, pt, pchisq', () => {
    alike(normalTail(0.5), 0.308537538725987);
    alike(normalTail(3.3), 0.000483424142383777);
    alike(normalTail(8), 6.22096057427178e-16);
    near(normalQuantile(0.975), 1.959963984540054);
    near(normalQuantile(1e-9), -5.997807015007687);
    alike(studentTwoSided(2.5, 7.3) / 2, 0.0198251173328002);
    alike(studentTwoSided(4, 20) / 2, 0.000351761646564159);
    alike(studentTwoSided(0.3, 3) / 2, 0.39188164601996);
    alike(chiSquaredTail(12.3, 6), 0.0556012017793952);
    alike(chiSquaredTail(30, 5), 1.47485810384431e-5);
    alike(chiSquaredTail(0.4, 2), 0.818730753077982);
  });

  it('leaves independent values as they are, and counts autocorrelated ones for fewer', () => {
    expect(inflationOfTrend(0, 30)).to.equal(1);
    // For long series with coefficient 0.5: (1 + 0.5) / (1 − 0.5).
    expect(inflationOfTrend(0.5, 5_000)).to.be.closeTo(3, 0.01);
    expect(effectivePairs(100, 0, 0.5)).to.equal(100);
    expect(effectivePairs(100, 0.5, 0.5)).to.equal(60);
  });
});
