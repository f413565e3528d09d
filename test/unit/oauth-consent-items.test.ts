/** Items on the consent page, and the scopes that remain when some are left out. */
import { expect } from 'chai';
import fc from 'fast-check';
import { TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { CONSENT_GROUPS, consentItems, keepItems } from '#src/oauth/consent-items.ts';
import { covers, knownScopes, lettersFor, normalise } from '#src/oauth/scopes.ts';
import { randomSeed } from '#test/support/scale.ts';

const of = (text: string) => knownScopes(text.split(' '));
const ids = (text: string) => consentItems(of(text)).map(({ id }) => id);
const kept = (text: string, ...items: string[]) => normalise(keepItems(of(text), new Set(items))).join(' ');

describe('items of the consent page', () => {
  it('show a wildcard as about ten groups, reading and writing apart', () => {
    const reading = ids('patient/*.rs');
    expect(reading.length).to.be.within(8, 12);
    expect(reading.every((id) => id.startsWith('read:'))).to.equal(true);
    expect(ids('patient/*.cruds')).to.have.length(2 * reading.length + 1);
    expect(ids('openid fhirUser offline_access launch/patient')).to.deep.equal([]);
    expect(ids('system/*.rs')).to.deep.equal([]);
  });

  it('have every type of a record in one group, and none of the directory or of terminology', () => {
    const grouped = Object.values<readonly string[]>(CONSENT_GROUPS).flat();
    const wanted = TYPE_NAMES.filter((type) => ['record', 'either'].includes(typeEntry(type).home));
    expect([...grouped].sort()).to.deep.equal([...wanted].sort());
  });

  it('name the types that were asked for', () => {
    expect(consentItems(of('patient/Observation.rs patient/Condition.c'))).to.deep.equal([
      { id: 'read:results', access: 'read', group: 'results', types: ['Observation'] },
      { id: 'write:conditions', access: 'write', group: 'conditions', types: ['Condition'] },
    ]);
  });

  it('leave out what is always read, and writing that never works', () => {
    expect(ids('patient/Patient.rs patient/Organization.cruds patient/ValueSet.rs')).to.deep.equal([]);
    expect(ids('patient/Patient.u')).to.deep.equal(['write:demographics']);
    expect(kept('patient/Organization.cruds')).to.equal('patient/Organization.rs');
    expect(kept('patient/ValueSet.cud')).to.equal('');
  });

  it('show a category by itself, unless its type is asked for as a whole', () => {
    const laboratory = 'patient/Observation.rs?category=laboratory';
    expect(ids(`${laboratory} patient/Observation.rs?category=vital-signs`)).to.deep.equal([
      'read:results:laboratory',
      'read:results:vital-signs',
    ]);
    expect(ids(`${laboratory} patient/*.rs`)).to.deep.equal(ids('patient/*.rs'));
    expect(kept(`${laboratory} patient/Observation.rs`)).to.equal('');
    const some = `${laboratory} patient/Observation.cr`;
    expect(ids(some)).to.deep.equal(['read:results', 'read:results:laboratory', 'write:results']);
    expect(kept(some, 'read:results:laboratory')).to.equal(laboratory);
  });

  it('replace a wildcard by the types that stay', () => {
    const all = ids('patient/*.cruds');
    expect(kept('patient/*.cruds', ...all)).to.equal('patient/*.cruds');
    expect(kept('patient/*.cruds', ...all.filter((id) => id.startsWith('read:')))).to.equal('patient/*.rs');
    const scopes = of('patient/*.rs openid');
    const left = keepItems(scopes, new Set(ids('patient/*.rs').filter((id) => id !== 'read:results')));
    expect(left).to.include('openid');
    expect(normalise(left)).to.include('patient/Condition.rs').and.not.include('patient/*.rs');
    for (const type of TYPE_NAMES) {
      const gone = ['Observation', 'DiagnosticReport', 'Specimen'].includes(type);
      expect(lettersFor(left, type), type).to.deep.equal(gone ? [] : [{ letters: 'rs' }]);
    }
  });

  it('never widen the scopes, and give exactly the items that were kept', () => {
    const type = fc.constantFrom('*', 'Observation', 'Specimen', 'Condition', 'Patient', 'Organization');
    const letters = fc.subarray([...'cruds'], { minLength: 1 });
    const clinical = fc.tuple(type, letters).map(([name, some]) => `patient/${name}.${some.join('')}`);
    const filtered = letters.map((some) => `patient/Observation.${some.join('')}?category=laboratory`);
    const scope = fc.oneof(clinical, filtered, fc.constantFrom('openid', 'launch/patient'));
    const choice = fc.array(scope, { maxLength: 5 }).chain((names) => {
      const text = names.join(' ');
      return fc.tuple(fc.constant(text), fc.subarray(ids(text)));
    });
    fc.assert(
      fc.property(choice, ([text, chosen]) => {
        const asked = of(text);
        const left = keepItems(asked, new Set(chosen));
        expect(covers(asked, left)).to.equal(true);
        expect(keepItems(left, new Set(chosen))).to.deep.equal(left);
        const isWhole = (id: string) => id.split(':').length === 2;
        expect(
          consentItems(left)
            .map(({ id }) => id)
            .filter(isWhole),
        ).to.deep.equal(chosen.filter(isWhole));
      }),
      { seed: randomSeed(), numRuns: 500 },
    );
  });
});
