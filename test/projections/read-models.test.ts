import { expect } from 'chai';
import { history } from '#projections/history/project.ts';
import type { Projection } from '#projections/projection.ts';
import { projects } from '#projections/projects/project.ts';
import { resources } from '#projections/resources/project.ts';
import { runAll } from '#projections/rows.ts';
import { openSession } from '#projections/session.ts';
import { prepareReadModels, schemaSql } from '#projections/tables.ts';
import type { NewEvent } from '#src/events/store.ts';
import {
  applicationStream,
  directoryStream,
  organizationStream,
  projectStream,
  recordStream,
} from '#src/events/streams.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { startInstance } from './instance.ts';
import { body, created, deleted, erased, made, stored, TENANT, updated } from './made.ts';

describe('read models', () => {
  let database: TestDatabase;
  const all = [resources, history, projects];

  before(async () => {
    database = await createDatabase();
    await prepareReadModels(database.pool, all);
  });
  after(() => database.drop());

  /** Projects batches of events, each in one transaction. */
  async function project(projection: Projection, ...batches: ReturnType<typeof stored>[]): Promise<void> {
    const session = await openSession(database.url, { name: 'test' });
    for (const batch of batches) {
      await session.query('begin');
      await runAll(session, projection.statements(projection.name, batch));
      await session.query('commit');
    }
    await session.end();
  }

  const rows = async (sql: string, ...values: unknown[]) => (await database.pool.query(sql, values)).rows;
  const resource = async (id: string) =>
    (await rows('select * from resources.resource where id = $1', id))[0];

  it('are made once, however many instances start at once', async () => {
    const fresh = await createDatabase();
    const outdated = await Promise.all([1, 2, 3].map(() => prepareReadModels(fresh.pool, all)));
    expect(outdated).to.deep.equal([[], [], []]);
    expect((await fresh.pool.query('select position, version from history.checkpoint')).rows).to.deep.equal([
      { position: '', version: history.version },
    ]);
    const next = [{ ...history, version: history.version + 1 }, resources];
    expect(await prepareReadModels(fresh.pool, next)).to.deep.equal(['history']);
    await fresh.drop();
  });

  it('go on when an event id stands in two streams', async () => {
    const own = await createDatabase();
    const instance = await startInstance(own.url);
    const id = newUuid();
    const patients = [newUuid(), newUuid()];
    for (const patient of patients) {
      const event = { ...created('Patient', patient), id };
      const { position } = await instance.store.append(recordStream(patient), 'none', [event]);
      await instance.shown(position);
    }
    const { rows: versions } = await own.pool.query('select id from history.version where event_id = $1', [
      id,
    ]);
    expect(versions.map((row) => row.id)).to.have.members(patients);
    await instance.stop();
    await own.drop();
  });

  describe('resources', () => {
    it('holds the last version with its exact text', async () => {
      const patient = newUuid();
      const note = 'tab\t, "quotes", back\\slash, 血圧 and a decimal';
      const events = stored(recordStream(patient), [
        created('Patient', patient, { value: 1 }),
        updated('Patient', patient, 2, { note }),
      ]);
      await project(resources, events.slice(0, 1), events.slice(1));
      const row = await resource(patient);
      expect(row.body).to.equal(body('Patient', patient, 2, { note }));
      expect(row).to.include({
        type: 'Patient',
        version: 2,
        deleted: false,
        record: patient,
        tenant: tenantId(TENANT),
      });
      expect(row.last_updated - row.created_at).to.equal(1);
    });

    it('is the same however batches are cut, applied twice, and when an older version comes late', async () => {
      const outcomes: unknown[] = [];
      for (const cut of [[3], [1, 3], [1, 2, 3], [2, 3], [1, 2, 3, 0, 3]]) {
        const patient = newUuid();
        const events = stored(recordStream(patient), [
          created('Patient', patient, { name: [{ family: 'A' }] }),
          updated('Patient', patient, 2, { name: [{ family: 'B' }] }),
          updated('Patient', patient, 3, { name: [{ family: 'C' }] }),
        ]);
        let from = 0;
        for (const to of cut) {
          await project(resources, events.slice(to < from ? 0 : from, to));
          from = to;
        }
        await project(resources, events.slice(0, 1), events.slice(1, 2), events);
        const { version, body: text, last_updated, created_at } = await resource(patient);
        const shape = String(text).replaceAll(patient, 'id');
        outcomes.push({ version, shape, took: last_updated - created_at });
      }
      for (const outcome of outcomes) expect(outcome).to.deep.equal(outcomes[0]);
      expect(outcomes[0]).to.include({ version: 3, took: 2 });
    });

    it('keeps a deleted resource without body, and takes it back when it is restored', async () => {
      const id = newUuid();
      const events = stored(directoryStream(TENANT), [
        created('Practitioner', id),
        deleted('Practitioner', id, 2),
        updated('Practitioner', id, 3),
      ]);
      await project(resources, events.slice(0, 2));
      expect(await resource(id)).to.include({ deleted: true, body: null, version: 2, record: null });
      await project(resources, events.slice(2));
      expect(await resource(id)).to.include({ deleted: false, version: 3 });
    });

    it('loses an erased record and nothing else', async () => {
      const [gone, stays] = [newUuid(), newUuid()];
      for (const patient of [gone, stays]) {
        const events = stored(recordStream(patient), [created('Patient', patient)]);
        await project(resources, events);
        await project(history, events);
      }
      const end = stored(projectStream(TENANT.project), [erased(gone)]);
      await project(resources, end);
      await project(history, end);
      expect(await resource(gone)).to.equal(undefined);
      expect(await rows('select 1 from history.version where record = $1', gone)).to.have.length(0);
      expect(await rows('select 1 from history.version where record = $1', stays)).to.have.length(1);
      expect(await resource(stays)).to.include({ version: 1 });
    });

    it('loses a record of which only a part had come, deleted resources included', async () => {
      const [patient, one, two] = [newUuid(), newUuid(), newUuid()];
      const events = stored(recordStream(patient), [
        created('Patient', patient),
        created('Observation', one),
        created('Observation', two),
        deleted('Observation', two, 2),
      ]);
      const end = stored(projectStream(TENANT.project), [erased(patient)]);
      for (const projection of [resources, history]) await project(projection, events.slice(1), end);
      expect(await rows('select 1 from resources.resource where record = $1', patient)).to.have.length(0);
      expect(await rows('select 1 from history.version where record = $1', patient)).to.have.length(0);
    });

    it('cannot apply an event without an owner', async () => {
      const id = newUuid();
      const [event] = stored(recordStream(id), [created('Patient', id)]);
      if (event === undefined) throw new Error('no event');
      const { owner: _owner, ...metadata } = event.metadata;
      const failure = await project(resources, [{ ...event, metadata }]).catch((error: unknown) => error);
      expect(failure).to.have.property('message', 'its metadata has no owner');
    });
  });

  describe('history', () => {
    it('has a row per version, with what its Provenance needs', async () => {
      const patient = newUuid();
      const agents = {
        author: { type: 'practitioner', reference: 'Practitioner/1' },
        acting_as: 'PractitionerRole/2',
        on_behalf_of: { reference: 'Organization/3', display: 'Clinic "3"' },
      } as const;
      const events = stored(recordStream(patient), [
        created('Patient', patient, {}, agents),
        updated('Patient', patient, 2),
        deleted('Patient', patient, 3),
      ]);
      await project(history, events, events);
      const found = await rows('select * from history.version where id = $1 order by version', patient);
      expect(found.map(({ operation }) => operation)).to.deep.equal(['CREATE', 'UPDATE', 'DELETE']);
      expect(found.map(({ event_id }) => event_id)).to.deep.equal(events.map(({ id }) => id));
      expect(found[0].agents).to.deep.equal(['Practitioner/1', 'PractitionerRole/2']);
      expect(found[1].agents).to.equal(null);
      expect(found[1].body).to.equal(body('Patient', patient, 2));
      expect(found[2].body).to.equal(null);
      const metadata = JSON.parse(found[0].metadata);
      expect(metadata).to.deep.include(agents);
      expect(metadata).to.not.have.any.keys('hash', 'append');
    });

    it('finds a client’s own Provenance by its current targets and agents', async () => {
      const [patient, id] = [newUuid(), newUuid()];
      const provenance = (target: string, who: string) => ({
        recorded: '2020-02-03T04:05:06.789Z',
        target: [{ reference: target }],
        agent: [{ who: { reference: who }, onBehalfOf: { reference: 'Organization/o' } }],
      });
      const events = stored(recordStream(patient), [
        created('Provenance', id, provenance(`Patient/${patient}/_history/1`, 'Practitioner/a')),
        updated('Provenance', id, 2, provenance(`Patient/${patient}`, 'Practitioner/b')),
        deleted('Provenance', id, 3),
      ]);
      const row = async () => (await rows('select * from history.client_provenance where id = $1', id))[0];
      await project(history, events.slice(0, 1));
      expect(await row()).to.deep.include({
        targets: [`Patient/${patient}/_history/1`, `Patient/${patient}`],
        agents: ['Practitioner/a'],
        recorded: 1_580_702_706_789_000,
      });
      await project(history, events.slice(1, 2));
      expect(await row()).to.deep.include({ targets: [`Patient/${patient}`], version: 2, deleted: false });
      await project(history, events.slice(2));
      expect(await row()).to.deep.include({ targets: [], agents: [], version: 3, deleted: true });
    });
  });

  describe('projects', () => {
    it('knows organizations, projects and keys, and when a key was revoked', async () => {
      const key = (key_id: string): NewEvent =>
        made({
          type: 'ApiKeyCreated',
          data: {
            key_id,
            name: 'a key',
            environment: 'sandbox',
            scopes: ['read', 'write'],
            sha256: `${key_id}hash`,
            last4: 'abcd',
            expires_at: null,
          },
        });
      const organization = stored(organizationStream('org_1'), [
        made({ type: 'OrganizationCreated', data: { organization_id: 'org_1', name: 'Clinic' } }),
      ]);
      const project1 = stored(projectStream('proj_1'), [
        made({
          type: 'ProjectCreated',
          data: { project_id: 'proj_1', organization_id: 'org_1', name: 'Pilot' },
        }),
        key('key_1'),
        key('key_2'),
        made({ type: 'ApiKeyRevoked', data: { key_id: 'key_1' } }),
      ]);
      await project(projects, organization, project1, project1);
      const keys = await rows('select * from projects.api_key order by key_id');
      expect(keys.map(({ key_id, revoked_at }) => [key_id, revoked_at !== null])).to.deep.equal([
        ['key_1', true],
        ['key_2', false],
      ]);
      expect(keys[1]).to.deep.include({ sha256: 'key_2hash', project: 'proj_1', scopes: ['read', 'write'] });
      expect(await rows('select organization from projects.project')).to.deep.equal([
        { organization: 'org_1' },
      ]);
    });

    it('knows founders, members, single sign-on, verification, applications and deleted projects, however batches are cut', async () => {
      const owner = { issuer: 'https://idp.example', subject: 'ann', email: 'ann@clinic.example' };
      const dev = { issuer: 'https://idp.example', subject: 'ben' };
      const sso = (issuer: string, domains: string[]): NewEvent =>
        made({ type: 'OrganizationSsoConfigured', data: { issuer, client_id: 'dashboard', domains } });
      const branded = (color: string): NewEvent => made({ type: 'ApplicationBranded', data: { color } });
      const rotated = (secret_sha256: string, previous?: { sha256: string; until: string }): NewEvent =>
        made({
          type: 'ApplicationSecretRotated',
          data: { secret_sha256, ...(previous === undefined ? {} : { previous }) },
        });
      const changed = (scopes: string[], jwks_uri?: string): NewEvent =>
        made({
          type: 'ApplicationChanged',
          data: {
            redirect_uris: ['https://diary.example/there'],
            post_logout_redirect_uris: [],
            scopes,
            ...(jwks_uri === undefined ? {} : { jwks_uri }),
          },
        });
      const outcomes: unknown[] = [];
      for (const cut of [[99], [1, 2, 3, 4, 5, 99], [3, 6, 0, 99], [5, 2, 99]]) {
        const id = newUuid();
        const [org, proj, app] = [`org_${id}`, `proj_${id}`, `app_${id}`];
        const events = [
          ...stored(organizationStream(org), [
            made({
              type: 'OrganizationCreated',
              data: { organization_id: org, name: 'Clinic', founder: owner },
            }),
            made({ type: 'OrganizationMemberAdded', data: { ...dev, role: 'developer' } }),
            sso('https://old.example', ['old.example']),
            sso('https://idp.example', ['clinic.example', 'clinic.test']),
            made({ type: 'OrganizationMemberAdded', data: { ...dev, role: 'admin' } }),
            made({ type: 'OrganizationVerified', data: { domain: 'clinic.example' } }),
            made({ type: 'OrganizationMemberRemoved', data: dev }),
          ]),
          ...stored(projectStream(proj), [
            made({ type: 'ProjectCreated', data: { project_id: proj, organization_id: org, name: 'Pilot' } }),
            made({
              type: 'ApiKeyCreated',
              data: {
                key_id: `key_${id}`,
                name: 'a key',
                environment: 'sandbox',
                scopes: ['read'],
                sha256: id,
                last4: 'abcd',
                expires_at: null,
              },
            }),
            made({ type: 'ProjectDeleted', data: { project_id: proj } }),
          ]),
          ...stored(applicationStream(app), [
            made({
              type: 'ApplicationRegistered',
              data: {
                application_id: app,
                project_id: proj,
                client_id: `client_${id}`,
                name: 'Diary',
                environment: 'production',
                kind: 'public',
                redirect_uris: ['https://diary.example/back'],
                scopes: ['patient/*.rs'],
                grant_types: ['authorization_code'],
              },
            }),
            branded('#112233'),
            branded('#445566'),
            rotated('aa', { sha256: 'old', until: '2026-11-24T00:00:00.000000Z' }),
            rotated('bb'),
            changed(['patient/*.rs', 'openid']),
            changed(['openid'], 'https://diary.example/jwks'),
            made({ type: 'ApplicationTrusted', data: { trusted: true } }, { credential: { kind: 'system' } }),
            made({ type: 'ApplicationDeleted', data: { application_id: app } }),
          ]),
        ];
        let from = 0;
        for (const to of cut) {
          await project(projects, events.slice(Math.min(from, to), to));
          from = to;
        }
        const texts = await rows(
          `select to_jsonb(o) - 'created_at' - 'sso_at' - 'confirmed_at' as row from projects.organization o where id = $1
           union all select to_jsonb(m) - 'changed_at' from projects.member m where organization = $1
           union all select to_jsonb(k) - 'created_at' - 'revoked_at' || jsonb_build_object('works', revoked_at is null)
             from projects.api_key k where project = $2
           union all select to_jsonb(p) - 'created_at' - 'deleted_at' || jsonb_build_object('open', deleted_at is null)
             from projects.project p where id = $2
           union all select to_jsonb(a) - 'created_at' - 'branded_at' - 'trusted_at' - 'secret_at' - 'changed_at' - 'deleted_at'
             || jsonb_build_object('there', deleted_at is null) from projects.application a where id = $3
           order by 1`,
          org,
          proj,
          app,
        );
        outcomes.push(JSON.parse(JSON.stringify(texts.map(({ row }) => row)).replaceAll(id, 'id')));
      }
      for (const outcome of outcomes) expect(outcome).to.deep.equal(outcomes[0]);
      const all = outcomes[0] as Record<string, unknown>[];
      expect(all).to.have.length(6);
      const having = (name: string) => all.filter((row) => name in row);
      expect(having('sso_issuer')).to.deep.equal([
        {
          id: 'org_id',
          name: 'Clinic',
          sso_issuer: 'https://idp.example',
          sso_client_id: 'dashboard',
          sso_domains: ['clinic.example', 'clinic.test'],
          confirmed_domain: 'clinic.example',
        },
      ]);
      expect(having('role').map(({ subject, role, email }) => [subject, role, email])).to.have.deep.members([
        ['ann', 'owner', 'ann@clinic.example'],
        ['ben', null, null],
      ]);
      expect(having('works')[0]).to.include({ works: false });
      expect(having('open')[0]).to.include({ open: false });
      expect(having('there')[0]).to.include({ there: false, color: '#445566', trusted: true });
      expect(having('there')[0]).to.deep.include({
        redirect_uris: ['https://diary.example/there'],
        scopes: ['openid'],
        jwks_uri: 'https://diary.example/jwks',
        secret_sha256: null,
      });
    });
  });

  describe('loaded for a rebuild', () => {
    it('have the same rows as served ones', async () => {
      const patient = newUuid();
      const [one, two, three] = [newUuid(), newUuid(), newUuid()];
      const identifier = [{ system: 'back\\slash', value: 'tab\there\nand "there"' }];
      const agents = { author: { type: 'practitioner', reference: 'Practitioner/"x\\y"' } } as const;
      const provenance = {
        recorded: '2020-02-03T04:05:06Z',
        target: [{ reference: 'a\\b' }],
        agent: [{ who: {} }],
      };
      const events = stored(recordStream(patient), [
        created('Patient', patient, { identifier, note: 'a\\\\b\t\n' }, agents),
        created('Observation', one, { identifier }),
        created('Provenance', two, provenance),
        updated('Observation', one, 2, { identifier }),
        updated('Patient', patient, 2),
        deleted('Observation', one, 3),
        created('Observation', three),
        updated('Observation', three, 2, { identifier }),
      ]);
      const session = await openSession(database.url, { name: 'test' });
      for (const projection of [resources, history]) {
        for (const schema of ['served', 'loaded']) {
          await session.query(`drop schema if exists ${schema} cascade; ${schemaSql(projection, schema)}`);
          for (const batch of [events.slice(0, 4), events.slice(4)]) {
            if (schema === 'loaded') await projection.load(session, schema, batch);
            else await runAll(session, projection.statements(schema, batch));
          }
        }
        for (const table of projection.compared) {
          const order = (schema: string) => rows(`select t::text from ${schema}.${table} t order by 1`);
          expect(await order('loaded')).to.deep.equal(await order('served'));
          expect(await order('loaded')).to.not.have.length(0);
        }
      }
      await session.end();
    });
  });
});
