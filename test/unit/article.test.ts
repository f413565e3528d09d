import { expect } from 'chai';
import { withArticle } from '#src/shared/article.ts';

describe('withArticle', () => {
  for (const text of [
    'a Patient',
    'an Observation',
    'an Encounter',
    'a uri',
    'an unsignedInt',
    'a HumanName',
  ]) {
    it(`says ${text}`, () => {
      expect(withArticle(text.split(' ')[1] ?? '')).to.equal(text);
    });
  }
});
