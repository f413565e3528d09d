/** Pages of v1 lists: a page far into the list reads as much of the index as the first page, and no more. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { history } from '#projections/history/project.ts';
import { resources } from '#projections/resources/project.ts';
import { runAll } from '#projections/rows.ts';
import { openSession } from '#projections/session.ts';
import { schemaSql } from '#projections/tables.ts';
import { timeline } from '#projections/timeline/project.ts';
import { openItems } from '#queries/rest/items.ts';
import type { ListOf } from '#queries/rest/places.ts';
import { recordStream } from '#src/events/streams.ts';
import { parseAccess } from '#src/oauth/tokens/access.ts';
import { type Caller, ownCaller } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { codedValue, nameList, unsafePart } from '#src/v1/lists.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { mostRowsRead } from '#test/support/rows-read.ts';
import { steadySeed } from '#test/support/scale.ts';
import { created, stored, TENANT } from '../projections/made.ts';

const OBSERVATIONS = 4_000;
const MODELS = [resources, history, timeline];
const DAY = 86_400_000;
const SYSTEM = 'http://terminology.hl7.org/CodeSystem/observation-category';
const SYSTEM_OF_OTHERS = 'http://example.org/categories';

const NUMBER = (from: number, to: number) =>
  fc.integer({ min: from, max: to }).map((n) => String(n).padStart(2, '0'));
const DAY_ASKED = fc.tuple(NUMBER(2019, 2021), NUMBER(1, 12), NUMBER(1, 28)).map((parts) => parts.join('-'));
/** Dates and date-times in FHIR's format, in every precision, with offsets up to R4's limits. */
const WRITTEN = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(
        DAY_ASKED,
        NUMBER(0, 23),
        NUMBER(0, 59),
        fc.constantFrom('Z', '+14:00', '-12:00', '+02:00', '-05:30'),
      )
      .map(([day, hour, minute, zone]) => `${day}T${hour}:${minute}:00${zone}`),
  },
  { weight: 2, arbitrary: DAY_ASKED },
  { weight: 1, arbitrary: fc.tuple(NUMBER(2018, 2022), NUMBER(1, 12)).map((parts) => parts.join('-')) },
  { weight: 1, arbitrary: NUMBER(2018, 2022) },
);

