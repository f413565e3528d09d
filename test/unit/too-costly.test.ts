/** Responses to queries that the database cancelled because they took too long. */
import { expect } from 'chai';
import { refuseCostly } from '#queries/database/gather.ts';
import { toRefusal } from '#src/app/refusal-of.ts';
import type { Refusal } from '#src/shared/refusal.ts';

describe('a question that the database stopped', () => {
  const canceled = Object.assign(new Error('canceling statement due to statement timeout'), {
    code: '57014',
  });
  const answer = async (question: string, error: Error = canceled): Promise<Refusal> => {
    const thrown: unknown = await refuseCostly(question, () => Promise.reject(error)).catch(
      (cause: unknown) => cause,
    );
    const refusal = toRefusal(thrown);
    if (refusal === undefined) throw new Error(String(thrown));
    return refusal;
  };

  it('is too large and names the costly part, if it may lead to many rows', async () => {
    for (const [question, part] of [
      ['search', 'the search'],
      ['listGrants', 'the list of grants'],
      ['accessLogOf', 'the access log'],
      ['listProposals', 'the list of proposals'],
      ['organizations', 'the list of organizations'],
    ] as const) {
      const { status, message } = await answer(question);
      expect([status, message.includes(part)], message).to.deep.equal([413, true]);
    }
  });

  it('is unavailable, if it leads to one row, or failed for another reason', async () => {
    for (const question of [
      'apiKey',
      'read',
      'vread',
      'grant',
      'activeGrant',
      'linkTo',
      'project',
      'endpoint',
    ])
      expect((await answer(question)).status, question).to.equal(503);
    const away = Object.assign(new Error('terminating connection'), { code: '57P01' });
    expect((await answer('listGrants', away)).status).to.equal(503);
  });
});
