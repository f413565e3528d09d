/** The number of rows read by the admin interface's queries doesn't grow with other customers' data. */
import { expect } from 'chai';
import type { Pool } from 'pg';
import { projects } from '#projections/projects/project.ts';
import { resources } from '#projections/resources/project.ts';
import { schemaSql } from '#projections/tables.ts';
import { openAdminQueries } from '#queries/admin/admin.ts';
import type { Page } from '#queries/admin/page.ts';
import { newestProductionApplication } from '#queries/admin/production.ts';
import { openTraffic } from '#queries/admin/traffic.ts';
import { migrate } from '#src/migrations/migrate.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { mostRowsRead } from '#test/support/rows-read.ts';

const ORGANIZATIONS = 2_000;
const PER_PROJECT = 30;
const LONG = 200;
const REQUESTS = 20_000;
const LIMIT = 20;

const someone = (n: number) => ({
  issuer: 'https://idp.example',
  subject: `person-${n}`,
  email: `person@d${n}.example`,
  emailVerified: true,
});

describe('plans of the admin interface', () => {
  let database: TestDatabase;

  before(async () => {
    database = await createDatabase();
    await migrate(database.url);
    const { pool } = database;
    await pool.query(schemaSql(projects, 'projects') + projects.indexes('projects'));
    await pool.query(schemaSql(resources, 'resources') + resources.indexes('resources'));
    const all = `generate_series(1, ${ORGANIZATIONS}) n`;
    await pool.query(`
      insert into projects.organization (id, name, created_at, sso_issuer, sso_client_id, sso_domains, sso_at)
        select 'org_' || n, 'o', n, 'https://idp' || n || '.example', 'c', array['d' || n || '.example'], n from ${all};
      insert into projects.member (organization, issuer, subject, role, changed_at)
        select 'org_' || n, 'https://idp.example', 'person-' || n, 'owner', n from ${all};
      insert into projects.project (id, organization, name, created_at)
        select 'proj_' || n, 'org_' || n, 'p', n from ${all};
      insert into projects.project (id, organization, name, created_at)
        select 'long_' || n, 'org_1', 'p', n from generate_series(1, ${LONG}) n;
      insert into projects.api_key (sha256, key_id, project, environment, name, scopes, last4, created_at)
        select 'hash' || n, 'key_' || n, 'proj_' || n, 'sandbox', 'k', '{read}', 'abcd', n from ${all};
      insert into projects.application (id, project, client_id, name, environment, kind, redirect_uris, scopes, grant_types, trusted, created_at)
        select 'app_' || n, 'proj_' || n, 'client_' || n, 'a', 'sandbox', 'public', '{}', '{}', '{}', false, n from ${all};
      insert into projects.production_request (id, project, use, created_at)
        select 'preq_' || n, 'proj_' || n, 'u', n from ${all};
      insert into operations.request_log (request_id, at, project, method, path, status, ms)
        select 'req_' || n, n, 'proj_1', 'GET', '/fhir/R4/Patient', 200, 1 from generate_series(1, ${REQUESTS}) n`);
    const tenants = Array.from({ length: ORGANIZATIONS }, (_, n) =>
      tenantId({ project: `proj_${n + 1}`, environment: 'sandbox' }),
    );
    await pool.query(
      `insert into resources.resource (id, type, tenant, record, version, created_at, last_updated, deleted, stream, body)
       select gen_random_uuid(), 'Patient', t, gen_random_uuid(), 1, 1, 1, false, 's', '{}'
       from unnest($1::uuid[]) t, generate_series(1, $2)`,
      [tenants, PER_PROJECT],
    );
    await pool.query('analyze');
  });
  after(() => database.drop());

  const read = (ask: (queries: ReturnType<typeof openAdminQueries>) => Promise<unknown>) =>
    mostRowsRead(database.pool, (pool: Pool) => ask(openAdminQueries(pool)));

  it('find one thing among many by its index', async () => {
    const [who, n] = [someone(700), 700];
    const questions: Record<string, number> = {
      organization: await read((ask) => ask.organization(who, `org_${n}`)),
      project: await read((ask) => ask.project(who, `proj_${n}`)),
      key: await read((ask) => ask.key(who, `key_${n}`)),
      application: await read((ask) => ask.application(who, `app_${n}`)),
      organizations: await read((ask) => ask.organizations(who, { limit: LIMIT })),
      projects: await read((ask) => ask.projects(`org_${n}`, { limit: LIMIT })),
      keys: await read((ask) => ask.keys(`proj_${n}`, { limit: LIMIT })),
      applications: await read((ask) => ask.applications(`proj_${n}`, { limit: LIMIT })),
      productionRequests: await read((ask) => ask.productionRequests(`proj_${n}`, { limit: LIMIT })),
      newestApplication: await mostRowsRead(database.pool, (pool: Pool) =>
        newestProductionApplication(pool, `proj_${n}`),
      ),
      members: await read((ask) => ask.members(`org_${n}`, { limit: LIMIT })),
      ssoOf: await read((ask) => ask.readSso(`d${n}.example`)),
      domainHolders: await read((ask) => ask.domainHolders([`d${n}.example`, 'none.example'])),
      ssoClients: await read((ask) => ask.ssoClients(`https://idp${n}.example`)),
      requests: await read((ask) => ask.requests('proj_1', { limit: LIMIT, requestId: 'req_7' })),
      hasData: await read((ask) => ask.hasData({ project: `proj_${n}`, environment: 'sandbox' })),
    };
    for (const [name, rows] of Object.entries(questions)) expect(rows, name).to.be.at.most(20);
  });

  it('read a page, and the rest only to count it', async () => {
    const pages: [
      string,
      number,
      (ask: ReturnType<typeof openAdminQueries>, cursor?: string) => Promise<Page<unknown>>,
    ][] = [
      ['projects', LONG + 1, (ask, cursor) => ask.projects('org_1', { limit: LIMIT, cursor })],
      [
        'patients',
        PER_PROJECT,
        (ask, cursor) =>
          ask.patients({ project: 'proj_9', environment: 'sandbox' }, { limit: LIMIT, cursor }),
      ],
    ];
    for (const [name, total, page] of pages) {
      const first = await page(openAdminQueries(database.pool));
      expect([first.total, first.rows.length], name).to.deep.equal([total, LIMIT]);
      let last = first.next;
      for (let next = last; next !== undefined; ) {
        last = next;
        next = (await page(openAdminQueries(database.pool), next)).next;
      }
      for (const cursor of [undefined, last]) {
        expect(await read((ask) => page(ask, cursor)), name).to.be.at.most(total + 3 * LIMIT);
      }
    }
  });

  it('look through so many entries of the request log and no more, and count for the first page alone', async () => {
    const most = 500;
    const asked = { limit: LIMIT };
    const first = await openTraffic(database.pool, most).requests('proj_1', asked);
    expect([first.total, first.rows[0]?.id]).to.deep.equal([most, `req_${REQUESTS}`]);
    const next = await openTraffic(database.pool, most).requests('proj_1', { ...asked, cursor: first.next });
    expect([next.total, next.rows[0]?.id]).to.deep.equal([most, `req_${REQUESTS - LIMIT}`]);
    const old = await openTraffic(database.pool, most).requests('proj_1', { ...asked, to: 1_000 });
    expect([old.total, old.rows[0]?.id]).to.deep.equal([most, 'req_999']);
    const readOf = (more: object) =>
      mostRowsRead(database.pool, (pool) =>
        openTraffic(pool, most).requests('proj_1', { ...asked, ...more }),
      );
    expect(await readOf({ cursor: first.next })).to.be.at.most(3 * LIMIT);
    for (const filter of [{}, { statuses: [500, 599] }, { path: '/admin' }, { from: 3, to: 15_000 }])
      expect(await readOf(filter), JSON.stringify(filter)).to.be.at.most(2 * most + 3 * LIMIT);
  });
});
