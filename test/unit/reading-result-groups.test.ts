/** The groups of results contain valid LOINC codes, each code is in only one group, and each group has a source. */
import { expect } from 'chai';
import { findResultGroup, RESULT_GROUPS } from '#src/clinical/reading/result-groups.ts';
import { isLoincCode } from '#src/fhir/loinc-code.ts';

describe('groups of results', () => {
  it('have valid codes of LOINC, each once, and a source', () => {
    const codes = Object.values(RESULT_GROUPS).flatMap((group) => group.codes.split(' '));
    expect(codes.filter((code) => !isLoincCode(code))).to.deep.equal([]);
    expect(codes).to.have.length(new Set(codes).size);
    for (const { source } of Object.values(RESULT_GROUPS)) expect(source).to.have.length.above(20);
  });

  it('hold what people look for in them', () => {
    for (const [code, group] of [
      ['85354-9', 'vitalSigns'],
      ['4548-4', 'diabetes'],
      ['2160-0', 'kidney'],
      ['33914-3', 'kidney'],
      ['2823-3', 'electrolytes'],
      ['718-7', 'bloodCount'],
      ['13457-7', 'lipids'],
      ['1742-6', 'liver'],
      ['3016-3', 'thyroid'],
      ['1988-5', 'inflammation'],
      ['6301-6', 'coagulation'],
      ['33762-6', 'heart'],
      ['2276-4', 'ironVitamins'],
    ] as const)
      expect(findResultGroup(code)?.group, code).to.equal(group);
    expect(findResultGroup('99999-9')).to.equal(undefined);
  });
});
