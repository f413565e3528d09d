/** Pages of v1 lists: what the first one reads of the index, one far behind reads too, and no more. */
import { expect } from 'chai';
import { history } from '#projections/history/project.ts';
import { resources } from '#projections/resources/project.ts';
import { openSession } from '#projections/session.ts';
import { schemaSql } from '#projections/tables.ts';
import { timeline } from '#projections/timeline/project.ts';
import { openItems } from '#queries/rest/items.ts';
import type { ListOf } from '#queries/rest/places.ts';
import { recordStream } from '#src/events/streams.ts';
import { ownCaller } from '#src/shared/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { listOf } from '#src/v1/lists.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { created, stored, TENANT } from '../projections/made.ts';

const OBSERVATIONS = 4_000;
const DAY = 86_400_000;

/** Node of EXPLAIN (FORMAT JSON). */
interface PlanNode {
  readonly 'Index Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** Pages of the index of places that a plan read. */
function pagesRead(node: PlanNode): number {
  if (node['Index Name'] === 'place_pkey') return node['Shared Hit Blocks'] + node['Shared Read Blocks'];
  return (node.Plans ?? []).reduce((sum, each) => sum + pagesRead(each), 0);
}

describe('pages of a long list of REST v1', () => {
  let database: TestDatabase;
  const patient = newUuid();
  const of: ListOf = { patient, types: ['Observation'], letters: 's', lists: [listOf('Observation')] };
  const caller = ownCaller(TENANT, { kind: 'api_key', keyId: 'key_1' }, ['read']);
  before(async () => {
    database = await createDatabase();
    const events = stored(recordStream(patient), [
      created('Patient', patient, {}),
      ...Array.from({ length: OBSERVATIONS }, (_, n) =>
        created('Observation', newUuid(), {
          status: 'final',
          effectiveDateTime: new Date(n * DAY).toISOString(),
        }),
      ),
    ]);
    const session = await openSession(database.url, { name: 'test' });
    try {
      for (const model of [resources, history, timeline]) {
        await session.query(schemaSql(model, model.name));
        await model.load(session, model.name, events);
      }
      await session.query('vacuum analyze');
    } finally {
      await session.end();
    }
  });
  after(() => database.drop());

  it('read as much of the index at any depth, and together all that there is', async () => {
    const read: number[] = [];
    const items = openItems({
      async query(statement) {
        const explained = await database.pool.query({
          text: `explain (analyze, buffers, format json) ${statement.text}`,
          values: statement.values,
        });
        read.push(pagesRead(explained.rows[0]['QUERY PLAN'][0].Plan));
        return database.pool.query(statement);
      },
    });
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await items(caller, of, { limit: 200, cursor });
      expect([page.seen, page.total]).to.deep.equal([true, OBSERVATIONS]);
      found.push(...page.rows.map(({ id }) => id));
      cursor = page.next;
    } while (cursor !== undefined);
    expect(new Set(found).size).to.equal(OBSERVATIONS);
    const [, second = 0, ...later] = read;
    expect(Math.max(...later)).to.be.at.most(second + 3);
  });
});
