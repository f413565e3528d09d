/** The number of rows read by consent queries doesn't grow with other applications' data. */
import { expect } from 'chai';
import type { Pool } from 'pg';
import { consents } from '#projections/consents/project.ts';
import { history } from '#projections/history/project.ts';
import type { Projection } from '#projections/projection.ts';
import { projects } from '#projections/projects/project.ts';
import { resources } from '#projections/resources/project.ts';
import { search } from '#projections/search/project.ts';
import { schemaSql } from '#projections/tables.ts';
import { type ConsentQueries, openConsentQueries } from '#queries/consents/consents.ts';
import type { GrantsAsked } from '#queries/consents/grants.ts';
import { migrate } from '#src/migrations/migrate.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { mostRowsRead } from '#test/support/rows-read.ts';

/** Each application has this many grants, on different records from different people. */
const APPLICATIONS = 1_000;
const PER_APPLICATION = 30;
const LIMIT = 10;
const ISSUER = 'https://idp.example';
const LATER = 4_000_000_000_000_000;

const uuid = (n: number | string) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

describe('plans of consent', () => {
  let database: TestDatabase;

  before(async () => {
    database = await createDatabase();
    await migrate(database.url);
    const { pool } = database;
    const models: readonly Projection[] = [projects, resources, history, search, consents];
    for (const model of models) await pool.query(schemaSql(model, model.name) + model.indexes(model.name));
    const all = `generate_series(1, ${APPLICATIONS}) a, generate_series(1, ${PER_APPLICATION}) n`;
    const record = `('00000000-0000-7000-8000-' || lpad((a * 100 + n)::text, 12, '0'))::uuid`;
    await pool.query(`
      insert into projects.organization (id, name, created_at)
        select 'org_' || a, 'o', a from generate_series(1, ${APPLICATIONS}) a;
      insert into projects.project (id, organization, name, created_at)
        select 'proj_' || a, 'org_' || a, 'p', a from generate_series(1, ${APPLICATIONS}) a;
      insert into projects.application (id, project, client_id, name, environment, kind, redirect_uris, scopes, grant_types, trusted, created_at)
        select 'app_' || a, 'proj_' || a, 'client_' || a, 'a', 'production', 'public', '{}', '{}', '{}', false, a
        from generate_series(1, ${APPLICATIONS}) a;
      insert into consents.grants (grant_id, record, application_id, project, environment, sector, issuer, subject,
          patient, pairwise_subject, scopes, granted_by, granted_at, expires_at, lang, sentences, ended_at, end_reason,
          owner_project, owner_environment)
        select 'grant_' || a || '_' || n, ${record}, 'app_' || a, 'proj_' || a, 'production', 'app_' || a, '${ISSUER}',
          'person-' || a || '-' || n, ${record}, 's', '{patient/*.rs}', 'patient', n, ${LATER} + a, 'en', '{}',
          case when n % 2 = 0 then n + 1 end, case when n % 2 = 0 then 'patient' end, 'home_' || a, 'production'
        from ${all};
      insert into consents.links (link_id, record, owner_project, environment, issuer, subject, relationship, via, linked_at)
        select 'link_' || a || '_' || n, ${record}, 'home_' || a, 'production', '${ISSUER}', 'person-' || a || '-' || n,
          'self', 'invitation', n
        from ${all};
      insert into consents.erased_grants (grant_id, application_id, granted_at, ended_at)
        select 'gone_' || a, 'app_' || a, 1, 2 from generate_series(1, ${APPLICATIONS}) a;
      insert into resources.resource (id, type, tenant, record, version, created_at, last_updated, deleted, stream, body)
        select ${record}, 'Patient', gen_random_uuid(), ${record}, 1, 1, 1, false, 's', '{}' from ${all}`);
    await pool.query('analyze');
  });
  after(() => database.drop());

  const read = (ask: (queries: ConsentQueries) => Promise<unknown>) =>
    mostRowsRead(database.pool, (pool: Pool) => ask(openConsentQueries(pool)));
  const person = (a: number, n: number) => ({ issuer: ISSUER, subject: `person-${a}-${n}` });
  const record = (a: number, n: number) => uuid(a * 100 + n);

  it('find one thing among many by its index', async () => {
    const sector = { project: 'proj_7', environment: 'production' as const, sector: 'app_7' };
    const questions: Record<string, number> = {
      grant: await read((ask) => ask.grant('grant_7_3')),
      activeGrant: await read((ask) => ask.activeGrant('app_7', person(7, 3), record(7, 3))),
      idsOfSector: await read((ask) => ask.idsOfSector(sector, record(7, 3), person(7, 3))),
      recordsOf: await read((ask) => ask.listRecords(person(7, 3), 'production')),
      linkTo: await read((ask) => ask.linkTo(person(7, 3), record(7, 3))),
      erasedGrantsOf: await read((ask) => ask.listErasedGrants('app_7')),
      endOf: await read((ask) => ask.toEnd.readEnd('grant_7_3')),
      none: await read((ask) => ask.toEnd.expired(1, [])),
    };
    for (const [name, rows] of Object.entries(questions)) expect(rows, name).to.be.at.most(10);
  });

  it('read a page, and the rest of the list only to count it', async () => {
    const lists: Record<string, Omit<GrantsAsked, 'limit'>> = {
      application: { application: 'app_9' },
      project: { project: 'proj_9', environment: 'production' },
      'application at a moment': { application: 'app_9', at: 20 },
      record: { record: record(9, 3) },
      'pairwise id': { patient: record(9, 3), project: 'proj_9', environment: 'production' },
      person: { person: person(9, 3) },
      'application of a person': { application: 'app_9', person: person(9, 3) },
    };
    for (const [name, asked] of Object.entries(lists)) {
      // Each row of the page is read along with its application, project and organization.
      const rows = await read((ask) => ask.listGrants({ ...asked, limit: LIMIT }));
      expect(rows, name).to.be.at.most(PER_APPLICATION + 6 * (LIMIT + 1));
    }
    const { next, total } = await openConsentQueries(database.pool).listGrants({
      application: 'app_9',
      limit: LIMIT,
    });
    expect(total).to.equal(PER_APPLICATION);
    const rows = await read((ask) => ask.listGrants({ application: 'app_9', limit: LIMIT, cursor: next }));
    expect(rows).to.be.at.most(6 * (LIMIT + 1));
  });

  it('read what is to be ended a page at a time', async () => {
    const pages: Record<string, number> = {
      ofApplication: await read((ask) => ask.toEnd.ofApplication('app_9', '')),
      ofProject: await read((ask) => ask.toEnd.ofProject('proj_9', '')),
      onRecordsOf: await read((ask) => ask.toEnd.onRecordsOf('home_9', '')),
      expired: await read((ask) => ask.toEnd.expired(LATER + APPLICATIONS, [])),
    };
    for (const [name, rows] of Object.entries(pages)) expect(rows, name).to.be.within(1, 45);
  });
});
