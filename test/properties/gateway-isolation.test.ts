/**
 * People see only their own records, both with an ID token below `/me` and with a session below `/app/api`: every route,
 * person and record (docs/spec/interface.md, section 7; docs/gateway.md). The gateway accepts a session only from its own
 * origin, on every route.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson } from '#src/dev-issuer/people.ts';
import { newId } from '#src/shared/ids.ts';
import { parseJson } from '#src/shared/json/json.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type GatewayCall, type SignedIn, signedIn } from '#test/support/gateway.ts';
import { type Allowed, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import {
  askAlsoAt,
  bodyOf,
  type Described,
  namesIn,
  neverOf,
  operationsIn,
  segmentFor,
  VALID,
} from '#test/support/isolation/described-routes.ts';
import { shown } from '#test/support/isolation/shown.ts';
import { type Named, SECRET } from '#test/support/isolation/theirs.ts';
import { linkOf, me } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';
import { everyNth, scaled, steadySeed } from '#test/support/scale.ts';
import { Answer } from '#test/support/service.ts';

/** The people, with the numbers of their records. */
const PEOPLE = {
  'self@example.org': [0],
  'both@example.org': [1, 2],
  'carer@example.org': [0, 1],
  'stranger@example.org': [],
  // A member of the organization that stores the records. Membership doesn't link a person to any of the records.
  'member@example.org': [],
} as const satisfies Readonly<Record<string, readonly number[]>>;
type Person = keyof typeof PEOPLE;
const NAMES = [
  'self@example.org',
  'both@example.org',
  'carer@example.org',
  'stranger@example.org',
  'member@example.org',
] as const;
const RECORDS = [0, 1, 2, 3] as const;

/** A record's values, by the name of the path parameter. */
type OfRecord = ReadonlyMap<string, Named>;

const plain = (id: string): Named => ({ type: '', id, marker: `never-${id}` });
const pathOf = (path: string, values: ReadonlyMap<string, Named | undefined>): string =>
  namesIn(path).reduce((text, name) => text.replace(`{${name}}`, segmentFor(name, values)), path);

