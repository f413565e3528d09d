/**
 * The exam: records generated like the judged set's, with seeds that were not used to choose any threshold. If the exam ever
 * misses a bound and a method is changed because of that, the exam needs new seeds.
 */
import { expect } from 'chai';
import { findPatterns } from '#src/insight/find.ts';
import { atOnce } from '#src/shared/load/slices.ts';
import { scaled } from '#test/support/scale.ts';
import { tell } from '#test/support/tell.ts';
import { isFound, tracksOf } from './judged.ts';
import { type JudgedRecord, judgedSet } from './judged-set.ts';

/** Number of sets of 200 records. */
const SETS = scaled(20, 3);
const KINDS = ['trend', 'step', 'gap', 'lag', 'noise', 'noise, AR(1) 0.5'] as const;

const isTold = (record: JudgedRecord): boolean =>
  isFound(record, atOnce(findPatterns(tracksOf(record), [])).findings);

/** Returns a share in percent with its 95 % interval (Wilson 1927). */
function shareOf({ found, all }: { readonly found: number; readonly all: number }): string {
  const [p, z] = [found / all, 1.959964];
  const middle = (p + z ** 2 / (2 * all)) / (1 + z ** 2 / all);
  const half = (z / (1 + z ** 2 / all)) * Math.sqrt((p * (1 - p)) / all + z ** 2 / (4 * all ** 2));
  const percent = (of: number): string => (100 * of).toFixed(1);
  return `${found} of ${all}, ${percent(p)} % (${percent(middle - half)} to ${percent(middle + half)})`;
}

describe('insight: the exam', () => {
  const counts = new Map(KINDS.map((kind) => [kind, { all: 0, found: 0 }]));
  const planted = { all: 0, found: 0 };

  before(() => {
    for (let set = 0; set < SETS; set += 1)
      for (const record of judgedSet(`exam-2026-11-26 ${set}`)) {
        const isFoundIn = isTold(record);
        const noise = record.name.includes('AR(1)') ? 'noise, AR(1) 0.5' : 'noise';
        const of = counts.get(record.planted?.kind ?? noise);
        for (const each of [of, record.planted === undefined ? undefined : planted]) {
          if (each === undefined) continue;
          each.all += 1;
          if (isFoundIn) each.found += 1;
        }
      }
  });

  it('shows at least 95 % of what was planted', () => {
    expect(planted.all).to.equal(SETS * 140);
    expect(planted.found / planted.all, shareOf(planted)).to.be.at.least(0.95);
  });

  for (const [kind, most] of [
    ['noise', 0.02],
    ['noise, AR(1) 0.5', 0.06],
  ] as const)
    it(`shows something in at most ${100 * most} % of records: ${kind}`, () => {
      const noise = counts.get(kind) ?? { all: 0, found: 0 };
      expect(noise.all).to.equal(SETS * 30);
      expect(noise.found / noise.all, shareOf(noise)).to.be.at.most(most);
    });

  after(() => {
    tell(`planted ${shareOf(planted)}`);
    for (const [kind, count] of counts) tell(`${kind} ${shareOf(count)}`);
  });
});
