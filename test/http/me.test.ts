/** `/me`: a person's records and who may use them, and what applications and projects see of those grants. */
import { expect } from 'chai';
import { openConsentQueries } from '#queries/consents/consents.ts';
import { accounts } from '#src/sandbox/accounts.ts';
import { newUuid } from '#src/shared/ids.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { expired, grantData, granted, revoked, unlinked } from '#test/support/consents.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { me as ask, identityOf, inDays, linkOf, newPatient } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { RecordEvents } from '#test/support/record-events.ts';

const PATIENTS = 12;

interface Listed {
  readonly id: string;
  readonly [name: string]: unknown;
}

describe('/me', () => {
  let service: InProcess;
  let events: RecordEvents;
  let owner: AdminUser;

  before(async () => {
    service = await startInProcess({}, { SANDBOX_PATIENTS: String(PATIENTS) });
    events = await RecordEvents.open(service.databaseUrl);
    owner = await signIn(service, 'developer@example.org');
  });
  after(async () => {
    await events?.close();
    await service?.stop();
  });

  const me = (email: string, path: string) => ask(service, email, path);
  const identity = (email: string) => identityOf(service, email);
  async function v1(path: string, key: string) {
    const response = await fetch(`${service.url}/v1${path}`, { headers: { Authorization: `Bearer ${key}` } });
    return { status: response.status, json: JSON.parse(await response.text()) };
  }
  const link = (email: string, relationship?: 'self' | 'dependent', id?: string) =>
    linkOf(service, email, relationship, id);
  const project = async (key: string) =>
    (
      await service.pool.query<{ project: string }>(
        "select project from projects.api_key where sha256 = encode(sha256($1::bytea), 'hex')",
        [Buffer.from(key)],
      )
    ).rows[0]?.project ?? '';
  const shown = async (record: string, n: number) =>
    eventually(
      async () =>
        (await service.pool.query('select from consents.grants where record = $1', [record])).rowCount === n,
    );
  const shownLinks = async (record: string) =>
    eventually(
      async () =>
        (await service.pool.query('select from consents.links where record = $1', [record])).rowCount !== 0,
    );

  it('takes an ID token and nothing else', async () => {
    for (const [credential, status] of [
      [service.key, 403],
      [`sk_test_${'x'.repeat(43)}`, 401],
      ['at_0123456789012345678901234567890123456789', 401],
    ] as const) {
      const response = await fetch(`${service.url}/me/patients`, {
        headers: { Authorization: `Bearer ${credential}` },
      });
      expect(response.status, credential.slice(0, 3)).to.equal(status);
      expect(await response.text()).to.include('this interface requires an ID token');
    }
    const session = await fetch(`${service.url}/me/patients`, { headers: { Cookie: 'session=x' } });
    expect(session.status).to.equal(401);
    expect(await session.text()).to.include('send an ID token as Authorization: Bearer <ID token>');
  });

  it('lists own records first, in pages, and a deleted one without a name', async () => {
    const email = 'mira@example.org';
    const [child, own, gone] = [
      await newPatient(service),
      await newPatient(service),
      await newPatient(service),
    ];
    await events.append(child, link(email, 'dependent'));
    await events.append(own, link(email));
    await events.append(gone, link(email, 'dependent'));
    expect((await service.fhir(`/Patient/${gone}`, { method: 'DELETE' })).status).to.equal(204);
    const { json } = await me(email, '/patients?environment=sandbox');
    expect(json).to.deep.equal({
      data: [
        { id: own, given: 'Mira Lou', family: 'Sand', birth_date: '1957-03-14', relationship: 'self' },
        { id: child, given: 'Mira Lou', family: 'Sand', birth_date: '1957-03-14', relationship: 'dependent' },
        { id: gone, given: null, family: null, birth_date: null, relationship: 'dependent' },
      ],
      total: 3,
      next_cursor: null,
    });
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const page = (await me(email, `/patients?environment=sandbox&limit=1${cursor}`)).json;
      expect([page.data.length, page.total]).to.deep.equal([1, 3]);
      ids.push(...page.data.map(({ id }) => id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(ids).to.deep.equal([own, child, gone]);
    expect((await me(email, '/patients')).json).to.deep.equal({ data: [], total: 0, next_cursor: null });
    expect((await me('stranger@example.org', '/patients?environment=sandbox')).json.total).to.equal(0);
    expect((await me(email, '/patients?environment=all')).status).to.equal(422);
  });

  it('forgets a record whose link has ended', async () => {
    const [email, id] = ['unlinked@example.org', `link_${newUuid()}`];
    const record = await newPatient(service);
    await events.append(record, link(email, 'self', id));
    await shownLinks(record);
    expect((await me(email, `/patients/${record}/grants`)).status).to.equal(200);
    await events.append(record, unlinked(id));
    expect((await me(email, '/patients?environment=sandbox')).json.total).to.equal(0);
    expect((await me(email, `/patients/${record}/grants`)).status).to.equal(404);
  });

  it('gives people of the development issuer the synthetic patients with their address, in all sandboxes', async function () {
    if (EVENTSTORE_URL !== '') this.skip(); // a log that tests share has the sandboxes of others
    const parent = accounts(new Date().toISOString().slice(0, 10), PATIENTS).find(
      ({ dependents }) => dependents.length > 0,
    );
    if (parent === undefined) throw new Error('no patient has a dependent');
    const list = async () => (await me(parent.email, '/patients?environment=sandbox')).json.data;
    const relations = async () => (await list()).map(({ relationship }) => relationship).sort();
    const one = ['dependent', ...parent.dependents.slice(1).map(() => 'dependent'), 'self'];
    await eventually(async () => (await relations()).join() === one.join());
    // The consent page offers the patients of the application's own project.
    const organization = (await owner.done('GET', '/organizations')).data[0]?.id;
    const second = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'Second' });
    await eventually(async () => (await relations()).join() === [...one, ...one].sort().join(), 60_000);
    expect((await list()).map(({ relationship }) => relationship)).to.deep.equal([
      ...['self', 'self'],
      ...Array.from({ length: 2 * (one.length - 1) }, () => 'dependent'),
    ]);
    const queries = openConsentQueries(service.pool, identity(parent.email).issuer);
    const person = { ...identity(parent.email), email: parent.email };
    const offered = await queries.listRecords(person, 'sandbox', { project: second.id });
    expect(offered.map(({ relationship }) => relationship).sort()).to.deep.equal(one);
    expect(await queries.listRecords({ ...person, issuer: 'https://idp.example' }, 'sandbox')).to.deep.equal(
      [],
    );
    // A developer can give a synthetic patient a different address, which takes effect at once.
    const [mine] = (await list()).filter(
      ({ relationship, id }) => relationship === 'self' && !offered.some((each) => each.id === id),
    );
    const patient = JSON.parse((await service.fhir(`/Patient/${mine?.id}`)).text);
    const moved = {
      ...patient,
      telecom: [{ system: 'email', value: 'Tester@Example.org' }],
    };
    expect(
      (await service.fhir(`/Patient/${mine?.id}`, { method: 'PUT', body: JSON.stringify(moved) })).status,
    ).to.equal(200);
    expect(
      (await me('tester@example.org', '/patients?environment=sandbox')).json.data.map(({ id }) => id),
    ).to.deep.equal([mine?.id]);
    expect((await relations()).filter((each) => each === 'self')).to.have.length(1);
    // A patient that a developer created isn't linked to anyone by an address.
    const own = { resourceType: 'Patient', telecom: [{ system: 'email', value: 'made@example.org' }] };
    expect((await service.fhir('/Patient', { method: 'POST', body: JSON.stringify(own) })).status).to.equal(
      201,
    );
    expect((await me('made@example.org', '/patients?environment=sandbox')).json.total).to.equal(0);
    expect((await me('tester@example.org', `/patients/${mine?.id}/grants`)).json.total).to.equal(0);
    expect((await me('tester@example.org', '/patients')).json.total).to.equal(0);
  });

  it('shows a grant to the person, to the application’s project and to nobody else', async () => {
    const email = 'grantor@example.org';
    const organization = await owner.done('POST', '/organizations', { name: 'Clinic' });
    const { id: ownProject } = await owner.done('POST', `/organizations/${organization.id}/projects`, {
      name: 'Ward',
    });
    const { key } = await owner.done('POST', `/projects/${ownProject}/keys`, {
      name: 'Ward',
      environment: 'sandbox',
      scopes: ['read', 'write'],
    });
    const [record, otherKey] = [await newPatient(service, key), await service.newProject()];
    const otherProject = await project(otherKey);
    const application = await owner.done('POST', `/projects/${ownProject}/applications`, {
      name: 'Diary',
      kind: 'public',
      redirect_uris: ['https://diary.example/callback'],
      scopes: ['patient/*.rs'],
      privacy_url: 'https://diary.example/privacy',
    });
    const of = { person: identity(email), expires_at: inDays(30) };
    const diary = { ...of, application_id: application.id, project_id: ownProject };
    const [first, second, foreign] = [
      grantData(diary),
      grantData(diary),
      grantData({ ...of, project_id: otherProject, granted_by: 'representative' }),
    ];
    const over = grantData({ ...diary, expires_at: inDays(-1) });
    await events.append(
      record,
      link(email),
      granted(first),
      revoked(first, 'replaced'),
      granted(second),
      granted(foreign),
      granted(over),
    );
    await shown(record, 4);
    const mine = (await me(email, `/patients/${record}/grants?lang=en-GB`)).json;
    expect(mine.total).to.equal(4);
    expect(mine.data.map(({ id, status }) => [id, status])).to.deep.equal([
      [over.grant_id, 'expired'],
      [foreign.grant_id, 'active'],
      [second.grant_id, 'active'],
      [first.grant_id, 'revoked'],
    ]);
    const { granted_at, ...one } = mine.data[2] ?? { id: '', granted_at: '' };
    expect(granted_at).to.match(/Z$/);
    expect(one).to.deep.equal({
      id: second.grant_id,
      status: 'active',
      purpose: 'treatment',
      application: {
        id: application.id,
        name: 'Diary',
        kind: 'public',
        organization: organization.name,
        privacy_url: 'https://diary.example/privacy',
      },
      scopes: ['patient/Observation.rs'],
      scopes_text: ['Read your observations'],
      expires_at: second.expires_at,
      revoked_at: null,
      granted_by: 'patient',
      patient: record,
      access_count: 0,
      last_access_at: null,
    });
    expect(mine.data[3]?.revoked_at).to.be.a('string');
    // In another language, the texts are the scope descriptions in that language.
    const german = (await me(email, `/patients/${record}/grants?lang=de`)).json.data[2];
    expect(german?.scopes_text).to.include('Ihre Laborwerte und Vitalwerte sowie andere Messwerte lesen');
    // The owner's key shows what its own project's applications may access, under both ids, but not what another project's
    // applications may access.
    const own = await v1(`/patients/${record}/grants`, key);
    expect(own.json.data.map(({ id }: Listed) => id)).to.deep.equal(
      [over, second, first].map(({ grant_id }) => grant_id),
    );
    expect(JSON.stringify(own.json)).to.not.include(second.patient);
    expect(
      (await v1(`/patients/${second.patient}/grants`, key)).json.data.map(({ id }: Listed) => id),
    ).to.deep.equal([second.grant_id]);
    expect((await v1(`/patients/${foreign.patient}/grants`, key)).status).to.equal(404);
    // The other project's key knows the patient only under the pairwise id.
    expect((await v1(`/patients/${record}/grants`, otherKey)).status).to.equal(404);
    const theirs = await v1(`/patients/${foreign.patient}/grants`, otherKey);
    expect([theirs.json.total, theirs.json.data[0].granted_by]).to.deep.equal([1, 'representative']);
    expect((await v1('/patients/none/grants', key)).status).to.equal(404);
    const consents = await owner.done('GET', `/projects/${ownProject}/consents?limit=2`);
    expect([consents.total, consents.data.map(({ id, patient }) => [id, patient])]).to.deep.equal([
      3,
      [over, second].map(({ grant_id, patient }) => [grant_id, patient]),
    ]);
    const rest = await owner.done(
      'GET',
      `/projects/${ownProject}/consents?limit=2&cursor=${consents.next_cursor}`,
    );
    expect(rest.data.map(({ id }) => id)).to.deep.equal([first.grant_id]);
    expect(
      (await owner.done('GET', `/projects/${ownProject}/consents?environment=production`)).total,
    ).to.equal(0);
    // Other people's records are unknown, and the record exists in only one environment.
    expect((await me('stranger@example.org', `/patients/${record}/grants`)).status).to.equal(404);
    expect((await me(email, `/patients/${record}/grants?environment=production`)).status).to.equal(404);
    expect((await me(email, '/patients/none/grants')).status).to.equal(404);
    await events.append(record, expired(over));
  });
});