describe('isolation of people', () => {
  let service: InProcess;
  let granting: Granting;
  let owner: AdminUser;
  let project: string;
  let all: readonly Described[];
  let mine: readonly Described[];
  const records: OfRecord[] = [];
  const grants: Allowed[] = [];
  const sessions = new Map<Person, SignedIn>();
  const tokens = new Map<Person, string>();

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Clinic' });
    project = (await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' })).id;
    const { key } = await owner.done('POST', `/projects/${project}/keys`, {
      name: 'k',
      environment: 'sandbox',
    });
    const application = await granting.register(owner, project);
    for (const n of RECORDS) {
      const made = await service.fhir('/Patient', {
        method: 'POST',
        key,
        body: JSON.stringify({
          resourceType: 'Patient',
          name: [{ family: `${SECRET}-${n}` }],
          birthDate: '1957-03-14',
        }),
      });
      const record = String(made.json.id);
      const allowed = await granting.allow(application, record);
      expect((await service.fhir('/Observation', { key: allowed.token })).status).to.equal(200);
      const summary = `/Patient/${allowed.patient}/$summary`;
      expect((await service.fhir(summary, { key: allowed.token })).status).to.equal(200);
      const receipts = 'select id from operations.receipt where record = $1';
      const [receipt] = (await service.pool.query<{ id: string }>(receipts, [record])).rows;
      if (receipt === undefined) throw new Error('the summary has no receipt');
      const links = NAMES.filter((name) => (PEOPLE[name] as readonly number[]).includes(n));
      for (const name of links) {
        const isSelf = PEOPLE[name][0] === n && name !== 'carer@example.org';
        await granting.events.append(record, linkOf(service, name, isSelf ? 'self' : 'dependent'));
      }
      grants.push(allowed);
      records.push(
        new Map([
          ['patient_id', { ...plain(record), type: 'Patient', marker: `${SECRET}-${n}` }],
          ['grant_id', plain(allowed.data.grant_id)],
          ['request_id', plain(await ask(allowed))],
          ['receipt_id', plain(receipt.id)],
        ]),
      );
    }
    const issuer = new DevIssuer(service.pool, devIssuerUrl(service.url));
    for (const name of NAMES) {
      sessions.set(name, await signedIn(service, name));
      tokens.set(name, await issuer.idToken(findPerson(name)));
      await eventually(
        async () =>
          (await me(service, name, '/patients?environment=sandbox')).json.total === PEOPLE[name].length,
      );
    }
    for (const [n, record] of records.entries()) {
      const path = `/patients/${record.get('patient_id')?.id}/shl`;
      const person = NAMES.find((name) => (PEOPLE[name] as readonly number[]).includes(n));
      const made = person && (await me(service, person, path, 'POST', { content: 'summary' }));
      if (made !== undefined) expect(made.status, JSON.stringify(made.json)).to.equal(201);
      records[n] = new Map([...record, ['link_id', plain(String(made?.json.id ?? newId('shl_')))]]);
    }
    const { issuer: of, subject, email } = await signIn(service, 'member@example.org');
    await owner.done('POST', `/organizations/${organization}/members`, {
      issuer: of,
      subject,
      email,
      role: 'admin',
    });
    all = operationsIn(parseJson(await (await fetch(`${service.url}/openapi.json`)).text()).value).filter(
      ({ path }) => /^\/(?:me|admin|v1|fhir\/R4)(?:\/|$)/.test(path),
    );
    mine = all.filter(
      ({ path }) => path.startsWith('/me/') && namesIn(path).some((name) => records[0]?.has(name)),
    );
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  /**
   * Writes an access request for a record, given by its pairwise id.
   * @returns the request's id
   */
  async function ask({ application, patient }: Allowed): Promise<string> {
    const id = newId('areq_');
    await service.pool.query(
      `with turn as (
         insert into operations.access_request_turn (sha256, asked, newest) values (sha256($1::bytea), array[now()], $2)
       )
       insert into operations.access_request (id, sha256, turn, application_id, client_id, project, environment, sector,
         hint_kind, hint, scope, resource, created_at, expires_at)
       select $2, sha256($1::bytea || 'x'), sha256($1::bytea), a.id, a.client_id, a.project, 'sandbox', a.id,
              'patient', $3, 'openid patient/*.rs', '{}', now(), now() + interval '1 hour'
         from projects.application a where a.id = $4`,
      [Buffer.from(id), id, patient, application.applicationId],
    );
    return id;
  }

  /** Returns what a request contains in addition to its path. */
  const sent = ({ path, method, operation }: Described): GatewayCall => {
    const { body, headers = {} } = bodyOf(operation, '', VALID[path]?.[method]?.body);
    return { method, headers, ...(body === undefined ? {} : { body }) };
  };

  async function asked(
    person: Person,
    way: 'token' | 'session',
    of: Described,
    values: OfRecord,
  ): Promise<Answer> {
    const path = pathOf(of.path, values) + of.query;
    const { method = 'GET', body, headers = {} } = sent(of);
    const session = sessions.get(person);
    if (session === undefined) throw new Error(`${person} is not signed in`);
    if (way === 'session')
      return session.ask(path, { method, headers, ...(body === undefined ? {} : { body }) });
    const response = await fetch(service.url + path, {
      method,
      headers: { Authorization: `Bearer ${tokens.get(person)}`, ...headers } as Record<string, string>,
      ...(typeof body === 'string' ? { body } : {}),
    });
    return new Answer(response.status, response.headers, await response.text());
  }

  /** Returns the names of the values in an answer that come from other people's records. */
  function leaks(person: Person, text: string, besides: OfRecord): string[] {
    const own = new Set<number>(PEOPLE[person]);
    const named = new Set([...besides.values()].map(({ id }) => id));
    return records.flatMap((record, n) =>
      own.has(n)
        ? []
        : [...record.values()].flatMap(({ id, marker }) =>
            [...(named.has(id) ? [] : [id]), marker].filter((each) => text.includes(each)),
          ),
    );
  }

  it('others’ records, grants and requests answer like those that never were; own ones the same both ways', async function () {
    this.timeout(600_000);
    expect(mine.map(({ path }) => path)).to.include.members([
      '/me/patients/{patient_id}',
      '/me/patients/{patient_id}/grants',
      '/me/patients/{patient_id}/access-log',
      '/me/patients/{patient_id}/receipts/{receipt_id}',
      '/me/access-requests/{request_id}/approve',
    ]);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...mine),
        fc.constantFrom(...NAMES),
        fc.constantFrom(...RECORDS),
        fc.constantFrom(...RECORDS),
        fc.constantFrom('token' as const, 'session' as const),
        async (route, person, patient, child, way) => {
          const own = new Set<number>(PEOPLE[person]);
          const [record, other] = [records[patient], records[child]];
          if (record === undefined || other === undefined) throw new Error('no record');
          const patientId = record.get('patient_id');
          if (patientId === undefined) throw new Error('no patient');
          const values = new Map([...other, ['patient_id', patientId] as const]);
          const names = namesIn(route.path);
          // All parameters must refer to the same record of the person.
          const parts = names.map((name) => (name === 'patient_id' ? patient : child));
          const isOwn = own.has(parts[0] ?? -1) && new Set(parts).size === 1;
          // Other tests cover changes to one's own records, and parameters that don't occur in these records.
          if (isOwn && (route.method !== 'GET' || !names.every((name) => record.has(name)))) return;
          const answer = await asked(person, way, route, values);
          expect(leaks(person, answer.text, values), `${route.method} ${route.path}`).to.deep.equal([]);
          if (isOwn) {
            const [both, unlike] = [
              await asked(person, way === 'token' ? 'session' : 'token', route, values),
              new Set([200, 501]),
            ];
            expect(unlike.has(answer.status), `${route.path}: ${answer}`).to.equal(true);
            expect([both.status, both.text]).to.deep.equal([answer.status, answer.text]);
            return;
          }
          expect(answer.status, `${route.method} ${route.path} of ${person}: ${answer}`).to.equal(404);
          // The patient id is kept if it belongs to the person; every other parameter is replaced by an id that never existed.
          const kept = names.includes('patient_id') && own.has(patient);
          const nevers = new Map(
            [...values].map(([name, value]) => [
              name,
              kept && name === 'patient_id' ? value : neverOf(value),
            ]),
          );
          const never = await asked(person, way, route, nevers);
          expect(shown(answer, ...values.values())).to.equal(shown(never, ...nevers.values()));
        },
      ),
      { seed: steadySeed(), numRuns: scaled(1_500, 40) },
    );
  });

  it('lists own records alone', async () => {
    for (const person of NAMES)
      for (const way of ['token', 'session'] as const)
        for (const path of ['/me/patients', '/me/access-requests']) {
          const list = all.find((each) => each.path === path && each.method === 'GET');
          if (list === undefined) throw new Error(`no ${path}`);
          const answer = await asked(
            person,
            way,
            { ...list, path: `${path}?environment=sandbox` },
            new Map(),
          );
          expect(answer.status, answer.text).to.equal(200);
          expect(leaks(person, answer.text, new Map()), `${person} ${path}`).to.deep.equal([]);
          expect(answer.json.data, `${person} ${path}`).to.have.length(PEOPLE[person].length);
        }
  });

  it('no session opens a project’s data but its members’', async () => {
    const record = records[0] ?? new Map();
    const routes = askAlsoAt(all, toInstant(nowMicros())).filter(
      ({ path }) =>
        /^\/(?:v1|fhir)/.test(path) &&
        /\{(?:patient_id|rid)\}/.test(path) &&
        !/\{doc_id|\/(?:ValueSet|CodeSystem|ConceptMap)\//.test(path),
    );
    expect(routes.length).to.be.greaterThan(20);
    for (const person of ['self@example.org', 'stranger@example.org'] as const)
      for (const route of routes) {
        const values = new Map([...record, ['rid', record.get('patient_id')] as const]);
        const { method, body, headers } = sent(route);
        const session = sessions.get(person);
        const answer = await session?.ask(pathOf(route.path, values) + route.query, {
          ...(method === undefined ? {} : { method }),
          ...(body === undefined ? {} : { body }),
          headers: { ...headers, 'X-Service-Project': project },
        });
        expect(answer?.status, `${route.method} ${route.path}: ${answer}`).to.be.oneOf([404, 405]);
        expect(leaks(person, answer?.text ?? '', values)).to.deep.equal([]);
      }
  });

  it('every route refuses other origins, missing headers, tokens at the gateway and sessions elsewhere', async function () {
    this.timeout(600_000);
    const session = sessions.get('member@example.org');
    const token = tokens.get('member@example.org') ?? '';
    if (session === undefined) throw new Error('nobody is signed in');
    const faults: readonly (readonly [string, Readonly<Record<string, string | undefined>>, number])[] = [
      ['another site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
      ['a neighbouring site', { 'Sec-Fetch-Site': 'same-site' }, 403],
      ['another origin', { 'Sec-Fetch-Site': undefined, Origin: 'https://evil.example' }, 403],
      ['no origin', { 'Sec-Fetch-Site': undefined }, 403],
      ['no header', { 'X-Service-Session': undefined }, 403],
      ['no session', { Cookie: undefined }, 401],
      ['a token', { Cookie: undefined, Authorization: `Bearer ${token}` }, 403],
      ['a token beside the session', { Authorization: `Bearer ${token}` }, 400],
      ['a key', { Cookie: undefined, 'X-Api-Key': service.key }, 403],
    ];
    const record = records[0] ?? new Map();
    const values = new Map([...record, ['rid', record.get('patient_id')] as const]);
    const texts: string[] = [];
    for (const [at, route] of all.entries()) {
      const path = pathOf(route.path, values) + route.query;
      const { method = 'GET', body, headers } = sent(route);
      for (const [what, other, status] of everyNth(faults, 3, at)) {
        const answer = await session.ask(path, {
          method,
          headers: { 'X-Service-Project': project, ...headers, ...other },
          ...(body === undefined ? {} : { body }),
        });
        expect(answer.status, `${what}: ${route.method} ${route.path}`).to.equal(status);
        expect(answer.headers.get('access-control-allow-origin'), route.path).to.equal(null);
        texts.push(answer.text);
      }
      const elsewhere = await fetch(service.url + path, {
        method,
        headers: {
          Cookie: `annal_session=${session.secret}`,
          'Sec-Fetch-Site': 'same-origin',
          'X-Service-Session': '1',
          ...headers,
        } as Record<string, string>,
        ...(typeof body === 'string' ? { body } : {}),
      });
      if (takesCredential(route)) expect(elsewhere.status, `${route.method} ${route.path}`).to.equal(401);
    }
    const told = texts.join('\n');
    for (const { record: id, patient } of grants) expect(told).to.not.include(id).and.not.include(patient);
    expect(told).to.not.include(SECRET);
  });
});

const takesCredential = ({ operation }: Described): boolean =>
  Array.isArray(operation.security) && operation.security.length > 0;
