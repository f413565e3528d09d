/** The advice that `annal verify` gives. */
import { expect } from 'chai';
import type { ReadModelFault } from '#projections/verify/verify-read-model.ts';
import { hintsFor } from '#src/cli/verify/verify-hints.ts';

const row = (what: 'missing' | 'orphan' | 'changed', projection = 'resources'): ReadModelFault => ({
  projection,
  table: 'resource',
  key: { id: 'x' },
  what,
  record: null,
});
const event = { what: 'hash', stream: 'record-x', revision: 1, event: 'e', message: '' } as const;

describe('the advice of verify', () => {
  it('is none where nothing is wrong', () => {
    expect(hintsFor({ log: [], readModels: [] })).to.deep.equal([]);
  });

  it('is to restore the log, and to rebuild nothing from one that does not hold', () => {
    const [first, ...others] = hintsFor({ log: [event], readModels: [row('orphan'), row('changed')] });
    expect(first).to.contain('Back up the database').and.to.contain('annal rebuild --restored');
    expect(others).to.deep.equal([]);
  });

  it('is to suspect a shortened log where rows have no events', () => {
    const [first, ...others] = hintsFor({ log: [], readModels: [row('changed'), row('orphan', 'history')] });
    expect(first)
      .to.contain('verify --checkpoint')
      .and.to.contain('annal rebuild --restored')
      .and.to.contain('annal rebuild resources history --force');
    expect(others).to.deep.equal([]);
  });

  it('is to rebuild rows that differ from a log that holds', () => {
    const hints = hintsFor({ log: [], readModels: [row('changed'), row('missing')] });
    expect(hints.join()).to.contain('annal rebuild resources --force').and.not.to.contain('--restored');
    const outdated = { projection: 'history', what: 'outdated', message: '' } as const;
    expect(hintsFor({ log: [], readModels: [outdated] }).join()).to.contain('rebuilds tables');
  });
});