/** A node of EXPLAIN (FORMAT JSON). */
interface PlanNode {
  readonly 'Index Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** Returns how many pages of the `place` index a plan read. */
function pagesRead(node: PlanNode): number {
  if (node['Index Name'] === 'place_pkey') return node['Shared Hit Blocks'] + node['Shared Read Blocks'];
  return (node.Plans ?? []).reduce((sum, each) => sum + pagesRead(each), 0);
}

describe('pages of a long list of REST v1', () => {
  let database: TestDatabase;
  const patient = newUuid();
  const of: ListOf = { patient, types: ['Observation'], letters: 's', lists: [nameList('Observation')] };
  const caller = ownCaller(TENANT, { kind: 'api_key', keyId: 'key_1' }, ['read']);
  before(async () => {
    database = await createDatabase();
    const events = stored(recordStream(patient), [
      created('Patient', patient, {}),
      ...Array.from({ length: OBSERVATIONS }, (_, n) =>
        created('Observation', newUuid(), {
          status: 'final',
          effectiveDateTime: new Date(n * DAY).toISOString(),
          code: { coding: [{ system: 'http://loinc.org', code: n % 8 === 0 ? '4548-4' : '718-7' }] },
          ...(n === 0 ? { modifierExtension: [{ url: 'http://example.org/not', valueBoolean: true }] } : {}),
          category: [{ coding: [{ system: SYSTEM, code: n % 4 === 0 ? 'laboratory' : 'vital-signs' }] }],
        }),
      ),
    ]);
    const session = await openSession(database.url, { name: 'test' });
    try {
      for (const model of MODELS) {
        await session.query(schemaSql(model, model.name));
        await model.load(session, model.name, events);
      }
      await session.query('vacuum analyze');
    } finally {
      await session.end();
    }
  });
  after(() => database.drop());

  /** Adds a record in the same way as the projector. */
  const load = async (events: Parameters<typeof stored>[1], owner: string) => {
    const session = await openSession(database.url, { name: 'test' });
    try {
      for (const model of MODELS)
        await runAll(session, model.statements(model.name, stored(recordStream(owner), events)));
    } finally {
      await session.end();
    }
  };

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
      expect([page.seen, page.total]).to.deep.equal([true, OBSERVATIONS - 1]);
      found.push(...page.rows.map(({ id }) => id));
      cursor = page.next;
    } while (cursor !== undefined);
    expect(new Set(found).size).to.equal(OBSERVATIONS - 1);
    const [, second = 0, ...later] = read;
    expect(Math.max(...later)).to.be.at.most(second + 3);
  });

  const under = (...categories: string[]): Caller => ({
    ...caller,
    sees: {
      ...caller.sees,
      within: {
        ...{ record: patient, patient: newUuid(), purpose: null },
        access: parseAccess(categories.map((category) => `patient/Observation.rs?category=${category}`)),
      },
    },
  });
  const byCategory = (code: string) => nameList('Observation', ['category', codedValue(SYSTEM, code)]);

  const ofA1c = nameList('Observation', ['code', codedValue('http://loinc.org', '4548-4')]);
  const withUnsafe = (list: string) => [list, unsafePart(list)];

  it('count under a grant what its categories cover', async () => {
    const items = openItems(database.pool);
    const total = async (by: Caller, more: Partial<ListOf> = {}) =>
      (await items(by, { ...of, lists: withUnsafe(nameList('Observation')), ...more }, { limit: 1 })).total;
    const labs = OBSERVATIONS / 4;
    const [from, to] = [400, 799];
    for (const by of [under(`${SYSTEM}|laboratory`), under(`${SYSTEM}|LABORATORY`), under('laboratory')]) {
      expect(await total(by)).to.equal(labs);
      expect(await total(by, { from, to })).to.equal(100);
      expect(await total(by, { lists: withUnsafe(ofA1c) })).to.equal(labs / 2);
      expect(await total(by, { lists: [nameList('Observation')] })).to.equal(labs - 1);
      expect(await total(by, { lists: withUnsafe(byCategory('laboratory')) })).to.equal(labs);
      expect(await total(by, { lists: withUnsafe(byCategory('vital-signs')) })).to.equal(0);
    }
    expect(await total(under('laboratory', `${SYSTEM}|vital-signs`))).to.equal(OBSERVATIONS);
    expect(await total(under(`${SYSTEM_OF_OTHERS}|laboratory`))).to.equal(0);
    expect(await total(under(`${SYSTEM}|survey`))).to.equal(0);
    expect(await total(under(`${SYSTEM}|of-no-list`))).to.equal(0);
  });

  it('have the values of some days as these are written, whatever their offsets', async () => {
    const owner = newUuid();
    const seed = steadySeed();
    const draw = fc.sample(WRITTEN, { numRuns: 400, seed });
    const values = draw.map((effectiveDateTime) => ({ id: newUuid(), effectiveDateTime }));
    const observations = values.map(({ id, effectiveDateTime }) =>
      created('Observation', id, {
        status: 'final',
        effectiveDateTime,
        code: { coding: [{ system: 'http://loinc.org', code: '4548-4' }] },
        category: [{ coding: [{ system: SYSTEM, code: 'laboratory' }] }],
      }),
    );
    await load([created('Patient', owner, {}), ...observations], owner);
    const items = openItems(database.pool);
    const limited = under(`${SYSTEM}|laboratory`, `${SYSTEM}|survey`);
    const callers = [
      caller,
      { ...limited, sees: { ...limited.sees, within: { ...limited.sees.within, record: owner } } },
    ] as Caller[];
    const asked = fc.sample(fc.tuple(DAY_ASKED, DAY_ASKED), { numRuns: 60, seed });
    for (const [n, [one, other]] of asked.entries()) {
      const [first, last] = one < other ? [one, other] : [other, one];
      const [from, to] = [n % 5 === 0 ? undefined : first, n % 7 === 0 ? undefined : last];
      // Compares the first and the last day of the written date as texts, which sort in the same order as the days.
      const wanted = values.filter(
        ({ effectiveDateTime: at }) =>
          (to === undefined || `${at.slice(0, 10)}-01-01`.slice(0, 10) <= to) &&
          (from === undefined || (at.length < 10 ? `${at}-99-99` : at).slice(0, 10) >= from),
      );
      const range = {
        from: from === undefined ? undefined : Date.parse(from) / DAY,
        to: to === undefined ? undefined : Date.parse(to) / DAY,
      };
      const list = { ...of, patient: owner, lists: withUnsafe(nameList('Observation')), ...range };
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await items(callers[n % 2] ?? caller, list, { limit: 37, cursor });
        expect(page.total, `${from} to ${to}, seed ${seed}`).to.equal(wanted.length);
        found.push(...page.rows.map(({ id }) => id));
        cursor = page.next;
      } while (cursor !== undefined);
      expect([...found].sort(), `${from} to ${to}, seed ${seed}`).to.deep.equal(
        wanted.map(({ id }) => id).sort(),
      );
      const moment = (id: string) =>
        Date.parse(values.find((each) => each.id === id)?.effectiveDateTime ?? '');
      const moments = found.map(moment);
      expect(moments).to.deep.equal([...moments].sort((a, b) => b - a));
    }
  });

  it('read only the places around the days that are asked for', async () => {
    const read = (range: Partial<ListOf>) =>
      mostRowsRead(database.pool, (pool: Pool) =>
        openItems(pool)(caller, { ...of, ...range }, { limit: 10 }),
      );
    expect(await read({ from: 2_000, to: 2_000 })).to.be.lessThan(30);
    expect(await read({ from: 1_000, to: 3_000 })).to.be.lessThan(250);
    expect(await read({ from: 1_000 })).to.be.lessThan(250);
  });

  it('read no row of the list for the total of one category', async () => {
    const read = (by: Caller) =>
      mostRowsRead(database.pool, (pool: Pool) =>
        openItems(pool)(by, { ...of, lists: withUnsafe(nameList('Observation')) }, { limit: 10 }),
      );
    expect(await read(under(`${SYSTEM}|vital-signs`))).to.be.lessThan(OBSERVATIONS / 4);
    expect(await read(under('vital-signs'))).to.be.at.least(OBSERVATIONS);
  });
});
