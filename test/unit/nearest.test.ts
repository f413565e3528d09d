import { expect } from 'chai';
import { didYouMean, nearest } from '#src/shared/nearest.ts';

describe('nearest', () => {
  const fields = ['given', 'family', 'birth_date', 'gender', 'identifiers'];

  for (const [word, meant] of [
    ['Family', 'family'],
    ['birthDate', 'birth_date'],
    ['birth-date', 'birth_date'],
    ['gvien', 'given'],
    ['genders', 'gender'],
    ['identifier', 'identifiers'],
    ['famly', 'family'],
    ['ident', 'identifiers'],
  ] as const) {
    it(`finds ${meant} for ${word}`, () => expect(nearest(word, fields)).to.equal(meant));
  }

  for (const word of ['', '_', 'a', 'shoe_size', 'gi', 'x'.repeat(64)]) {
    it(`finds nothing for "${word}"`, () => expect(nearest(word, fields)).to.equal(undefined));
  }

  it('prefers the same letters in another case to any other candidate', () => {
    expect(nearest('patient', ['patients', 'Patient'])).to.equal('Patient');
  });

  it('counts a swap of two neighbours as one difference', () => {
    expect(nearest('hsitory', ['heatory', 'history'])).to.equal('history');
    expect(nearest('acb', ['abc'])).to.equal('abc');
  });

  it('takes the nearest, and of equally near ones the first', () => {
    expect(nearest('verfy', ['very', 'verify', 'vary'])).to.equal('very');
    expect(nearest('condition', ['conditiom', 'conditio'])).to.equal('conditiom');
    expect(nearest('DATABSE_URL', ['DATABASE_URLS', 'DATABASE_URL'])).to.equal('DATABASE_URL');
  });

  it('compares no word of more than 64 characters', () => {
    expect(nearest('x'.repeat(65), ['X'.repeat(65)])).to.equal(undefined);
    expect(nearest('a'.repeat(10_000_000), fields)).to.equal(undefined);
  });

  it('ends a message with the suggestion, or with nothing', () => {
    expect(didYouMean('givn', fields)).to.equal('; did you mean `given`?');
    expect(didYouMean('shoe_size', fields)).to.equal('');
  });
});
