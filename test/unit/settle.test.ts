/** A write whose read models lag isn't answered until every instance can know that they do. */
import { expect } from 'chai';
import type { Position } from '#src/events/store.ts';
import { openSettle } from '#src/freshness/settle.ts';

const at = (position: number): Position => String(position).padStart(16, '0') as Position;
const MODELS = ['resources', 'history'];

describe('the answer to a write', () => {
  /**
   * Creates a `settle` whose waits take no time.
   * @param shown the wait at which the read models show the position
   */
  function settling(
    shown: number,
    note: () => Promise<void> = async () => undefined,
    missing: readonly string[] = [],
  ) {
    const did: string[] = [];
    let waits = 0;
    const settle = openSettle({
      waitFor: async (_position, _models, ms) => {
        waits += 1;
        did.push(`wait ${ms}`);
        return waits >= shown;
      },
      missing: () => missing,
      lookForMissing: async (models) => models.filter((name) => missing.includes(name)),
      note: async (position, models) => {
        did.push(`note ${Number(position)} ${models.join()}`);
        await note();
      },
    });
    return { settle, did };
  }

  it('is given at once when the read models show it: nothing is noted', async () => {
    const { settle, did } = settling(1);
    expect(await settle(at(3), MODELS)).to.equal(true);
    expect(did).to.deep.equal(['wait 5000']);
  });

  it('is noted first when they do not, and given as soon as they do', async () => {
    const { settle, did } = settling(2);
    expect(await settle(at(3), MODELS)).to.equal(true);
    expect(did).to.deep.equal(['wait 5000', 'note 3 resources,history', 'wait 5000']);
  });

  it('does not wait for a read model without tables, once that is noted', async () => {
    const { settle, did } = settling(1, undefined, ['history', 'timeline']);
    expect(await settle(at(3), MODELS)).to.equal(false);
    expect(did).to.have.members(['note 3 history', 'wait 5000']);
  });

  it('is 503 when it cannot be noted', async () => {
    const { settle } = settling(9, () => Promise.reject(new Error('away')));
    const refusal = await settle(at(3), MODELS).catch((error: unknown) => error);
    expect(refusal).to.include({ kind: 'unavailable' });
  });
});
