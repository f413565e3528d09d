/** Words in a request that give facts a higher rank. */
import { expect } from 'chai';
import { readFocus } from '#src/context/guidance/focus.ts';
import { answersNeed, raiseForRequest } from '#src/context/guidance/scores.ts';

describe('the words of a request for a context', () => {
  const id = '01a21a6d-2d7e-710b-9499-de019afafeae';
  const scoreFor = (question: string): number =>
    raiseForRequest(500, readFocus({ question, needs: [], budget_tokens: 1_000, format: 'text' }), {
      kind: 'problems',
      text: `Sprain, seen with ${id}`,
      codes: [],
      ageDays: 1,
    });

  it('raise facts that have them', () => {
    expect(scoreFor('sprain')).to.be.greaterThan(scoreFor('fracture'));
  });

  it('don’t tell parts of ids, which an application may not know', () => {
    for (let from = 0; from + 6 <= id.length; from += 1)
      expect(scoreFor(id.slice(from, from + 6)), id.slice(from, from + 6)).to.equal(scoreFor('fracture'));
  });

  it('don’t tell them by codes that begin like one either', () => {
    const system = 'http://hl7.org/fhir/sid/icd-10';
    const isFound = (wanted: string, code: string): boolean => {
      const fact = { kind: 'problems', codes: [{ system, code }], ageDays: 1 } as const;
      return answersNeed({ text: wanted, kinds: ['problems'], code: wanted, system }, fact);
    };
    expect([isFound('E11', 'E11.9'), isFound(id, id), isFound(id.slice(0, 9), id)]).to.deep.equal([
      true,
      true,
      false,
    ]);
  });
});
