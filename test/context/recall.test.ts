/** Measures how much of what clinicians need (`needed.txt`) is in the contexts. */
import { expect } from 'chai';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { tells } from './fact.ts';
import { readNeeded } from './needed.ts';
import { contextOf, sandboxRecords } from './records.ts';

const NEEDED = readNeeded();
const BUDGET = 800;

describe('recall of contexts', () => {
  it('is judged by thirty records and four tasks', () => {
    expect(NEEDED).to.have.length(120);
    expect(new Set(NEEDED.map(({ story }) => story))).to.have.property('size', 30);
  });

  const seeds = Array.from({ length: scaled(5, 1) }, (_, n) => (n === 0 ? 'annal' : String(steadySeed())));
  for (const seed of seeds) {
    it(`is at least 0.9 at 800 tokens (seed ${seed})`, async () => {
      const records = sandboxRecords(seed);
      const missed: string[] = [];
      let facts = 0;
      for (const { story, task, facts: names } of NEEDED) {
        const record = records.get(story);
        if (record === undefined) throw new Error(`no record "${story}"`);
        const { text, tokens } = await contextOf(record, { task, budget_tokens: BUDGET });
        expect(tokens, `${story}, ${task}`).to.be.at.most(BUDGET);
        facts += names.length;
        missed.push(
          ...names.filter((name) => !tells(text, name, record)).map((name) => `${story} / ${task}: ${name}`),
        );
      }
      const recall = 1 - missed.length / facts;
      expect(recall, `${facts - missed.length} of ${facts}; missed ${missed.join('\n')}`).to.be.at.least(0.9);
    });
  }
});
