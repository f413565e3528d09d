/**
 * Rates of true and false findings in a single series, as defined in decision 0024, on records whose seeds were not used to
 * choose any threshold.
 */
import { expect } from 'chai';
import { findPatterns } from '#src/insight/find.ts';
import type { Finding } from '#src/insight/finding.ts';
import { atOnce } from '#src/shared/load/slices.ts';
import { scaled } from '#test/support/scale.ts';
import { tell } from '#test/support/tell.ts';
import { daily, run, wandering } from './simulated.ts';

const RECORDS = scaled(2_000, 300);
const LENGTHS = [8, 12, 16, 24, 40, 60, 100, 200, 365];

const isCourse = ({ kind }: Finding): boolean => kind === 'trend' || kind === 'change_point';

/** Returns the share of records with the given kind of finding. */
function shareFound(
  name: string,
  values: (n: number) => readonly number[],
  isSuch: (finding: Finding) => boolean,
): number {
  const found = Array.from({ length: RECORDS }, (_, n) =>
    atOnce(findPatterns([daily('a', values(n))], [])).findings.some(isSuch),
  ).filter(Boolean).length;
  tell(`${name}: ${found} of ${RECORDS}, ${((100 * found) / RECORDS).toFixed(2)} %`);
  return found / RECORDS;
}

const noise = (name: string, n: number, count: number, rho = 0): number[] =>
  wandering(run(`single 2026-11-28 ${name}`, n), count, rho);

describe('insight: single series', () => {
  it('shows 80 % of trends that drift by 3.3 residual standard deviations over 24 values', () => {
    const values = (n: number) => noise('trend', n, 24).map((each, k) => each + (3.3 * k) / 23);
    expect(shareFound('trends', values, ({ kind }) => kind === 'trend')).to.be.at.least(0.8);
  });

  it('shows 92 % of steps of 3.1 with 13 values on each side, as a change or a trend', () => {
    const values = (n: number) => noise('step', n, 26).map((each, k) => each + (k < 13 ? 0 : 3.1));
    expect(shareFound('steps', values, isCourse)).to.be.at.least(0.92);
  });

  it('shows that eight quarterly values of HbA1c rose from 6.0 to 8.9', () => {
    const quarterly = [6.0, 6.3, 6.8, 7.1, 7.6, 8.0, 8.4, 8.9];
    const { findings } = atOnce(findPatterns([daily('4548-4', quarterly)], []));
    expect(findings.map(({ kind, direction }) => [kind, direction])).to.deep.equal([['trend', 'up']]);
  });

  for (const [name, rho, most] of [
    ['independent noise', 0, 0.02],
    ['AR(1) 0.5', 0.5, 0.06],
  ] as const)
    it(`shows something in at most ${100 * most} % of records of ${name}`, () => {
      const values = (n: number) => noise(name, n, LENGTHS[n % LENGTHS.length] ?? 24, rho);
      expect(shareFound(name, values, () => true)).to.be.at.most(most);
    });
});
