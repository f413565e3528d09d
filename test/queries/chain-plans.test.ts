import { expect } from 'chai';
import type { Pool } from 'pg';
import { PROJECTIONS } from '#projections/all.ts';
import { resources } from '#projections/resources/project.ts';
import { search as searchModel } from '#projections/search/project.ts';
import { prepareReadModels } from '#projections/tables.ts';
import { openSearch } from '#queries/search/search.ts';
import { recordStream } from '#src/events/streams.ts';
import { ownCaller } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { totalRowsRead } from '#test/support/rows-read.ts';
import { created, stored, TENANT } from '../projections/made.ts';

const caller = ownCaller(TENANT, { kind: 'api_key', keyId: 'key_1' }, ['read']);
const [PATIENTS, FOUND, OBSERVATIONS] = [400, 165, 40];

describe('chained searches in tables that nobody has analysed', () => {
  let database: TestDatabase;
  const found: string[] = [];
  before(async () => {
    database = await createDatabase();
    await prepareReadModels(database.pool, PROJECTIONS);
    const patients = Array.from({ length: PATIENTS }, (_, n) => {
      const id = newUuid();
      const name = [{ family: n < FOUND ? 'Found' : 'Other' }];
      if (n < FOUND) found.push(id);
      return { id, event: created('Patient', id, { name }) };
    });
    // The patients' Observations are written in rotation, so that matches are spread over the whole order.
    const others = Array.from({ length: PATIENTS * OBSERVATIONS }, (_, n) => {
      const id = patients[n % PATIENTS]?.id ?? '';
      return {
        id,
        event: created('Observation', newUuid(), {
          status: 'final',
          subject: { reference: `Patient/${id}` },
          code: { coding: [{ system: 'urn:codes', code: n % 8 === 0 ? 'some' : 'others' }] },
          effectiveDateTime: new Date(1.6e12 + n * 6e4).toISOString(),
        }),
      };
    });
    const all = [...patients, ...others].flatMap(({ id, event }) => stored(recordStream(id), [event]));
    const client = await database.pool.connect();
    try {
      for (const model of [resources, searchModel]) await model.load(client, model.name, all);
    } finally {
      client.release();
    }
  });
  after(() => database.drop());

  const ask = (query: string) => (pool: Pool) =>
    openSearch(pool)(caller, {
      type: 'Observation',
      query: new URLSearchParams(query),
      base: 'http://localhost/',
    });

  for (const rest of ['', '&code=some', '&_sort=-date', '&code=some&_sort=-date', '&status=final']) {
    for (const total of ['', '&_total=none']) {
      it(`cost at most twice the same search by ids: ${rest}${total}`, async () => {
        const ids = `patient=${found.join()}${rest}${total}`;
        const chain = `patient.name=found${rest}${total}`;
        const [byIds, chained] = [await ask(ids)(database.pool), await ask(chain)(database.pool)];
        expect(chained.matches.map(({ id }) => id)).to.deep.equal(byIds.matches.map(({ id }) => id));
        expect(chained.matches).to.not.have.length(0);
        expect(chained.total).to.equal(byIds.total);
        const read = await totalRowsRead(database.pool, ask(chain));
        expect(read).to.be.at.most(2 * (await totalRowsRead(database.pool, ask(ids))));
      });
    }
  }

  it('end early without a total', async () => {
    const read = await totalRowsRead(database.pool, ask('patient.name=found&_total=none&_count=20'));
    // Reads the patients, enough of their rows to see that there are many, and the page.
    expect(read).to.be.at.most(FOUND * 2 + 1_500);
    const whole = await totalRowsRead(database.pool, ask('patient.name=found&_count=20'));
    expect(whole).to.be.at.least(FOUND * OBSERVATIONS);
  });
});

describe('searches by chains to more than 1,000 resources', () => {
  const [MANY, SHOWN] = [1_200, 20];
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
    await prepareReadModels(database.pool, PROJECTIONS);
    const all = Array.from({ length: MANY }, () => {
      const [patient, encounter] = [newUuid(), newUuid()];
      const subject = { reference: `Patient/${patient}` };
      return stored(recordStream(patient), [
        created('Patient', patient, { gender: 'female' }),
        created('Encounter', encounter, { status: 'finished', class: { code: 'AMB' }, subject }),
        created('Observation', newUuid(), {
          ...{ status: 'final', subject, code: { coding: [{ system: 'urn:codes', code: 'some' }] } },
          encounter: { reference: `Encounter/${encounter}` },
        }),
      ]);
    }).flat();
    const client = await database.pool.connect();
    try {
      for (const model of [resources, searchModel]) await model.load(client, model.name, all);
    } finally {
      client.release();
    }
  });
  after(() => database.drop());

  /** A node of EXPLAIN (FORMAT JSON). */
  interface PlanNode {
    readonly 'Index Name'?: string;
    readonly 'Index Cond'?: string;
    readonly Plans?: readonly PlanNode[];
  }

  const conditionsOf = (node: PlanNode): string[] => [
    ...(node['Index Name'] === 'entry_keys' ? [node['Index Cond'] ?? ''] : []),
    ...(node.Plans ?? []).flatMap(conditionsOf),
  ];

  // For one condition, the index compares each entry that it finds with every key: 6,000 keys and 100,000
  // entries took more than 10 s.
  for (const query of ['encounter.status=finished', 'patient.gender=female&code=some'])
    it(`look up each key by itself: ${query}`, async () => {
      const conditions: string[] = [];
      const sent = async (asked: { text: string; values: unknown[] }) => {
        const { rows } = await database.pool.query(`explain (format json) ${asked.text}`, asked.values);
        conditions.push(...conditionsOf(rows[0]['QUERY PLAN'][0].Plan));
        return database.pool.query(asked.text, asked.values);
      };
      for (const total of ['', '&_total=none']) {
        const limits = { few: SHOWN, far: SHOWN };
        const found = await openSearch(
          { query: sent } as unknown as Pool,
          undefined,
          limits,
        )(caller, {
          type: 'Observation',
          query: new URLSearchParams(`${query}${total}&_count=${SHOWN}`),
          base: 'http://localhost/',
        });
        expect(found.matches).to.have.length(SHOWN);
        if (total === '') expect(found.total).to.equal(MANY);
      }
      expect(conditions).not.to.be.empty;
      for (const condition of conditions) expect(condition).not.to.match(/&& \(InitPlan|&& \$/);
    });
});
