import { expect } from 'chai';
import fc from 'fast-check';
import { bareCodesIn, withDisplays, withDisplaysIn } from '#src/http/rest/displays.ts';

const SYSTEM = 'urn:s';
const displays = new Map([
  [`${SYSTEM}|a`, 'Apple "red" $& \\ pie'],
  [`${SYSTEM}|b`, 'Banana'],
]);

/** Generates a code as v1 shows it. */
const shownCode = fc.record(
  {
    code: fc.constantFrom('a', 'b', 'c', '"code":', null),
    system: fc.constantFrom(SYSTEM, 'urn:t', null),
    display: fc.constantFrom(null, null, 'Given', '"display":null'),
  },
  { noNullPrototype: true },
);
const record = fc
  .record(
    {
      own: shownCode,
      value_code: fc.option(shownCode),
      components: fc.array(shownCode, { maxLength: 3 }),
      note: fc.constantFrom(null, 'x', '{"code":"a","system":"urn:s","display":null}'),
    },
    { noNullPrototype: true },
  )
  .map(({ own, ...rest }) => ({ ...own, ...rest }));

describe('displays that a printed record lacks', () => {
  it('are the same as those of the record itself, wherever its text has no escapes', () => {
    fc.assert(
      fc.property(record, (members) => {
        const text = JSON.stringify(members);
        fc.pre(!text.includes('\\'));
        expect(JSON.parse(withDisplaysIn(text, displays))).to.deep.equal(withDisplays(members, displays));
      }),
      { numRuns: 1_000 },
    );
  });

  it('are asked for by system and code, and leave all else as it was written', () => {
    const text =
      '"code":"b","system":"urn:s","display":null,"value":1.50,"value_code":{"code":null,"system":null,"display":null}';
    expect(bareCodesIn(text)).to.deep.equal([{ system: SYSTEM, code: 'b' }]);
    expect(withDisplaysIn(text, displays)).to.equal(text.replace('"display":null', '"display":"Banana"'));
    expect(withDisplaysIn(text.replace('"b"', '"a"'), displays)).to.contain(
      '"display":"Apple \\"red\\" $& \\\\ pie"',
    );
    expect(withDisplaysIn(text, new Map())).to.equal(text);
  });
});
