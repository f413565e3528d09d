/**
 * Access under a grant's scopes: src/oauth/tokens/access.ts, src/shared/access/access.ts (docs/spec/decisions.md, section 9).
 */
import { expect } from 'chai';
import { categoryKeys, readCategories } from '#src/fhir/search/categories.ts';
import { parseAccess } from '#src/oauth/tokens/access.ts';
import { allows, categoriesFor, hasLetters, typesWith } from '#src/shared/access/access.ts';

const SYSTEM = 'http://terminology.hl7.org/CodeSystem/observation-category';
const lab = [{ system: SYSTEM, code: 'laboratory' }];
const vital = [{ system: SYSTEM, code: 'vital-signs' }];

describe('access of a grant', () => {
  it('adds up the letters of several scopes for a type', () => {
    const access = parseAccess(['patient/Observation.r', 'patient/Observation.s?category=laboratory']);
    expect(hasLetters(access, 'Observation', 'rs')).to.equal(true);
    expect(hasLetters(access, 'Observation', 'c')).to.equal(false);
    expect(categoriesFor(access, 'Observation', 'r')).to.equal('all');
    expect(categoriesFor(access, 'Observation', 's')).to.deep.equal([{ code: 'laboratory' }]);
    expect(allows(access, 'Observation', 'r', [])).to.equal(true);
    expect(allows(access, 'Observation', 'rs', [])).to.equal(false);
    expect(allows(access, 'Observation', 'rs', lab)).to.equal(true);
    expect(allows(access, 'Observation', 's', vital)).to.equal(false);
  });

  it('compares categories as searches compare tokens', () => {
    const access = parseAccess([`patient/Observation.rs?category=${SYSTEM}|LABORATORY`]);
    expect(allows(access, 'Observation', 'rs', lab)).to.equal(true);
    expect(allows(access, 'Observation', 'rs', [{ code: 'laboratory' }])).to.equal(false);
    expect(allows(access, 'Observation', 'rs', [...vital, ...lab])).to.equal(true);
    expect(allows(access, 'Observation', 'rs', [])).to.equal(false);
  });

  it('always lets Patient and the directory be read, never created or written', () => {
    const none = parseAccess(['patient/Observation.rs']);
    for (const type of ['Patient', 'Practitioner', 'Organization', 'Medication', 'CodeSystem'])
      expect(hasLetters(none, type, 'rs'), type).to.equal(true);
    expect(typesWith(none, 'rs')).to.not.include('Condition');
    expect(typesWith(none, 'rs')).to.not.include('Device');
    const all = parseAccess(['patient/*.cruds']);
    expect(hasLetters(all, 'Device', 'cruds')).to.equal(true);
    expect(hasLetters(all, 'Patient', 'ruds')).to.equal(true);
    expect(typesWith(all, 'c')).to.not.include.members(['Patient']);
    for (const letter of 'cud')
      for (const type of ['Practitioner', 'PractitionerRole', 'Organization', 'Location', 'CodeSystem'])
        expect(hasLetters(all, type, letter), `${type} ${letter}`).to.equal(false);
  });

  it('ignores scopes of whole projects and without a type', () => {
    const access = parseAccess(['openid', 'system/*.rs', 'launch/patient']);
    expect(typesWith(access, 'r')).to.not.include.members(['Observation']);
  });

  it('hashes each coding with and without its system, apart by type', () => {
    const coded = { category: [{ coding: lab }, { coding: [{ code: 'Laboratory' }] }, { text: 'lab' }] };
    const keys = categoryKeys('Observation', readCategories('Observation', coded));
    expect(keys).to.have.length(2);
    expect(keys).to.not.have.members(categoryKeys('Condition', lab));
    expect(readCategories('Patient', coded)).to.deep.equal([]);
    const allergy = readCategories('AllergyIntolerance', { category: ['food'] });
    expect(allergy).to.deep.equal([
      { system: 'http://hl7.org/fhir/allergy-intolerance-category', code: 'food' },
    ]);
  });
});
