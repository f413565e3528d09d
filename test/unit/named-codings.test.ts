/** Codes in copies of a record get names; nothing else changes. */
import { expect } from 'chai';
import { codesIn, withNamedCodings } from '#src/clinical/summary/named-codings.ts';

const LOINC = 'http://loinc.org';
const NAMES = new Map([
  [`${LOINC}|8480-6`, 'Systolic "upper" pressure'],
  ['http://unitsofmeasure.org|mg', 'milligram'],
]);
const bare = (system: string, code: string): string => `{"system":"${system}","code":"${code}"}`;

describe('codes in copies of a record', () => {
  it('get the names that the terminology has, where they have none', () => {
    const text = `{"code":{"coding":[${bare(LOINC, '8480-6')},${bare('urn:own', 'x')}]},"valueDecimal":1.50}`;
    expect(codesIn(text)).to.deep.equal([
      { system: LOINC, code: '8480-6' },
      { system: 'urn:own', code: 'x' },
    ]);
    const named = withNamedCodings(text, NAMES);
    expect(named).to.contain('"valueDecimal":1.50').and.contain(bare('urn:own', 'x'));
    expect(JSON.parse(named)).to.deep.nested.include({
      'code.coding[0].display': 'Systolic "upper" pressure',
    });
  });

  it('keep the names that they have, and quantities stay as they are', () => {
    for (const text of [
      `{"system":"${LOINC}","code":"8480-6","display":"own"}`,
      `{"value":1,"system":"${LOINC}","code":"8480-6"}`,
      bare('http://unitsofmeasure.org', 'mg'),
    ]) {
      expect(codesIn(text)).to.deep.equal([]);
      expect(withNamedCodings(text, NAMES)).to.equal(text);
    }
  });
});
