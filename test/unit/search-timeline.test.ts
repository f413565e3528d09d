import { expect } from 'chai';
import { extract } from '#src/fhir/search/extract.ts';
import { compiledParameter } from '#src/fhir/search/paths.ts';
import { findTimeline, isSingle } from '#src/fhir/search/timeline.ts';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { atOnce } from '#src/shared/load/slices.ts';

describe('timelines of a type', () => {
  it('name a token parameter and a date that is kept under its own name, with the places of the codes', () => {
    const types = TYPE_NAMES.filter((type) => findTimeline(type) !== undefined);
    expect(types).to.include.members(['Observation', 'Condition', 'Immunization']);
    for (const type of types) {
      const { code = '', date = '' } = findTimeline(type) ?? {};
      const dates = compiledParameter(type, date);
      expect(compiledParameter(type, code)?.type, type).to.equal('token');
      expect(dates?.type, type).to.equal('date');
      expect(dates?.stored, type).to.deep.equal([date]);
      expect(
        dates?.paths.every(({ about }) => about !== undefined),
        type,
      ).to.equal(true);
    }
  });

  it('keep a date once for each code, and without a code by itself', () => {
    const dates = (coding: object[]) =>
      atOnce(extract('Observation', { code: { coding }, effectiveDateTime: '2020' }))
        .periods.filter(({ code }) => code === 'date')
        .map(({ about }) => about?.code);
    expect(dates([{ code: 'a' }, { system: 'urn:s', code: 'b' }])).to.deep.equal(['a', 'b']);
    expect(dates([])).to.deep.equal([undefined]);
  });

  it('know which parameters have one value at most', () => {
    const single = (type: 'Observation' | 'Patient' | 'Condition', code: string) => {
      const parameter = compiledParameter(type, code);
      return parameter !== undefined && isSingle(type, parameter);
    };
    expect(single('Observation', 'date')).to.equal(true);
    expect(single('Patient', 'birthdate')).to.equal(true);
    expect(single('Patient', 'given')).to.equal(false);
    expect(single('Patient', 'name')).to.equal(false);
    expect(single('Observation', 'combo-value-quantity')).to.equal(false);
  });
});
