/** The role `auditor`: reads everything in a project, and changes nothing (docs/admin.md, "Who may do what"). */
import { expect } from 'chai';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type SignedIn, signedIn } from '#test/support/gateway.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { newPatient } from '#test/support/me.ts';

const REASON = { 'X-Service-Reason': 'Case%2012' };

describe('an auditor', () => {
  let service: InProcess;
  let owner: AdminUser;
  let auditor: AdminUser;
  let session: SignedIn;
  let org: string;
  let project: string;
  /** A patient and a key in the environment. */
  let sandbox: { readonly key: string; readonly keyId: string; readonly patient: string };
  let production: typeof sandbox;

  before(async () => {
    service = await startInProcess();
    owner = await signIn(service, 'owner@clinic.example');
    auditor = await signIn(service, 'audit@clinic.example');
    session = await signedIn(service, auditor.email);
    org = (await owner.done('POST', '/organizations', { name: 'Clinic' })).id;
    project = (await owner.done('POST', `/organizations/${org}/projects`, { name: 'Pilot' })).id;
    const { issuer, subject, email } = auditor;
    await owner.done('POST', `/organizations/${org}/members`, { issuer, subject, email, role: 'auditor' });
    const fill = async (environment: string) => {
      const { id, key } = await owner.done('POST', `/projects/${project}/keys`, { name: 'k', environment });
      return { key, keyId: id, patient: await newPatient(service, key) };
    };
    sandbox = await fill('sandbox');
    production = await fill('production');
  });
  after(() => service?.stop());

  const inEnvironment = (environment: string, headers: Record<string, string> = {}) => ({
    'X-Service-Project': project,
    'X-Service-Environment': environment,
    ...headers,
  });

  it('reads what the project is and did', async () => {
    for (const path of [
      `/organizations/${org}`,
      `/organizations/${org}/members`,
      `/organizations/${org}/projects`,
      `/projects/${project}`,
      `/projects/${project}/keys`,
      `/projects/${project}/applications`,
      `/projects/${project}/logs`,
      `/projects/${project}/usage`,
      `/projects/${project}/sandbox`,
      `/projects/${project}/production-requests`,
      `/projects/${project}/consents?environment=production`,
      `/projects/${project}/patients`,
      `/projects/${project}/patients/${production.patient}/record`,
    ])
      expect((await auditor.ask('GET', path)).status, path).to.equal(200);
    expect((await auditor.done('GET', `/organizations/${org}`)).role).to.equal('auditor');
    expect(await auditor.done('GET', '/config')).to.include({ operator: false });
  });

  it('creates, changes and ends nothing', async () => {
    const person = { issuer: 'https://login.example.org', subject: '1', role: 'developer' };
    const application = { name: 'Diary', kind: 'public', redirect_uris: ['https://diary.example/back'] };
    const endpoint = { url: 'https://hooks.example.org', events: ['*'], environment: 'sandbox' };
    for (const [method, path, body] of [
      ['POST', `/organizations/${org}/projects`, { name: 'x' }],
      ['POST', `/organizations/${org}/members`, person],
      ['DELETE', `/organizations/${org}/members?issuer=${owner.issuer}&subject=${owner.subject}`],
      ['PUT', `/organizations/${org}/sso`, { issuer: 'https://i.example', client_id: 'c', domains: [] }],
      ['POST', `/organizations/${org}/verify`],
      ['DELETE', `/projects/${project}`],
      ['POST', `/projects/${project}/keys`, { name: 'x', environment: 'sandbox' }],
      ['POST', `/projects/${project}/tokens`, { environment: 'sandbox' }],
      ['DELETE', `/keys/${sandbox.keyId}`],
      ['POST', `/projects/${project}/applications`, { ...application, scopes: ['patient/*.rs'] }],
      ['POST', `/projects/${project}/production-requests`, { use: 'A diary' }],
      ['POST', `/projects/${project}/sandbox/reset`],
      ['POST', `/projects/${project}/webhooks`, endpoint],
    ] as const)
      expect((await auditor.ask(method, path, body)).status, `${method} ${path}`).to.equal(403);
  });

  it('reads records of both environments on the gateway, those of production with a reason, and writes none', async () => {
    const read = (environment: string, patient: string, headers?: Record<string, string>) =>
      session.ask(`/fhir/R4/Patient/${patient}`, { headers: inEnvironment(environment, headers) });
    expect((await read('sandbox', sandbox.patient)).status).to.equal(200);
    expect((await read('production', production.patient)).status).to.equal(400);
    expect((await read('production', production.patient, REASON)).status).to.equal(200);
    for (const [environment, patient] of [
      ['sandbox', sandbox.patient],
      ['production', production.patient],
    ] as const) {
      const headers = { ...inEnvironment(environment, REASON), 'Content-Type': 'application/fhir+json' };
      const body = { resourceType: 'Patient', id: patient };
      const written = await session.ask(`/fhir/R4/Patient/${patient}`, { method: 'PUT', headers, body });
      expect(written.status, environment).to.equal(403);
      const created = await session.ask('/v1/patients', {
        method: 'POST',
        headers: inEnvironment(environment, REASON),
        body: { family: 'New' },
      });
      expect(created.status, environment).to.equal(403);
    }
  });

  it('has production where a developer doesn’t, and is no operator', async () => {
    const developer = await signIn(service, 'dev@clinic.example');
    const { issuer, subject } = developer;
    await owner.done('POST', `/organizations/${org}/members`, { issuer, subject, role: 'developer' });
    const path = `/projects/${project}/patients?environment=production`;
    const refused = await developer.ask('GET', path);
    expect([refused.status, refused.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 403 && text.includes('auditor, admin or owner'),
    );
    expect(await (await signIn(service, 'developer@example.org')).done('GET', '/config')).to.include({
      operator: true,
    });
  });
});
