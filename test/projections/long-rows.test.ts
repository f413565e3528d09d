/** One resource of the maximum length: its search entries are created in many short steps instead of one. */
import { expect } from 'chai';
import { search } from '#projections/search/project.ts';
import { recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { stepped } from '#test/support/held.ts';
import { created, stored } from './made.ts';

const MANY = 30_000;

describe('the rows of a long resource', () => {
  const long = {
    Patient: { name: Array.from({ length: MANY }, (_, n) => ({ family: `F${n}` })) },
    Observation: {
      component: Array.from({ length: MANY }, (_, n) => ({
        code: { coding: [{ system: 'http://loinc.org', code: `${n}-7` }] },
        valueQuantity: { value: n, unit: 'mg' },
      })),
    },
  };
  for (const [type, resource] of Object.entries(long)) {
    it(`of type ${type} are made in steps, none of which takes a fifth of the whole`, () => {
      const id = newUuid();
      const events = stored(recordStream(newUuid()), [created(type, id, resource)]);
      const { longest } = stepped(() => search.inSteps?.('search', events) ?? expect.fail());
      expect(longest).to.be.below(1 / 5);
    });
  }
});
