/** A project's patients, their records at any time, and consents, through the admin interface. */
import { expect } from 'chai';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

describe('admin: patients', () => {
  let service: InProcess;
  let owner: AdminUser;
  let developer: AdminUser;
  let project: string;
  let keys: { readonly sandbox: string; readonly production: string };

  before(async () => {
    service = await startInProcess();
    owner = await signIn(service, 'owner@clinic.example');
    developer = await signIn(service, 'dev@clinic.example');
    const made = await owner.done('POST', '/sandbox/quickstart', {});
    project = made.project.id;
    const { issuer, subject } = developer;
    await owner.done('POST', `/organizations/${made.organization.id}/members`, {
      issuer,
      subject,
      role: 'developer',
    });
    const live = { name: 'live', environment: 'production' };
    const { key } = await owner.done('POST', `/projects/${project}/keys`, live);
    keys = { sandbox: made.key, production: key };
  });
  after(() => service.stop());

  const create = async (key: string, resource: object) => {
    const { resourceType } = resource as { resourceType: string };
    const answer = await service.fhir(`/${resourceType}`, {
      key,
      method: 'POST',
      body: JSON.stringify(resource),
    });
    if (answer.status !== 201) throw new Error(String(answer));
    return JSON.parse(answer.text) as { id: string; meta: { lastUpdated: string } };
  };
  const patient = (family: string) => ({
    resourceType: 'Patient',
    name: [{ given: ['Ada', 'Mary'], family }],
    birthDate: '1980-02-03',
    gender: 'female',
  });
  const pathOf = (id: string, query = '') => `/projects/${project}/patients/${id}/record${query}`;

  it('are listed by environment, newest first, in pages', async () => {
    const ids: string[] = [];
    for (const name of ['A', 'B', 'C']) ids.unshift((await create(keys.sandbox, patient(name))).id);
    const live = await create(keys.production, patient('Live'));
    const first = await developer.done('GET', `/projects/${project}/patients?limit=2`);
    expect(first.total).to.equal(3);
    const next = await developer.done(
      'GET',
      `/projects/${project}/patients?limit=2&cursor=${first.next_cursor}`,
    );
    expect([...first.data, ...next.data].map(({ id }) => id)).to.deep.equal(ids);
    expect(next.next_cursor).to.equal(null);
    expect(first.data[0]).to.deep.include({
      given: 'Ada Mary',
      family: 'C',
      birth_date: '1980-02-03',
      gender: 'female',
      version: 1,
      fhir: `Patient/${ids[0]}`,
    });
    const production = await owner.done('GET', `/projects/${project}/patients?environment=production`);
    expect(production.data.map(({ id }) => id)).to.deep.equal([live.id]);
    await service.fhir(`/Patient/${ids[0]}`, { key: keys.sandbox, method: 'DELETE' });
    expect((await developer.done('GET', `/projects/${project}/patients`)).total).to.equal(2);
  });

  it('have records as Bundles: now, and at any moment', async () => {
    const made = await create(keys.sandbox, patient('Before'));
    const observation = await create(keys.sandbox, {
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'weight' },
      subject: { reference: `Patient/${made.id}` },
      valueQuantity: { value: 61, unit: 'kg' },
    });
    // Decimals keep their literals.
    const body = JSON.stringify({
      resourceType: 'Observation',
      id: observation.id,
      status: 'final',
      code: { text: 'weight' },
      subject: { reference: `Patient/${made.id}` },
      valueQuantity: { value: 0, unit: 'kg' },
    }).replace('"value":0', '"value":61.50');
    await service.fhir(`/Observation/${observation.id}`, { key: keys.sandbox, method: 'PUT', body });
    const now = await developer.ask('GET', pathOf(made.id));
    expect(now.headers.get('content-type')).to.contain('application/fhir+json');
    expect(now.text).to.contain('"value":61.50');
    // The URLs that references in the record's resources resolve to.
    const { entry } = JSON.parse(now.text) as { entry: { fullUrl: string }[] };
    expect(entry.map(({ fullUrl }) => fullUrl)).to.deep.equal([
      `${service.url}/fhir/R4/Patient/${made.id}`,
      `${service.url}/fhir/R4/Observation/${observation.id}`,
    ]);
    const entries = (text: string) =>
      (
        JSON.parse(text) as { entry: { resource: { resourceType: string; meta: { versionId: string } } }[] }
      ).entry.map(({ resource }) => `${resource.resourceType} ${resource.meta.versionId}`);
    expect(entries(now.text)).to.deep.equal(['Patient 1', 'Observation 2']);
    const at = async (instant: string) =>
      developer.ask('GET', pathOf(made.id, `?at=${encodeURIComponent(instant)}`));
    expect(entries((await at(made.meta.lastUpdated)).text)).to.deep.equal(['Patient 1']);
    expect(entries((await at(observation.meta.lastUpdated)).text)).to.deep.equal([
      'Patient 1',
      'Observation 1',
    ]);
    expect((await at('2020-01-01')).status).to.equal(404);
    for (const wrong of ['yesterday', '2999-01-01', '2026-02-30', 'revision:1', '2026-01-01T00:00:00']) {
      const answer = await at(wrong);
      expect([answer.status, JSON.parse(answer.text).error.field], wrong).to.deep.equal([422, 'query.at']);
    }
  });

  it('show production to admins alone: to a developer such a patient is unknown', async () => {
    const live = await create(keys.production, patient('Secret'));
    expect((await owner.ask('GET', pathOf(live.id))).status).to.equal(200);
    const [hidden, unknown] = [
      await developer.ask('GET', pathOf(live.id)),
      await developer.ask('GET', pathOf('0198c0de-0000-7000-8000-000000000001')),
    ];
    const alike = (text: string) => text.replace(/req_[\w-]+/, '').replace(/Patient\/[0-9a-f-]{36}/, '');
    expect([hidden.status, alike(hidden.text)]).to.deep.equal([404, alike(unknown.text)]);
  });

  it('of another project are unknown, purged ones too', async () => {
    const foreign = await create(service.key, patient('Foreign'));
    expect((await owner.ask('GET', pathOf(foreign.id))).status).to.equal(404);
    expect((await owner.ask('GET', pathOf('not-an-id'))).status).to.equal(404);
    const gone = await create(keys.sandbox, patient('Gone'));
    const purged = await service.fhir(`/Patient/${gone.id}?_purge=true`, {
      key: keys.sandbox,
      method: 'DELETE',
    });
    expect(purged.status).to.equal(204);
    expect((await owner.ask('GET', pathOf(gone.id))).status).to.equal(404);
  });

  it('still have a record after the Patient was deleted', async () => {
    const { id } = await create(keys.sandbox, patient('Deleted'));
    await service.fhir(`/Patient/${id}`, { key: keys.sandbox, method: 'DELETE' });
    const answer = await owner.ask('GET', pathOf(id));
    expect([answer.status, JSON.parse(answer.text).entry]).to.deep.equal([200, []]);
  });

  it('have given no consents yet', async () => {
    expect(await developer.done('GET', `/projects/${project}/consents`)).to.deep.equal({
      data: [],
      total: 0,
      next_cursor: null,
    });
  });
});
