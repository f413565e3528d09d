/** Pages in `_lastUpdated` order, while something is written before, between and after the statements for the first page. */
import { expect } from 'chai';
import { PROJECTIONS } from '#projections/all.ts';
import { history } from '#projections/history/project.ts';
import { resources } from '#projections/resources/project.ts';
import { prepareReadModels } from '#projections/tables.ts';
import type { Asks } from '#queries/database/prepared.ts';
import { openSearch } from '#queries/search/search.ts';
import type { NewEvent } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { ownCaller } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { body, created, made, stored, TENANT } from '../projections/made.ts';

const caller = ownCaller(TENANT, { kind: 'api_key', keyId: 'key_1' }, ['read']);

describe('pages by _lastUpdated', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
    await prepareReadModels(database.pool, PROJECTIONS);
  });
  after(() => database.drop());

  const load = async (patient: string, events: readonly NewEvent[]): Promise<void> => {
    const client = await database.pool.connect();
    try {
      const all = stored(recordStream(patient), [...events]);
      for (const model of [resources, history]) await model.load(client, model.name, all);
    } finally {
      client.release();
    }
  };

  for (const sort of ['_lastUpdated', '-_lastUpdated'])
    for (const at of [0, 1, 2])
      for (const written of ['the oldest', 'the newest'])
        it(`${sort}: has each match once if ${written} is written before statement ${at + 1}`, async () => {
          const patient = newUuid();
          const ids = Array.from({ length: 6 }, () => newUuid());
          const subject = { reference: `Patient/${patient}` };
          await load(
            patient,
            ids.map((id) => created('Observation', id, { subject })),
          );
          let statements = 0;
          const asks: Asks = {
            async query(statement: Parameters<Asks['query']>[0]) {
              if (statements === at) await write(written === 'the oldest' ? ids[0] : ids.at(-1));
              statements += 1;
              return database.pool.query(statement as never);
            },
          } as Asks;
          const write = async (resourceId = ''): Promise<void> => {
            const event = {
              ...{ type: 'ResourceUpdated' as const, resourceType: 'Observation', resourceId, version: 2 },
              body: body('Observation', resourceId, 2, { subject }),
            };
            await load(patient, [made(event, { recorded_at: toInstant(nowMicros()) })]);
          };
          const search = openSearch(asks);
          const found: string[] = [];
          let cursor: string | undefined;
          do {
            const query = new URLSearchParams(`patient=${patient}&_sort=${sort}&_count=2&_total=none`);
            if (cursor !== undefined) query.set('_cursor', cursor);
            const page = await search(caller, { type: 'Observation', query, base: 'http://localhost/' });
            found.push(...page.matches.map(({ id }) => id));
            cursor = page.next;
          } while (cursor !== undefined);
          expect(statements).to.be.above(at);
          expect(found.map((id) => ids.indexOf(id)).sort()).to.deep.equal([0, 1, 2, 3, 4, 5]);
        });
});
