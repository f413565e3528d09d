import { expect } from 'chai';
import { Attempts } from '#src/reactions/webhooks/attempt.ts';

/** Ping and redeliver wait for the attempt at their delivery, but no longer than the given limit. */
describe('waiting for a webhook attempt', () => {
  const made = { id: 'whd_1', attempts: 0 };
  const tried = { id: 'whd_1', attempts: 1 };

  it('ends when the attempt ends in this process', async () => {
    const attempts = new Attempts();
    const waiting = attempts.first(made, async () => tried, 60_000);
    attempts.ended(['whd_0', 'whd_1']);
    expect(await waiting).to.equal(tried);
  });

  it('finds an attempt that another instance makes', async () => {
    let asked = 0;
    const find = async () => {
      asked += 1;
      return asked < 2 ? made : tried;
    };
    expect(await new Attempts().first(made, find)).to.equal(tried);
  });

  it('ends after its time with the delivery as it is', async () => {
    expect(await new Attempts().first(made, async () => made, 20)).to.equal(made);
  });

  it('ends when the delivery is removed', async () => {
    const attempts = new Attempts();
    const waiting = attempts.first(made, async () => undefined, 60_000);
    attempts.ended(['whd_1']);
    expect(await waiting).to.equal(made);
  });

  it('does not wait for an attempt that has ended already', async () => {
    const find = () => Promise.reject(new Error('asked'));
    expect(await new Attempts().first(tried, find)).to.equal(tried);
  });
});
