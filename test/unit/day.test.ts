/** The days that dates belong to (docs/spec/decisions.md, section 4 "The day of a value"). */
import { expect } from 'chai';
import { dayAt, dayIn, isVague, readDays, startOfDay } from '#src/shared/time/day.ts';

describe('reading: days of dates', () => {
  const shown = (date: string) => {
    const { first, last } = readDays(date);
    return [first, last].map((day) => new Date(startOfDay(day)).toISOString().slice(0, 10));
  };

  it('are those of the text, whatever the offset', () => {
    for (const date of ['2026-05-01', '2026-05-01T00:30:00+02:00', '2026-05-01T23:30:00-11:00'])
      expect(shown(date), date).to.deep.equal(['2026-05-01', '2026-05-01']);
    expect(dayIn('2026-05-01T00:30:00+14:00')).to.equal('2026-05-01');
    expect(dayIn('2026-05')).to.equal('2026-05');
  });

  it('are all days of a month or a year', () => {
    expect(shown('2024-02')).to.deep.equal(['2024-02-01', '2024-02-29']);
    expect(shown('2026-12')).to.deep.equal(['2026-12-01', '2026-12-31']);
    expect(shown('2026')).to.deep.equal(['2026-01-01', '2026-12-31']);
    expect(shown('0004')).to.deep.equal(['0004-01-01', '0004-12-31']);
    expect(shown('9999-12')).to.deep.equal(['9999-12-01', '9999-12-31']);
    expect(['2026', '2026-05', '2026-05-01', '2026-05-01T00:30:00Z'].map(isVague)).to.deep.equal([
      ...[true, true, false, false],
    ]);
  });

  it('begin at midnight in UTC where only a moment is known', () => {
    expect(dayAt(0)).to.equal(0);
    expect(dayAt(-1)).to.equal(-1);
    expect(dayAt(Date.parse('2026-05-01T23:59:59Z'))).to.equal(readDays('2026-05-01').first);
  });
});
