/** given how a command ended · when its job reads the outcome · then the job's new state */
import { expect } from 'chai';
import type { Ended } from '#src/operations/jobs/ended.ts';
import { KINDS } from '#src/operations/jobs/kinds.ts';

const ended = (more: Partial<Ended>): Ended => ({
  code: 1,
  signal: null,
  printed: undefined,
  failure: 'tb_1 has a selection that can’t be read: interrupted',
  ...more,
});

describe('the end of a job', () => {
  for (const kind of ['rebuild', 'verification', 'takeback-plan', 'takeback', 'takeback-undo', 'checkpoint'])
    it(`of kind ${kind} doesn't depend on the words of its error`, () => {
      for (const words of [
        'interrupted',
        'stopped',
        'another process works on',
        'already being rebuilt',
        'another verification is running',
        "tb_1 can't be started: it is done",
      ])
        expect(KINDS[kind]?.end(ended({ failure: words })).status, words).to.equal('failed');
    });

  for (const kind of ['rebuild', 'verification', 'takeback-plan', 'takeback', 'takeback-undo', 'checkpoint'])
    it(`of kind ${kind} that was interrupted comes again`, () =>
      expect(KINDS[kind]?.end(ended({ reason: 'interrupted' })).status).to.equal('again'));

  for (const kind of ['rebuild', 'verification', 'takeback-plan', 'takeback', 'takeback-undo'])
    it(`of kind ${kind} waits while another process does the same`, () =>
      expect(KINDS[kind]?.end(ended({ reason: 'busy' })).status).to.equal('again'));

  it('of a take-back that was finished before is done', () => {
    for (const kind of ['takeback', 'takeback-undo'])
      expect(KINDS[kind]?.end(ended({ reason: 'finished' }))).to.deep.equal({ status: 'done' });
  });
});
