import { expect } from 'chai';
import type { Pool } from 'pg';
import { history } from '#projections/history/project.ts';
import { resources } from '#projections/resources/project.ts';
import { search } from '#projections/search/project.ts';
import { schemaSql } from '#projections/tables.ts';
import { openEverything } from '#queries/everything/everything.ts';
import { parseEverything } from '#queries/everything/request.ts';
import { openSummarize } from '#queries/summary/summary.ts';
import { parameterKey, searchKey } from '#src/fhir/search/keys.ts';
import { ownCaller } from '#src/shared/access/caller.ts';
import { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { TENANT } from '../projections/made.ts';

const ROWS = 50_000;
const RECORDS = 2_500;
const RECORD = '00000000-0000-7000-a000-000000000007';
/** A record with `LONG` Observations. */
const LONG_RECORD = '00000000-0000-7000-a000-999999999999';
const LONG = 1_000;
const caller = ownCaller(TENANT, { kind: 'api_key', keyId: 'key_1' }, ['read']);
const BASE = 'http://localhost/';

/** A node of EXPLAIN (FORMAT JSON). */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Returns how many table rows a plan read, including rows that it then discarded. */
function rowsRead(node: PlanNode): number {
  return nodesOf(node)
    .filter((each) => each['Relation Name'] !== undefined)
    .reduce(
      (sum, each) =>
        sum + (each['Actual Rows'] + (each['Rows Removed by Filter'] ?? 0)) * each['Actual Loops'],
      0,
    );
}

describe('plans of whole records in tables that nobody has analysed', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
    const { pool } = database;
    await pool.query(schemaSql(resources, 'resources') + resources.indexes('resources'));
    await pool.query(schemaSql(history, 'history') + history.indexes('history'));
    await pool.query(schemaSql(search, 'search') + search.indexes('search'));
    for (const table of ['resources.resource', 'search.period'])
      await pool.query(`alter table ${table} set (autovacuum_enabled = off)`);
    await pool.query(
      `insert into resources.resource (id, type, tenant, record, version, created_at, last_updated, deleted, stream, body)
       select ('00000000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid,
         (array['Condition', 'Observation', 'Procedure'])[1 + n % 3], $1,
         ('00000000-0000-7000-a000-' || lpad((n % ${RECORDS})::text, 12, '0'))::uuid,
         1, n, n, false, 's', '{"note":"' || repeat('x', 500) || '"}' from generate_series(1, ${ROWS}) n`,
      [caller.sees.ownerId],
    );
    await pool.query(
      `insert into resources.resource (id, type, tenant, record, version, created_at, last_updated, deleted, stream, body)
       values ($1, 'Patient', $2, $1, 1, 1, 1, false, 's', '{}')`,
      [RECORD, caller.sees.ownerId],
    );
    await pool.query(
      `insert into resources.resource (id, type, tenant, record, version, created_at, last_updated, deleted, stream, body)
       select gen_random_uuid(), 'Observation', $1::uuid, $2::uuid, 1, n, n, false, 's', '{}' from generate_series(1, ${LONG}) n
       union all select $2::uuid, 'Patient', $1::uuid, $2::uuid, 1, 1, 1, false, 's', '{}'`,
      [caller.sees.ownerId, LONG_RECORD],
    );
    await pool.query(
      `insert into search.period (id, key, low, high) select id, $1, created_at, created_at + 1 from resources.resource
       where type = 'Observation'`,
      [searchKey(parameterKey(caller.sees.ownerId, 'Observation', 'date'))],
    );
    // A summary checks that the read model `history` has reached the same position.
    await pool.query(
      `insert into history.version (id, version, type, tenant, record, recorded_at, event_id, operation, metadata)
       values ($1, 1, 'Patient', $2, $1, ${ROWS}, $1, 'CREATE', '{"credential":{"kind":"system"}}')`,
      [RECORD, caller.sees.ownerId],
    );
  });
  after(() => database.drop());

  /** Returns the plans of the COPY statements that a query runs. */
  async function plansOf(ask: (pool: Pool) => Promise<unknown>): Promise<PlanNode[]> {
    const plans: Promise<PlanNode>[] = [];
    const client = await database.pool.connect();
    const query = (copy: { text: string }, settle?: (error: Error | null) => void): unknown => {
      if (settle === undefined) return client.query(copy);
      const select = /^copy \(([\s\S]*)\) to stdout/.exec(copy.text)?.[1];
      if (select !== undefined) {
        plans.push(
          database.pool
            .query(`explain (analyze, format json) ${select}`)
            .then(({ rows }) => rows[0]['QUERY PLAN'][0].Plan as PlanNode),
        );
      }
      return client.query(copy as unknown as string, settle);
    };
    try {
      await ask({ connect: async () => ({ query, release: () => undefined }) } as unknown as Pool);
      return await Promise.all(plans);
    } finally {
      client.release();
    }
  }

  const everything = (query: string) => (pool: Pool) =>
    openEverything(pool)(caller, RECORD, parseEverything(new URLSearchParams(query)), BASE);

  for (const [name, ask] of [
    ['everything', everything('')],
    ['a page', everything('_count=5')],
    ['a type', everything('_type=Observation')],
    ['what changed', everything('_since=1970-01-01')],
    [
      'a summary',
      (pool: Pool) =>
        openSummarize(pool)(caller, RECORD, BASE, new AnswerBudget(), async () => Buffer.alloc(0)),
    ],
  ] as const) {
    it(`${name}: reads the record alone, in the order of its index`, async () => {
      const plans = await plansOf(ask);
      expect(plans).not.to.be.empty;
      for (const plan of plans) {
        expect(rowsRead(plan)).to.be.at.most(ROWS / RECORDS + 1);
        expect(nodesOf(plan).map((node) => node['Node Type'])).not.to.include('Sort');
      }
    });
  }

  for (const statistics of ['without', 'with'])
    it(`a period of care: reads only the record's own dates, ${statistics} statistics`, async () => {
      if (statistics === 'with') await database.pool.query('analyze');
      const asked = parseEverything(new URLSearchParams('start=1970-01-01&end=1970-01-02'));
      const plans = await plansOf((pool) => openEverything(pool)(caller, LONG_RECORD, asked, BASE));
      expect(plans).not.to.be.empty;
      for (const plan of plans) expect(rowsRead(plan)).to.be.at.most(2 * LONG + 1);
    });
});
