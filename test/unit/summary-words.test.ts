/** Timeline summaries in words: planned medicines aren't described as being taken. */
import { expect } from 'chai';
import { texts } from '#src/http/pages/texts.ts';
import { summaryLine, summaryToday } from '#src/http/reading/summary-words.ts';

describe('summaries in words', () => {
  const say = texts('en');
  const line = (kind: string, date: string | null, summary: string) =>
    summaryLine(say, kind, summaryToday(kind, date, summary, '2026-11-29'));

  it('say of a plan or proposal that it is one, not that the medicine is current', () => {
    expect(line('prescription', null, 'active, order')).to.equal('Order, current');
    expect(line('prescription', null, 'active, plan')).to.equal('Plan');
    expect(line('prescription', null, 'active, proposal')).to.equal('Proposal');
    expect(line('prescription', null, 'stopped, plan')).to.equal('Plan, stopped');
    expect(line('care_plan', null, 'active, plan')).to.equal('Plan, active');
  });

  it('say of a medicine that begins later that it is planned', () => {
    expect(line('medication', '2027-03-01', 'active')).to.equal('Planned');
    expect(line('medication', '2027', 'active, 60 mg')).to.equal('Planned, 60 mg');
    for (const date of ['2026-11-29', '2026-11', '2026', null])
      expect(line('medication', date, 'active')).to.equal('Current');
    expect(line('medication', '2027-03-01', 'stopped')).to.equal('Stopped');
    expect(line('condition', '2027-03-01', 'active')).to.equal('Active');
  });
});
