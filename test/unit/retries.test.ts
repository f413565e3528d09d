import { expect } from 'chai';
import { tooManyRetries } from '#test/support/retries.ts';

describe('retries of tests because read models lag', () => {
  it('may be three for each thousand requests begun', () => {
    expect(tooManyRetries({ requests: 0, again: 0 })).to.equal(false);
    expect(tooManyRetries({ requests: 20, again: 3 })).to.equal(false);
    expect(tooManyRetries({ requests: 20, again: 4 })).to.equal(true);
    expect(tooManyRetries({ requests: 1_001, again: 6 })).to.equal(false);
    expect(tooManyRetries({ requests: 1_001, again: 7 })).to.equal(true);
  });
});
