import { expect } from 'chai';
import type { Pool } from 'pg';
import { resources } from '#projections/resources/project.ts';
import { search as searchModel } from '#projections/search/project.ts';
import { schemaSql } from '#projections/tables.ts';
import { openMatch } from '#queries/match.ts';
import { openSearch } from '#queries/search/search.ts';
import {
  inRecordKey,
  parameterKey,
  recordKey,
  searchKey,
  tokenForm,
  valueKey,
} from '#src/fhir/search/keys.ts';
import { ownCaller } from '#src/shared/access/caller.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { TENANT } from '../projections/made.ts';

const ROWS = 50_000;
/**
 * Returns the n-th resource's code, if any: `common` for one in two, `medium` for one in a hundred, `rare` for one in ten
 * thousand.
 */
function codesOf(n: number): string[] {
  const code = n % 2 === 0 ? 'common' : n % 100 === 1 ? 'medium' : n % 10_000 === 7 ? 'rare' : undefined;
  return code === undefined ? [] : [tokenForm.code(code)];
}

const RECORD = '00000000-0000-7000-a000-000000000007';
/** A record whose twenty resources all have the common code. */
const COMMON = '00000000-0000-7000-a000-000000000008';
const caller = ownCaller(TENANT, { kind: 'api_key', keyId: 'key_1' }, ['read']);

