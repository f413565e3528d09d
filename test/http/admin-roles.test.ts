/**
 * Every route below `/admin` with every role, in both environments: docs/admin.md, "Who may do what". A route that isn't in
 * the table fails the test, so every new route must state who may use it.
 */
import { expect } from 'chai';
import { isObject, parseJson } from '#src/shared/json/json.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type SignedIn, signedIn } from '#test/support/gateway.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import {
  bodyOf,
  type Described,
  namesIn,
  operationsIn,
  VALID,
} from '#test/support/isolation/described-routes.ts';
import { newPatient } from '#test/support/me.ts';

type Role = 'owner' | 'admin' | 'developer' | 'auditor';
/** The roles that are sufficient. */
const WHO = {
  members: ['owner', 'admin', 'developer', 'auditor'],
  developers: ['owner', 'admin', 'developer'],
  auditors: ['owner', 'admin', 'auditor'],
  admins: ['owner', 'admin'],
  owners: ['owner'],
  operators: [],
} as const satisfies Readonly<Record<string, readonly Role[]>>;
type Who = keyof typeof WHO;

/**
 * Maps a path and a method to who may use the route, or to a pair (sandbox, production) if the environments differ. `self`
 * means that all people may use it for themselves.
 */
const MAY: Readonly<Record<string, Readonly<Record<string, Who | readonly [Who, Who] | 'self'>>>> = {
  '/admin/config': { GET: 'self' },
  '/admin/sso/discover': { GET: 'self' },
  '/admin/sandbox/quickstart': { POST: 'self' },
  '/admin/invitations': { GET: 'self' },
  '/admin/invitations/{invitation_id}/accept': { POST: 'self' },
  '/admin/organizations': { GET: 'self', POST: 'self' },
  '/admin/organizations/{org_id}': { GET: 'members' },
  '/admin/organizations/{org_id}/verify': { POST: 'owners' },
  '/admin/organizations/{org_id}/members': { GET: 'members', POST: 'admins', DELETE: 'admins' },
  '/admin/organizations/{org_id}/invitations': { GET: 'members', POST: 'admins' },
  '/admin/organizations/{org_id}/invitations/{invitation_id}': { DELETE: 'admins' },
  '/admin/organizations/{org_id}/sso': { PUT: 'admins' },
  '/admin/organizations/{org_id}/projects': { GET: 'members', POST: 'admins' },
  '/admin/projects/{project_id}': { GET: 'members', DELETE: 'admins' },
  '/admin/projects/{project_id}/production-requests': { GET: 'members', POST: 'admins' },
  '/admin/projects/{project_id}/keys': { GET: 'members', POST: ['developers', 'admins'] },
  '/admin/keys/{key_id}': { DELETE: ['developers', 'admins'] },
  '/admin/projects/{project_id}/tokens': { POST: ['developers', 'admins'] },
  '/admin/projects/{project_id}/applications': { GET: 'members', POST: 'admins' },
  '/admin/applications/{application_id}': { PATCH: 'admins', DELETE: 'admins' },
  '/admin/applications/{application_id}/branding': { PUT: 'admins' },
  '/admin/applications/{application_id}/branding/logo': { PUT: 'admins', DELETE: 'admins' },
  '/admin/applications/{application_id}/trust': { POST: 'operators' },
  '/admin/applications/{application_id}/secrets': { POST: 'admins' },
  '/admin/applications/{application_id}/scopes': { GET: 'members' },
  '/admin/applications/{application_id}/consent-page': { GET: 'members' },
  '/admin/projects/{project_id}/patients': { GET: ['members', 'auditors'] },
  '/admin/projects/{project_id}/patients/{patient_id}/record': { GET: ['members', 'auditors'] },
  '/admin/projects/{project_id}/patients/{patient_id}/overview': { GET: ['members', 'auditors'] },
  '/admin/projects/{project_id}/patients/{patient_id}/moments': { GET: ['members', 'auditors'] },
  '/admin/projects/{project_id}/patients/{patient_id}/changes': { GET: ['members', 'auditors'] },
  '/admin/projects/{project_id}/patients/{patient_id}/timeline': { GET: ['members', 'auditors'] },
  '/admin/projects/{project_id}/patients/{patient_id}/versions/{resource_type}/{resource_id}': {
    GET: ['members', 'auditors'],
  },
  '/admin/projects/{project_id}/consents': { GET: ['members', 'auditors'] },
  '/admin/projects/{project_id}/sandbox': { GET: 'members' },
  '/admin/projects/{project_id}/sandbox/reset': { POST: 'developers' },
  '/admin/projects/{project_id}/logs': { GET: 'members' },
  '/admin/projects/{project_id}/logs/{service_request_id}': { GET: 'members' },
  '/admin/projects/{project_id}/events': { GET: 'auditors' },
  '/admin/projects/{project_id}/events/{event_id}': { GET: 'auditors' },
  '/admin/projects/{project_id}/access-log': { GET: 'auditors' },
  '/admin/projects/{project_id}/receipts/{receipt_id}': { GET: 'auditors' },
  '/admin/projects/{project_id}/exports': { POST: 'auditors' },
  '/admin/projects/{project_id}/exports/key': { GET: 'auditors' },
  '/admin/projects/{project_id}/takebacks': { GET: 'admins', POST: 'admins' },
  '/admin/projects/{project_id}/takebacks/{takeback_id}': { GET: 'admins' },
  '/admin/projects/{project_id}/takebacks/{takeback_id}/start': { POST: 'admins' },
  '/admin/projects/{project_id}/takebacks/{takeback_id}/undo': { POST: 'admins' },
  '/admin/projects/{project_id}/usage': { GET: 'members' },
  '/admin/projects/{project_id}/webhooks': { GET: ['developers', 'admins'], POST: ['developers', 'admins'] },
  // A project's job can be read only by the project's auditors, and doesn't exist for anyone else (`verifications and
  // checkpoints over HTTP`).
  '/admin/operations/verifications/{job_id}': { GET: 'self' },
  '/admin/operations/verifications/{job_id}/cancel': { POST: 'self' },
  '/admin/webhooks/{endpoint_id}': { PATCH: ['developers', 'admins'], DELETE: ['developers', 'admins'] },
  '/admin/webhooks/{endpoint_id}/rotate': { POST: ['developers', 'admins'] },
  '/admin/webhooks/{endpoint_id}/ping': { POST: ['developers', 'admins'] },
  '/admin/webhooks/{endpoint_id}/replay': { POST: ['developers', 'admins'] },
  '/admin/webhooks/{endpoint_id}/deliveries/{delivery_id}/redeliver': { POST: ['developers', 'admins'] },
  '/admin/webhooks/{endpoint_id}/deliveries': { GET: ['developers', 'admins'] },
};

