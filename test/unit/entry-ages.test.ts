/** Ages on an entry's page: with their unit in words, and what they mean. */
import { expect } from 'chai';
import { texts } from '#src/http/pages/texts.ts';
import { valueWords } from '#src/http/patient/entry/element-values.ts';
import { wordsOfValue } from '#src/http/patient/entry/resource-words.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

const years = (value: number): JsonObject => ({ value, system: 'http://unitsofmeasure.org', code: 'a' });
const LANGS = ['en', 'de', 'fr', 'es', 'nb', 'ar'] as const;

const say = (name: string, value: JsonObject, lang: (typeof LANGS)[number] = 'en'): string =>
  wordsOfValue(value, name, valueWords(texts(lang), 'Procedure')).text.replace(/<\/?bdi>/g, '');

describe('an age on an entry’s page', () => {
  it('is in words, in six languages', () => {
    expect(LANGS.map((lang) => say('performedAge', years(40), lang))).to.deep.equal([
      'age at the time: 40 years',
      'Alter dabei: 40 Jahre',
      'âge à ce moment : 40 ans',
      'edad en ese momento: 40 años',
      'alder da: 40 år',
      'العمر وقتها: 40 سنة',
    ]);
  });

  it('says what it means', () => {
    expect(say('onsetAge', years(7))).to.equal('age at onset: 7 years');
    expect(say('abatementAge', { ...years(6), code: 'mo' })).to.equal('age at end: 6 months');
    expect(say('onsetRange', { low: years(40), high: years(50) })).to.equal('age at onset: 40–50 years');
    expect(say('performedRange', { low: years(40) })).to.equal('age at the time: at least 40 years');
    // The age to which a reference range applies.
    expect(say('age', { low: years(18), high: years(65) })).to.equal('18–65 years');
  });

  it('is nothing that another element says', () => {
    expect(say('valueRange', { low: years(1), high: years(2) })).to.equal('1 – 2 a');
    expect(say('valueQuantity', years(40))).to.equal('40 a');
    expect(say('performedAge', { unit: 'years' })).to.contain('years');
  });
});
