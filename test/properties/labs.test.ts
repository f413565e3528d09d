/** Messages damaged in transit, and any other input: the response is always clear, and no invalid resource is ever created. */
import { expect } from 'chai';
import { validateResource } from '#src/fhir/validate.ts';
import { decideLabs } from '#src/labs/decide.ts';
import { Notes } from '#src/labs/labs.ts';
import { atOnce } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { damaged, randomFrom } from '#test/support/labs/damage.ts';
import { FORMS, labsOf } from '#test/support/labs/forms.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';

const MESSAGES = scaled(100_000, 2_000);

describe('damaged messages of laboratories', function () {
  this.timeout(Math.max(60_000, MESSAGES * 20));

  it(`${MESSAGES} are each refused with a reason, or become valid resources`, () => {
    const seed = steadySeed();
    const random = randomFrom(seed);
    const outcomes = { read: 0, refused: 0 };
    for (let at = 0; at < MESSAGES; at += 1) {
      const { text } = FORMS[at % FORMS.length] ?? { text: '' };
      const bytes = damaged(Buffer.from(text), random);
      const told = `seed ${seed}, message ${at}: ${JSON.stringify(bytes.toString('latin1'))}`;
      try {
        const { drafts } = labsOf(at % 2 === 0 ? bytes : bytes.toString('utf8'));
        const names = new Set(drafts.map(({ type, key }) => `${type} ${key}`));
        expect(names.size, told).to.equal(drafts.length);
        for (const { entries, draft } of atOnce(decideLabs(drafts, new Map(), new Notes())))
          for (const { resource = {}, type } of entries)
            expect(validateResource(resource, type), `${draft.place}, ${told}`).to.deep.equal([]);
        outcomes.read += 1;
      } catch (error) {
        if (!(error instanceof Refusal)) throw new Error(told, { cause: error });
        expect(error.kind, told).to.equal('invalid');
        expect(error.issues[0]?.diagnostics, told).to.match(/\w/);
        outcomes.refused += 1;
      }
    }
    // Both outcomes occurred.
    expect(outcomes.read).to.be.greaterThan(MESSAGES / 10);
    expect(outcomes.refused).to.be.greaterThan(MESSAGES / 20);
  });
});