/** A node of EXPLAIN (FORMAT JSON). */
interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** Returns how many table rows a plan read, including rows that it then discarded. */
function rowsRead(node: PlanNode): number {
  const own =
    node['Relation Name'] === undefined
      ? 0
      : (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  return own + (node.Plans ?? []).reduce((sum, plan) => sum + rowsRead(plan), 0);
}

/** Returns how many pages of an index a plan read with a bitmap scan. */
function pagesOf(index: string, node: PlanNode): number {
  const own = node['Index Name'] === index ? node['Shared Hit Blocks'] + node['Shared Read Blocks'] : 0;
  return own + (node.Plans ?? []).reduce((sum, plan) => sum + pagesOf(index, plan), 0);
}

describe('plans of searches in tables that nobody has analysed', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
    const { pool } = database;
    await pool.query(schemaSql(resources, 'resources') + resources.indexes('resources'));
    await pool.query(schemaSql(searchModel, 'search') + searchModel.indexes('search'));
    for (const table of ['resources.resource', ...searchModel.compared.map((name) => `search.${name}`)]) {
      await pool.query(`alter table ${table} set (autovacuum_enabled = off)`);
    }
    const id = `('00000000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid`;
    await pool.query(
      `insert into resources.resource (id, type, tenant, record, version, created_at, last_updated, deleted, stream, body)
       select ${id}, 'Observation', $1, ('00000000-0000-7000-a000-' || lpad((n % 2500)::text, 12, '0'))::uuid,
         1, n, n, false, 's', json_build_object('identifier', json_build_array(json_build_object('value', 'v' || n,
           'system', case when n <= 5 then 'rare' else 'common' end)), 'x', repeat('x', 450)) from generate_series(1, ${ROWS}) n`,
      [caller.sees.ownerId],
    );
    const keysOf = (n: number) => {
      const system = n <= 5 ? 'rare' : 'common';
      const record = `00000000-0000-7000-a000-${String(n % 2500).padStart(12, '0')}`;
      const codes = codesOf(n).map((code) => valueKey(caller.sees.ownerId, 'Observation', 'code', code));
      const forms = [tokenForm.code(`v${n}`), tokenForm.pair(system, `v${n}`), tokenForm.system(system)];
      return [
        recordKey(record),
        ...forms.map((form) => valueKey(caller.sees.ownerId, 'Observation', 'identifier', form)),
        valueKey(caller.sees.ownerId, 'Observation', 'status', tokenForm.code('final')),
        ...codes,
        ...codes.map((code) => inRecordKey(searchKey(code), record)),
      ].map(searchKey);
    };
    // Written in steps, because a statement may take only ten seconds.
    for (let from = 0; from < ROWS; from += 10_000) {
      const keys = Array.from({ length: 10_000 }, (_, n) => keysOf(from + n + 1));
      await pool.query(
        `insert into search.entry (id, version, record, targets, keys)
         select ${id}, 1, ('00000000-0000-7000-a000-' || lpad((n % 2500)::text, 12, '0'))::uuid, '{}',
           (select array_agg(key::int8) from json_array_elements_text(k) key)
         from (select k, at + $2::int as n from json_array_elements($1::json) with ordinality as x(k, at)) x`,
        [JSON.stringify(keys), from],
      );
    }
    const dates = Array.from({ length: ROWS }, (_, n) =>
      codesOf(n + 1).flatMap((code) => {
        const about = searchKey(valueKey(caller.sees.ownerId, 'Observation', 'date', code));
        const record = `00000000-0000-7000-a000-${String((n + 1) % 2500).padStart(12, '0')}`;
        return [about, searchKey(inRecordKey(about, record))];
      }),
    );
    await pool.query(
      `insert into search.period (id, key, low, high, about, about_record)
       select ${id}, $2, n * 60000000, (n + 1) * 60000000, (k->>0)::int8, (k->>1)::int8
       from json_array_elements($1::json) with ordinality as x(k, n)`,
      [JSON.stringify(dates), searchKey(parameterKey(caller.sees.ownerId, 'Observation', 'date'))],
    );
    await pool.query(
      `insert into search.quantity (id, key, low, high, about) select ${id}, $1, n, n, case when n % 2 = 0 then $2::int8 end
       from generate_series(1, ${ROWS}) n`,
      [
        searchKey(parameterKey(caller.sees.ownerId, 'Observation', 'value-quantity')),
        searchKey(valueKey(caller.sees.ownerId, 'Observation', 'value-quantity', tokenForm.code('common'))),
      ],
    );
  });
  after(() => database.drop());

  /**
   * Runs a query's statement, planned once for its own values and once for any values. Returns the maximum number of rows that
   * it read, or of what `count` counts.
   */
  async function most(ask: (pool: Pool) => Promise<unknown>, count = rowsRead): Promise<number> {
    const read: number[] = [];
    const client = await database.pool.connect();
    const explain = async ({ text, values }: { text: string; values: unknown[] }) => {
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        await client.query(`set plan_cache_mode = ${mode}`);
        const { rows } = await client.query({
          text: `explain (analyze, buffers, format json) ${text}`,
          values,
        });
        read.push(count(rows[0]['QUERY PLAN'][0].Plan));
      }
      return client.query(text, values);
    };
    try {
      await ask({ query: explain } as unknown as Pool);
    } finally {
      client.release(true);
    }
    return Math.max(...read);
  }

  const search = (query: string, record?: string) => (pool: Pool) =>
    openSearch(pool)(caller, {
      type: 'Observation',
      query: new URLSearchParams(query),
      base: 'http://localhost/',
      ...(record === undefined ? {} : { record }),
    });
  const match = (criteria: string) => (pool: Pool) =>
    openMatch(pool, 'http://localhost/', async () => undefined)(caller, 'Observation', criteria);

  for (const [name, ask, limit] of [
    ['the default page', search('_total=none'), 110],
    ['the newest', search('_sort=-_lastUpdated&_total=none'), 110],
    ['a page of a record', search('_total=none', RECORD), 60],
    ['the newest of a record', search('_sort=-_lastUpdated', RECORD), 60],
    ['a patient', search(`patient=Patient/${RECORD}`), 60],
    ['two patients', search(`patient=${RECORD},${RECORD.replace('7000', '7001')}`), 60],
    ['an id', search('_id=00000000-0000-7000-9000-000000000007'), 10],
    ['an identifier', search('identifier=common|v7'), 10],
    ['an identifier without its system', search('identifier=v7'), 10],
    ['a system', search('identifier=rare|'), 30],
    ['each kind of token', search('identifier=rare|,v100,common|v101,|v102'), 60],
    ['a patient and an identifier', search(`patient=${RECORD}&identifier=common|v7`), 60],
    ['criteria', match('identifier=common|v7'), 10],
    ['criteria in a record', match(`identifier=common|v7&patient=${RECORD}`), 60],
    ['a common code', search('code=common&_total=none'), 4_500],
    ['the newest of a common code', search('code=common&_sort=-_lastUpdated&_total=none'), 4_500],
    ['the latest of a common code', search('code=common&_sort=-date&_total=none'), 350],
    ['the latest of a code', search('code=medium&_sort=-date&_total=none'), 350],
    ['the first of a rare code', search('code=rare&_sort=date&_total=none'), 60],
    ['a rare code among others', search('status=final&code=rare&_sort=-_id'), 60],
    ['a patient and a code', search(`patient=${RECORD}&code=medium,common,rare&_sort=-date`), 200],
    ['a patient, a status and dates', search(`patient=${RECORD}&status=final&date=ge1970&_sort=-date`), 300],
    [
      'five of a patient, a code and dates',
      search(`patient=${COMMON}&code=common&date=ge1970&date=lt2000&_sort=-date&_count=5&_total=none`),
      20,
    ],
    ['the latest of a code of a record', search('code=common&_sort=-date&_count=1&_total=none', COMMON), 8],
    ['everything by date', search('_sort=date&_total=none'), 350],
    ['everything by date and value', search('_sort=-date,value-quantity&_total=none'), 450],
    ['everything by value', search('_sort=-value-quantity&_total=none'), 350],
    ['dates in their order', search('date=lt1970-01-26&_sort=-date&_total=none'), 4_500],
    [
      'a window of recording',
      search('_lastUpdated=ge1970-01-01T00:00:00.001Z&_lastUpdated=lt1970-01-01T00:00:00.002Z&_total=none'),
      2_300,
    ],
    [
      'the newest of a window of recording',
      search(
        '_lastUpdated=ge1970-01-01T00:00:00.001Z&_lastUpdated=lt1970-01-01T00:00:00.002Z&_sort=-_lastUpdated&_total=none',
      ),
      110,
    ],
    ['a code in a window of recording', search('code=common&_lastUpdated=gt1970-01-01T00:00:00.049Z'), 6_200],
    ['a window of time', search('date=ge1970-01-10&date=lt1970-01-11&_total=none'), 4_500],
    ['the latest of a window', search('date=ge1970-01-10&date=lt1970-01-11&_sort=-date&_total=none'), 350],
    ['the first of a window', search('date=ge1970-01-10&date=lt1970-01-11&_sort=date&_total=none'), 1_800],
    ['a window of a rare code', search('code=rare&date=ge1970-01-10&date=lt1970-01-17&_sort=-date'), 100],
    ['the first of a time without end', search('date=ge1970-01-20&_sort=date&_total=none'), 1_800],
    ['a range of values', search('value-quantity=gt30000&value-quantity=le30100&_total=none'), 600],
    ['a common code by value', search('code=common&_sort=value-quantity&_total=none'), 350],
    ['dates of a common code', search('code=common&date=lt1970-01-26&_sort=-date&_total=none'), 350],
    [
      '999 identifiers',
      search(`identifier=${Array.from({ length: 999 }, (_, i) => `common|v${i + 6}`).join(',')}`),
      4_500,
    ],
  ] as const) {
    it(`${name}: reads at most ${limit} rows`, async () => {
      expect(await most(ask)).to.be.within(1, limit);
    });
  }

  it('a code of a record is found without what others have of that code', async () => {
    await database.pool.query(`select gin_clean_pending_list('search.entry_keys')`);
    const pages = (query: string) => most(search(query), (plan) => pagesOf('entry_keys', plan));
    expect(await pages('code=common&_total=none')).to.be.at.least(7);
    expect(await pages(`patient=${COMMON}&code=common&_total=none`)).to.be.within(1, 4);
  });

  it('each kind of token finds its own', async () => {
    const page = await search('identifier=rare|,v100,common|v101,|v102,rare|v200')(database.pool);
    expect(page.total).to.equal(7);
    expect(await match('identifier=rare|v7')(database.pool)).to.deep.equal([]);
    expect(await match('identifier=common|v7')(database.pool)).to.have.length(1);
  });
});
