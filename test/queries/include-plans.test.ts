import { expect } from 'chai';
import type { Pool } from 'pg';
import { history } from '#projections/history/project.ts';
import { projects } from '#projections/projects/project.ts';
import { resources } from '#projections/resources/project.ts';
import { search } from '#projections/search/project.ts';
import { schemaSql } from '#projections/tables.ts';
import { openInclude } from '#queries/include/include.ts';
import { parseInclusions } from '#queries/include/inclusions.ts';
import type { CurrentResource } from '#queries/read.ts';
import { categoryKey } from '#src/fhir/search/categories.ts';
import { recordKey, referenceForm, searchKey, valueKey } from '#src/fhir/search/keys.ts';
import { compiledParameter } from '#src/fhir/search/paths.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { parseAccess } from '#src/oauth/tokens/access.ts';
import { ownCaller } from '#src/shared/access/caller.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { mostRowsRead } from '#test/support/rows-read.ts';
import { TENANT } from '../projections/made.ts';

const ROWS = 50_000;
const BASE = 'http://localhost/';
const caller = ownCaller(TENANT, { kind: 'api_key', keyId: 'key_1' }, ['read']);
const idOf = (n: number) => `00000000-0000-7000-9000-${String(n).padStart(12, '0')}`;

/** Rows 0 to 49 are Practitioners. The others are Observations, every hundredth of which refers to a Practitioner. */
describe('plans of inclusions in tables that nobody has analysed', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
    const { pool } = database;
    for (const model of [resources, search, history, projects])
      await pool.query(schemaSql(model, model.name) + (model.indexes ?? (() => ''))(model.name));
    for (const table of ['resources.resource', 'search.entry', 'history.version'])
      await pool.query(`alter table ${table} set (autovacuum_enabled = off)`);
    const id = `('00000000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid`;
    const type = `case when n < 50 then 'Practitioner' else 'Observation' end`;
    await pool.query(
      `insert into resources.resource (id, type, tenant, record, version, created_at, last_updated, deleted, stream, body)
       select ${id}, ${type}, $1, null, 1, n, n, false, 's', json_build_object('x', repeat('x', 450))
       from generate_series(0, ${ROWS}) n`,
      [caller.sees.ownerId],
    );
    await pool.query(
      `insert into history.version (id, version, type, tenant, record, recorded_at, event_id, operation, agents, metadata, body)
       select ${id}, 1, ${type}, $1, null, n, gen_random_uuid(), 'CREATE',
         case when n % 1000 = 0 then array['Practitioner/' || ('00000000-0000-7000-9000-' || lpad((n % 50)::text, 12, '0'))] end,
         '{"credential":{"kind":"api_key","key_id":"key_1"}}', '{}' from generate_series(0, ${ROWS}) n`,
      [caller.sees.ownerId],
    );
    const keys = Array.from({ length: 50 }, (_, n) =>
      searchKey(
        valueKey(
          caller.sees.ownerId,
          'Observation',
          'performer',
          referenceForm.relative(`Practitioner/${idOf(n)}`),
        ),
      ),
    );
    await pool.query(
      `insert into search.entry (id, version, targets, keys)
       select ${id}, 1, '{}', case when n >= 50 and n % 100 = 0 then array[($1::int8[])[1 + (n / 100) % 50]] else '{}' end
       from generate_series(0, ${ROWS}) n`,
      [keys],
    );
  });
  after(() => database.drop());

  /**
   * A record with 1,503 Observations, the last three of which are laboratory results, and 5,000 Observations in other records.
   */
  const [record, elsewhere, doctor] = [
    '00000000-0000-7000-8000-000000000001',
    '00000000-0000-7000-8000-000000000002',
    '00000000-0000-7000-8000-000000000003',
  ];
  async function fillRecords(): Promise<void> {
    const { ownerId } = caller.sees;
    const keyed = (code: string, reference: string) =>
      (compiledParameter('Observation', code)?.stored ?? []).map((stored) =>
        searchKey(valueKey(ownerId, 'Observation', stored, referenceForm.relative(reference))),
      );
    const performer = keyed('performer', `Practitioner/${doctor}`);
    const keys = [...keyed('subject', `Patient/${record}`), ...performer];
    const [vital, lab] = ['vital-signs', 'laboratory'].map((code) => categoryKey('Observation', { code }));
    const id = `('00000000-0000-7000-a000-' || lpad(n::text, 12, '0'))::uuid`;
    const place = (mine: string, other: string) =>
      `(case when n < 1503 then ${mine} else ${other} end)::uuid`;
    await database.pool.query(
      `insert into resources.resource (id, type, tenant, record, version, created_at, last_updated, deleted, stream, categories, body)
       select ${id}, 'Observation', $1, ${place('$2', '$3')}, 1, n, n, false, 's',
         case when n between 1500 and 1502 then array[$4::int8] else array[$5::int8] end, '{}'
       from generate_series(0, 6502) n`,
      [ownerId, record, elsewhere, lab, vital],
    );
    await database.pool.query(
      `insert into search.entry (id, version, record, targets, keys)
       select ${id}, 1, ${place('$1', '$2')}, '{}',
         case when n < 1503 then $3::int8[] else $4::int8[] end
       from generate_series(0, 6502) n`,
      [
        record,
        elsewhere,
        [...keys, searchKey(recordKey(record))],
        [...performer, searchKey(recordKey(elsewhere))],
      ],
    );
  }

  const matches = (type: ResourceType, count: number): CurrentResource[] =>
    Array.from({ length: count }, (_, n) => ({
      id: type === 'Practitioner' ? idOf(n) : idOf(n + 100),
      type,
      version: 1,
      lastUpdated: n,
      body: JSON.stringify({ performer: [{ reference: `Practitioner/${idOf(n % 50)}` }] }),
    }));
  let found = 0;
  const include = (query: string, from: readonly CurrentResource[]) => async (pool: Pool) => {
    const inclusions = parseInclusions(new URLSearchParams(query));
    const { resources: beside } = await openInclude(pool)(caller, { matches: from, inclusions, base: BASE });
    found = beside.length;
  };

  for (const [name, ask, expected, limit] of [
    [
      'what 200 matches refer to',
      include('_include=Observation:performer', matches('Observation', 200)),
      50,
      60,
    ],
    ['what refers to one', include('_revinclude=Observation:performer', matches('Practitioner', 1)), 10, 60],
    [
      'what refers to 50',
      include('_revinclude=Observation:performer', matches('Practitioner', 50)),
      500,
      1_600,
    ],
    [
      'the Provenances of 200',
      include('_revinclude=Provenance:target', matches('Observation', 200)),
      200,
      420,
    ],
    ['what 50 have written', include('_revinclude=Provenance:agent', matches('Practitioner', 50)), 51, 220],
  ] as const) {
    it(`${name}: reads at most ${limit} rows`, async () => {
      const read = await mostRowsRead(database.pool, ask);
      expect(found).to.equal(expected);
      expect(read).to.be.within(expected, limit);
    });
  }

  it('within a grant: reads the record alone, and what is hidden takes no place', async () => {
    await fillRecords();
    const access = parseAccess(['patient/Observation.rs?category=laboratory']);
    const within = { record, patient: record, access, purpose: null };
    const granted = { ...caller, sees: { ...caller.sees, within } };
    for (const [type, id, code] of [
      ['Patient', record, 'subject'],
      ['Practitioner', doctor, 'performer'],
    ] as const) {
      const read = await mostRowsRead(database.pool, async (pool) => {
        const { resources: beside, more } = await openInclude(pool)(granted, {
          matches: [{ id, type, version: 1, lastUpdated: 0, body: '{}' }],
          inclusions: parseInclusions(new URLSearchParams(`_revinclude=Observation:${code}`)),
          base: BASE,
        });
        expect([beside.length, more]).to.deep.equal([3, false]);
      });
      expect(read).to.be.within(3, 4_600);
    }
  });
});