/** Routes that are older than the requirement to give a reason. */
const OLDER = /^\/patients(?:\?|\/[^/]+\/record$)/;
const REASON = { 'X-Service-Reason': 'Case%207' };

/** Reads of records that need a reason in production, through the gateway, each with whether the access log records it. */
const READS = [
  ['/patients?environment=production', true],
  ['/patients/{patient_id}/record', true],
  ['/patients/{patient_id}/overview', true],
  // Shows when and how often the record changed, but none of its content.
  ['/patients/{patient_id}/moments', false],
  ['/patients/{patient_id}/changes', true],
  ['/patients/{patient_id}/timeline', true],
  ['/patients/{patient_id}/versions/Patient/{patient_id}', true],
] as const;

describe('admin: every route with every role', () => {
  let service: InProcess;
  let owner: AdminUser;
  let people: ReadonlyMap<Role, AdminUser>;
  let strangers: readonly AdminUser[];
  let operator: AdminUser;
  let session: SignedIn;
  let project: string;
  let described: readonly Described[];
  /** Maps an environment to the values of path parameters. */
  const ids: Record<string, Readonly<Record<string, string>>> = {};

  before(async () => {
    service = await startInProcess();
    owner = await signIn(service, 'owner@clinic.example');
    operator = await signIn(service, 'developer@example.org');
    session = await signedIn(service, 'auditor@clinic.example');
    const org = (await owner.done('POST', '/organizations', { name: 'Clinic' })).id;
    project = (await owner.done('POST', `/organizations/${org}/projects`, { name: 'Pilot' })).id;
    const members = await Promise.all(
      (['admin', 'developer', 'auditor'] as const).map(async (role) => {
        const person = await signIn(service, `${role}@clinic.example`);
        const { issuer, subject, email } = person;
        await owner.done('POST', `/organizations/${org}/members`, { issuer, subject, email, role });
        return [role, person] as const;
      }),
    );
    people = new Map<Role, AdminUser>([['owner', owner], ...members]);
    // An owner and an auditor of another organization.
    const other = await signIn(service, 'owner@elsewhere.example');
    const elsewhere = (await other.done('POST', '/organizations', { name: 'Elsewhere' })).id;
    const theirs = await signIn(service, 'auditor@elsewhere.example');
    const { issuer, subject } = theirs;
    await other.done('POST', `/organizations/${elsewhere}/members`, { issuer, subject, role: 'auditor' });
    strangers = [other, theirs, operator];
    for (const environment of ['sandbox', 'production']) {
      const key = await owner.done('POST', `/projects/${project}/keys`, { name: 'k', environment });
      const application = await owner.done('POST', `/projects/${project}/applications`, {
        name: 'Diary',
        environment,
        kind: 'public',
        redirect_uris: ['https://diary.example/back'],
        scopes: ['patient/*.rs'],
      });
      const endpoint = await owner.done('POST', `/projects/${project}/webhooks`, {
        url: 'https://hooks.example.org/annal',
        events: ['*'],
        environment,
      });
      const patient_id = await newPatient(service, key.key);
      ids[environment] = {
        org_id: org,
        project_id: project,
        key_id: key.id,
        application_id: application.id,
        endpoint_id: endpoint.id,
        patient_id,
        resource_type: 'Patient',
        resource_id: patient_id,
      };
    }
    const answer = await fetch(`${service.url}/openapi.json`);
    described = operationsIn(parseJson(await answer.text()).value).filter(({ path }) =>
      path.startsWith('/admin/'),
    );
  });
  after(() => service?.stop());

  const mayAt = (path: string, method: string, environment: string): Who | 'self' | undefined => {
    const may = MAY[path]?.[method] ?? (path.startsWith('/admin/operations/') ? 'operators' : undefined);
    return typeof may === 'string' || may === undefined ? may : may[environment === 'sandbox' ? 0 : 1];
  };
  /** Sends the minimum that the route accepts. */
  const send = async (who: AdminUser, { method, path, query, operation }: Described, environment: string) => {
    const values = ids[environment] ?? {};
    const at = path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'x').slice('/admin'.length);
    const { parameters } = operation;
    const takes = (Array.isArray(parameters) ? parameters : []).filter(isObject).map(({ name }) => name);
    const asked = takes.includes('environment')
      ? `${query}${query === '' ? '?' : '&'}environment=${environment}`
      : query;
    const { body } = bodyOf(operation, '', VALID[path]?.[method]?.body);
    const least = body === undefined ? undefined : JSON.parse(body);
    return who.ask(
      method,
      at + asked,
      isObject(least) && 'environment' in least ? { ...least, environment } : least,
      REASON,
    );
  };

  it('says of each who may use it', () => {
    const unsaid = described.filter(({ path, method }) => mayAt(path, method, 'sandbox') === undefined);
    expect(unsaid.map(({ path, method }) => `${method} ${path}`)).to.deep.equal([]);
  });

  for (const environment of ['sandbox', 'production'])
    it(`lets those use it, and nobody else, in ${environment}`, async () => {
      for (const one of described) {
        const may = mayAt(one.path, one.method, environment);
        if (may === undefined || may === 'self') continue;
        const about = `${one.method} ${one.path}`;
        // A record that isn't open to the role looks as if it didn't exist.
        const refused = environment === 'production' && one.path.includes('{patient_id}') ? 404 : 403;
        for (const [role, person] of people) {
          const isAllowed = WHO[may].some((each) => each === role);
          // Allowed roles are tried only for reads, because the writes have their own tests.
          if (isAllowed && one.method !== 'GET') continue;
          const { status } = await send(person, one, environment);
          if (!isAllowed) expect(status, `${role} ${about}`).to.equal(refused);
          else
            expect(status, `${role} ${about}`).to.be.oneOf(namesIn(one.path).length > 1 ? [200, 404] : [200]);
        }
        for (const stranger of strangers) {
          if (may === 'operators' && stranger === operator) continue;
          const expected = one.path.startsWith('/admin/operations/') ? 403 : 404;
          const isTrust = may === 'operators' && expected === 404;
          const { status } = await send(stranger, one, environment);
          expect(status, `${stranger.email} ${about}`).to.be.oneOf(isTrust ? [403, 404] : [expected]);
        }
        if (may === 'operators' && one.method === 'GET')
          expect((await send(operator, one, environment)).status, about).to.be.oneOf(
            namesIn(one.path).length > 0 ? [200, 404] : [200],
          );
      }
    });

  it('asks for a reason before a record of production is read, which its access log shows at once', async () => {
    const { patient_id: patient = '' } = ids.production ?? {};
    const count = async () =>
      (
        await service.pool.query<{ n: number }>(
          'select count(*)::int as n from operations.access_entry where record = $1 and purpose = $2',
          [patient, 'Case 7'],
        )
      ).rows[0]?.n ?? 0;
    for (const [read, isNoted] of READS) {
      const path = `/admin/projects/${project}${read.replaceAll('{patient_id}', patient)}`;
      const before = await count();
      expect((await session.ask(path)).status, read).to.equal(400);
      expect(await count(), read).to.equal(before);
      const given = await session.ask(path, { headers: REASON });
      expect(given.status, `${read} ${given.text}`).to.equal(200);
      expect(await count(), read).to.equal(isNoted ? before + 1 : before);
      // The same with an ID token. Routes that are older than the requirement to give a reason work without one.
      const auditor = people.get('auditor');
      const bare = await auditor?.ask('GET', path.slice('/admin'.length));
      expect(bare?.status, read).to.equal(OLDER.test(read) ? 200 : 400);
      const reasoned = await auditor?.ask('GET', path.slice('/admin'.length), undefined, REASON);
      expect(reasoned?.status, read).to.equal(200);
    }
  });
});
