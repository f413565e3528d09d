/** The resources used in tests are valid in all their variations. The samples and the validation check each other. */
import { expect } from 'chai';
import fc from 'fast-check';
import { validateResource } from '#src/fhir/validate.ts';
import { parseJson, printJson } from '#src/shared/json/json.ts';
import { resourceOf, sample, WRITABLE_TYPES } from '../support/samples.ts';

const REFS = {
  patient: 'Patient/p',
  practitioner: 'Practitioner/q',
  organization: 'Organization/o',
  location: 'Location/l',
  encounter: 'Encounter/e',
};

describe('samples', () => {
  it('cover the 22 types that clients write', () => expect(WRITABLE_TYPES).to.have.length(22));

  for (const type of WRITABLE_TYPES) {
    it(`${type}: valid, with 1.50 in it, and as varied as they come`, () => {
      expect(printJson(sample(type, REFS))).to.contain('1.50');
      expect(validateResource(sample(type, REFS), type)).to.deep.equal([]);
      fc.assert(
        fc.property(resourceOf(type, REFS), (resource) => {
          expect(validateResource(resource, type)).to.deep.equal([]);
          const text = printJson(resource);
          expect(printJson(parseJson(text).value)).to.equal(text);
        }),
        { numRuns: 50 },
      );
    });
  }
});
