/** The judged set as the final exam for all detectors together, and noise that isn't in the set. */
import { expect } from 'chai';
import { findPatterns } from '#src/insight/find.ts';
import type { Finding } from '#src/insight/finding.ts';
import { Random } from '#src/sandbox/random.ts';
import { atOnce } from '#src/shared/load/slices.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { isFound, tracksOf } from './judged.ts';
import { type JudgedRecord, judgedSet, noiseRecord } from './judged-set.ts';

const findingsOf = (record: JudgedRecord): readonly Finding[] =>
  atOnce(findPatterns(tracksOf(record), [])).findings;

describe('insight: the judged set', () => {
  const all = judgedSet();

  it('has 200 series of sizes that are never below the least', () => {
    expect(all).to.have.length(200);
    for (const { planted, series } of all) {
      if (planted === undefined) continue;
      const count = series[0]?.values.length ?? 0;
      expect(count).to.be.at.least({ trend: 12, step: 16, gap: 13, lag: 20 }[planted.kind]);
      if (planted.kind === 'trend') expect(Math.abs(planted.change)).to.be.at.least(2);
      if (planted.kind === 'step') expect(Math.abs(planted.size)).to.be.at.least(1.5);
      if (planted.kind === 'lag') expect(Math.abs(planted.rho)).to.be.at.least(0.7);
    }
  });

  it('shows at least 95 % of what was planted', () => {
    const planted = all.filter((record) => record.planted !== undefined);
    const missed = planted.filter((record) => !isFound(record, findingsOf(record)));
    expect(planted).to.have.length(140);
    expect(missed.length / planted.length, missed.map(({ name }) => name).join('\n')).to.be.at.most(0.05);
  });

  it('shows something in at most 2 % of noise', () => {
    const noise = all.filter((record) => record.planted === undefined);
    const found = noise.filter((record) => findingsOf(record).length > 0);
    expect(noise).to.have.length(60);
    expect(found.length / noise.length, found.map(({ name }) => name).join('\n')).to.be.at.most(0.02);
  });

  itAtFullSize(
    'shows something in at most 2 % of 750 further records of independent noise, and in 6 % of autocorrelated',
    () => {
      const records = Array.from({ length: 1_500 }, (_, n) => noiseRecord(new Random(`further ${n}`), n));
      const shareOf = (of: readonly JudgedRecord[]) =>
        of.filter((record) => findingsOf(record).length > 0).length / of.length;
      const isWandering = ({ name }: JudgedRecord) => name.includes('AR(1)');
      expect(shareOf(records.filter((record) => !isWandering(record)))).to.be.at.most(0.02);
      expect(shareOf(records.filter(isWandering))).to.be.at.most(0.06);
    },
  );
});
