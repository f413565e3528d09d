/** JSON formatted over several lines, as the dashboard shows responses. */
import { expect } from 'chai';
import fc from 'fast-check';
import { indent } from '../../dashboard/indent.ts';

describe('answers in the dashboard', () => {
  it('are written as JSON.stringify writes them', () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())), (value) => {
        expect(indent(JSON.stringify(value))).to.equal(JSON.stringify(value, null, 2));
      }),
    );
  });

  it('keep their digits, and anything that is no JSON', () => {
    expect(indent('{"a":[1.0,0.10,1e400],"b":{}}')).to.equal(
      '{\n  "a": [\n    1.0,\n    0.10,\n    1e400\n  ],\n  "b": {}\n}',
    );
    expect(indent('<p>away</p>')).to.equal('<p>away</p>');
  });
});
