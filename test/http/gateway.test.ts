/** `/app/api`: the interfaces for people who are signed in to the pages (docs/gateway.md). */
import { expect } from 'chai';
import { recordStream } from '#src/events/streams.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type SignedIn, signedIn } from '#test/support/gateway.ts';
import { Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { linkOf, me, newPatient } from '#test/support/me.ts';
import { patientVisitor, wordsOf } from '#test/support/patient-pages.ts';
import { eventually } from '#test/support/process.ts';
import { type SecondInstance, startSecondInstance } from '#test/support/second-instance.ts';

const PATIENT = { resourceType: 'Patient', name: [{ family: 'Sand' }], birthDate: '1957-03-14' };

describe('the gateway', () => {
  let service: InProcess;
  let second: SecondInstance;
  let granting: Granting;
  let owner: AdminUser;
  let organization: string;
  let project: string;
  let patient: string;
  let record: string;
  let session: SignedIn;

  const ofProject = (environment?: string) => ({
    'X-Service-Project': project,
    ...(environment === undefined ? {} : { 'X-Service-Environment': environment }),
  });
  const json = (answer: { text: string }) => JSON.parse(answer.text);

  before(async () => {
    service = await startInProcess();
    second = await startSecondInstance(service);
    granting = await Granting.open(service);
    owner = await signIn(service, 'owner@clinic.example');
    organization = (await owner.done('POST', '/organizations', { name: 'Clinic' })).id;
    project = (await owner.done('POST', `/organizations/${organization}/projects`, { name: 'Pilot' })).id;
    const { key } = await owner.done('POST', `/projects/${project}/keys`, {
      name: 'k',
      environment: 'sandbox',
    });
    patient = await newPatient(service, key);
    record = await newPatient(service);
    await granting.events.append(record, linkOf(service, 'owner@clinic.example'));
    session = await signedIn(service, 'owner@clinic.example');
    await eventually(
      async () => (await me(service, owner.email, '/patients?environment=sandbox')).json.total === 1,
    );
  });
  after(async () => {
    await granting?.close();
    await second?.close();
    await service?.stop();
  });

  it('answers as the interfaces do', async () => {
    const mine = await session.ask('/me/patients?environment=sandbox');
    expect(mine.status).to.equal(200);
    expect(json(mine)).to.deep.equal((await me(service, owner.email, '/patients?environment=sandbox')).json);
    expect(mine.headers.get('cache-control')).to.equal('no-store');
    expect(mine.headers.get('service-request-id')).to.match(/^req_/);
    expect(mine.headers.get('cross-origin-resource-policy')).to.equal('same-origin');
    expect(json(await session.ask('/admin/organizations')).data[0].id).to.equal(organization);
    const fhir = await session.ask(`/fhir/R4/Patient/${patient}`, { headers: ofProject() });
    expect([fhir.status, json(fhir).id, fhir.headers.get('etag')]).to.deep.equal([200, patient, 'W/"1"']);
    const v1 = await session.ask(`/v1/patients/${patient}`, { headers: ofProject('sandbox') });
    expect([v1.status, json(v1).family]).to.deep.equal([200, 'Sand']);
    // Errors have the format of the interface that was called.
    const gone = await session.ask('/fhir/R4/Patient/none', { headers: ofProject() });
    expect([gone.status, json(gone).resourceType]).to.deep.equal([404, 'OperationOutcome']);
    expect(json(await session.ask('/v1/patients/none', { headers: ofProject() })).error.type).to.equal(
      'not_found',
    );
    expect((await session.ask('/me/patients', { method: 'PUT', body: {} })).status).to.equal(405);
    expect((await session.ask('/fhir/R4/metadata')).status).to.equal(200);
    expect((await session.ask('/me/patients', { method: 'HEAD' })).status).to.equal(200);
  });

  it('takes the session of a page of the same origin, and nothing else', async () => {
    const path = '/me/patients?environment=sandbox';
    const origin = new URL(service.url).origin;
    const refused: readonly (readonly [string, Record<string, string | undefined>, number])[] = [
      ['another site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
      ['another origin of the site', { 'Sec-Fetch-Site': 'same-site' }, 403],
      ['the address bar', { 'Sec-Fetch-Site': 'none' }, 403],
      ['another origin', { 'Sec-Fetch-Site': undefined, Origin: 'https://evil.example' }, 403],
      ['an origin without a name', { 'Sec-Fetch-Site': undefined, Origin: 'null' }, 403],
      ['no origin', { 'Sec-Fetch-Site': undefined }, 403],
      ['its own origin, but of another site', { 'Sec-Fetch-Site': 'cross-site', Origin: origin }, 403],
      ['no header', { 'X-Service-Session': undefined }, 403],
      ['an empty header', { 'X-Service-Session': '' }, 403],
      ['no cookie', { Cookie: undefined }, 401],
      ['an unknown cookie', { Cookie: `annal_session=${'x'.repeat(43)}` }, 401],
      ['a token beside the cookie', { Authorization: `Bearer ${owner.token}` }, 400],
      ['an ID token', { Cookie: undefined, Authorization: `Bearer ${owner.token}` }, 403],
      ['a key', { Cookie: undefined, 'X-Api-Key': service.key }, 403],
      ['an unknown key', { Cookie: undefined, 'X-Api-Key': `sk_test_${'x'.repeat(43)}` }, 401],
      ['an ID token in X-Api-Key', { Cookie: undefined, 'X-Api-Key': owner.token }, 401],
      ['a key beside the cookie', { 'X-Api-Key': service.key }, 400],
      ['basic credentials', { Cookie: undefined, Authorization: 'Basic eDp5' }, 401],
    ];
    for (const [what, headers, status] of refused) {
      for (const inner of [path, `/fhir/R4/Patient/${patient}`, '/admin/organizations', '/v1/patients']) {
        const answer = await session.ask(inner, { headers: { ...ofProject(), ...headers } });
        expect(answer.status, `${what} ${inner}`).to.equal(status);
        expect(answer.text, what).to.not.include(patient).and.not.include(record);
        expect(answer.headers.get('access-control-allow-origin'), what).to.equal(null);
        if (status === 401) expect(answer.headers.get('www-authenticate')).to.equal('Cookie realm="annal"');
      }
    }
    const own = await session.ask(path, { headers: { 'Sec-Fetch-Site': undefined, Origin: origin } });
    expect([own.status, own.headers.get('access-control-allow-origin')]).to.deep.equal([200, null]);
    const query = await session.ask(`${path}&access_token=${owner.token}`);
    expect(query.status).to.equal(400);
    // A preflight request from another origin reveals nothing.
    const preflight = await fetch(`${service.url}/app/api/me/patients`, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://evil.example',
        'Access-Control-Request-Method': 'GET',
        'Sec-Fetch-Site': 'cross-site',
      },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).to.deep.equal([
      403,
      null,
    ]);
  });

  it('is the only place where a session works', async () => {
    const headers = {
      Cookie: `annal_session=${session.secret}`,
      'Sec-Fetch-Site': 'same-origin',
      'X-Service-Session': '1',
      ...ofProject(),
    };
    for (const path of [
      '/me/patients',
      '/admin/organizations',
      '/v1/patients',
      '/fhir/R4/Patient',
      `/v1/patients/${patient}`,
    ]) {
      const answer = await fetch(service.url + path, { headers });
      expect(answer.status, path).to.equal(401);
      const withToken = await fetch(service.url + path, {
        headers: { ...headers, Authorization: `Bearer ${session.secret}` },
      });
      expect(withToken.status, path).to.equal(401);
    }
  });

  it('leads to the interfaces alone', async () => {
    for (const path of [
      '',
      '/',
      '/oauth/token',
      '/oauth/authorize',
      '/signin',
      '/health/live',
      '/openapi.json',
      '/app/api/me/patients',
      '/fhir',
      '/mes',
      '/shl/x',
      '/dev/token',
      '/metrics',
    ])
      expect(
        (await session.ask(path, { method: path === '/oauth/token' ? 'POST' : 'GET' })).status,
        path,
      ).to.equal(404);
    const other = await fetch(`${service.url}/APP/api/me/patients`, {
      headers: {
        Cookie: `annal_session=${session.secret}`,
        'Sec-Fetch-Site': 'same-origin',
        'X-Service-Session': '1',
        Origin: service.url,
      },
    });
    expect([other.status, other.headers.get('access-control-allow-origin')]).to.deep.equal([404, null]);
  });

  it('asks for a project, and for a role that suffices, at every request', async () => {
    const path = `/fhir/R4/Patient/${patient}`;
    const missing = await session.ask(path);
    expect([missing.status, json(missing).issue[0].location]).to.deep.equal([
      400,
      ['http.x-service-project'],
    ]);
    const bad = await session.ask('/v1/patients', { headers: ofProject('staging') });
    expect([bad.status, json(bad).error.field]).to.deep.equal([400, 'header.x-service-environment']);
    const developer = await signIn(service, 'dev@clinic.example');
    const dev = await signedIn(service, developer.email);
    const reason = { 'X-Service-Reason': 'support' };
    const read = async (who: SignedIn, environment?: string) =>
      (await who.ask(path, { headers: { ...ofProject(environment), ...reason } })).status;
    expect(await read(dev)).to.equal(404);
    const { issuer, subject, email } = developer;
    const role = (name: string) =>
      owner.done('POST', `/organizations/${organization}/members`, { issuer, subject, email, role: name });
    await role('developer');
    expect(await read(dev)).to.equal(200);
    expect(await read(dev, 'production')).to.equal(403);
    await role('admin');
    // The patient is in the sandbox, not in production.
    expect(await read(dev, 'production')).to.equal(404);
    await owner.done(
      'DELETE',
      `/organizations/${organization}/members?${new URLSearchParams({ issuer, subject })}`,
    );
    expect(await read(dev)).to.equal(404);
    expect(await read(await signedIn(service, 'stranger@example.org'))).to.equal(404);
    const other = await session.ask(path, {
      headers: { 'X-Service-Project': 'proj_0123456789012345678901' },
    });
    expect(other.status).to.equal(404);
    // A person's own record isn't project data; it is read through the pages.
    expect((await session.ask(`/fhir/R4/Patient/${record}`, { headers: ofProject() })).status).to.equal(404);
  });

  it('opens records of production for half an hour after a sign-in, with a reason that their access log shows', async () => {
    const { key } = await owner.done('POST', `/projects/${project}/keys`, {
      name: 'live',
      environment: 'production',
    });
    const real = await newPatient(service, key);
    const production = ofProject('production');
    const why = { ...production, 'X-Service-Reason': encodeURIComponent('Ticket 4711: Größe fehlt') };
    const made = await service.fhir('/Patient', { method: 'POST', key, body: JSON.stringify(PATIENT) });
    const request = made.headers.get('service-request-id') ?? '';
    const logged = `/admin/projects/${project}/logs/${request}`;
    await eventually(async () => (await session.ask(logged)).status === 200);
    const protectedPaths = [
      `/fhir/R4/Patient/${real}`,
      `/v1/patients/${real}`,
      '/v1/patients',
      `/admin/projects/${project}/patients?environment=production`,
      `/admin/projects/${project}/patients/${real}/record`,
    ];
    for (const path of protectedPaths) {
      const ask = async (headers: Record<string, string>) => session.ask(path, { headers });
      for (const bad of ['', 'ab', '%E0', 'x'.repeat(201), '%20%00%20%0A%20']) {
        const answer = await ask({ ...production, 'X-Service-Reason': bad });
        expect([path, bad, answer.status]).to.deep.equal([path, bad, 400]);
        expect(answer.text).to.not.include(real);
      }
      const answer = await ask(why);
      expect([path, answer.status], answer.text).to.deep.equal([path, 200]);
      expect(answer.text).to.include(real);
    }
    expect(json(await session.ask(logged)).events).to.equal(null);
    const wrote = json(await session.ask(logged, { headers: why })).events;
    expect(wrote).to.have.length(1);
    const log = async (of: string) =>
      json(await session.ask(`/v1/patients/${of}/access-log`, { headers: why })).data.map(
        ({ action, purpose, actor_ref }: Record<string, string>) => [action, actor_ref, purpose],
      );
    const entry = (action: string) => [action, 'person/member', 'Ticket 4711: Größe fehlt'];
    expect(await log(real)).to.have.deep.members([
      entry('read'),
      entry('read'),
      entry('search-type'),
      entry('search-type'),
      entry('$everything'),
    ]);
    expect(await log(wrote[0].patient)).to.deep.include(entry('history-system'));
    await granting.events.append(real, linkOf(service, 'real@clinic.example'));
    const patientsOwn = await patientVisitor(service, 'real@clinic.example');
    await eventually(
      async () =>
        (await me(service, 'real@clinic.example', '/patients?environment=production')).json.total === 1,
    );
    const page = await patientsOwn.open(`/connections/records/${real}/log?lang=en`);
    expect(wordsOf(page)).to.include('What for: Ticket 4711: Größe fehlt');
    // In a sandbox, neither a reason nor a recent sign-in is needed.
    const stale = await signedIn(service, owner.email);
    await service.pool.query(
      "update operations.session set started_at = now() - interval '31 minutes' where id_sha256 = sha256($1)",
      [Buffer.from(stale.secret)],
    );
    for (const path of [...protectedPaths, logged]) {
      const answer = await stale.ask(path, { headers: why });
      expect([path, answer.status]).to.deep.equal([path, 401]);
      expect(answer.headers.get('www-authenticate')).to.equal(
        'Cookie realm="annal", error="insufficient_user_authentication", max_age="1800"',
      );
    }
    expect((await stale.ask(`/fhir/R4/Patient/${patient}`, { headers: ofProject() })).status).to.equal(200);
    expect((await stale.ask('/admin/organizations')).status).to.equal(200);
  });

  it('lists the sessions of the person and ends them', async () => {
    const email = 'many@clinic.example';
    const [one, two, three] = [
      await signedIn(service, email),
      await signedIn(service, email),
      await signedIn(service, email),
    ];
    const list = async (who: SignedIn) =>
      json(await who.ask('/me/sessions')).data as { id: string; started_at: string; current: boolean }[];
    const seen = await list(one);
    expect(seen.map(({ current }) => current)).to.deep.equal([true, false, false]);
    for (const each of seen) {
      expect(each).to.have.all.keys('id', 'started_at', 'used_at', 'current');
      expect(each.id).to.match(/^sess_[0-9a-f]{32}$/);
      expect(Math.abs(Date.parse(each.started_at) - Date.now())).to.be.lessThan(60_000);
    }
    const { rows } = await service.pool.query(
      "select encode(id_sha256, 'hex') as hash from operations.session",
    );
    for (const { hash } of rows) expect(JSON.stringify(seen)).to.not.include(hash.slice(0, 32));
    const [own] = await list(two);
    expect((await me(service, email, '/sessions')).json.data.map((each) => each.current)).to.deep.equal([
      false,
      false,
      false,
    ]);
    // Other people's sessions are neither listed nor found by id.
    const end = async (who: SignedIn, id: string | undefined) =>
      (await who.ask(`/me/sessions/${id}`, { method: 'DELETE' })).status;
    expect((await list(session)).map(({ id }) => id)).to.not.include.members([own?.id]);
    expect(await end(session, own?.id)).to.equal(404);
    expect(await end(one, 'sess_unknown')).to.equal(404);
    expect(await end(one, own?.id)).to.equal(204);
    expect(await end(one, own?.id)).to.equal(404);
    expect((await two.ask('/me/sessions')).status).to.equal(401);
    expect(await list(three)).to.have.length(2);
    expect((await one.ask('/me/sessions', { method: 'DELETE' })).status).to.equal(204);
    expect((await three.ask('/me/sessions')).status).to.equal(401);
    expect(await list(one)).to.have.length(1);
    expect((await me(service, email, '/sessions', 'DELETE')).status).to.equal(204);
    expect((await one.ask('/me/sessions')).status).to.equal(401);
    expect((await session.ask('/me/sessions')).status).to.equal(200);
  });

  it('names the person in the access log, the request log and the events', async () => {
    const { secret, ...quiet } = await signedIn(service, owner.email);
    expect(secret).to.have.length(43);
    const made = await quiet.ask('/fhir/R4/Patient', {
      method: 'POST',
      body: JSON.stringify(PATIENT),
      headers: { ...ofProject(), 'Content-Type': 'application/fhir+json' },
    });
    expect(made.status, made.text).to.equal(201);
    const { id } = json(made);
    expect((await quiet.ask(`/v1/patients/${id}`, { headers: ofProject() })).status).to.equal(200);
    const log = json(await quiet.ask(`/v1/patients/${id}/access-log`, { headers: ofProject() }));
    expect(
      log.data.map(({ action, actor_ref }: Record<string, string>) => [action, actor_ref]),
    ).to.deep.include(['read', 'person/member']);
    const written = await quiet.ask(`/v1/patients/${id}/provenance/Patient/${id}`, { headers: ofProject() });
    expect(json(written).data[0].written_by).to.deep.include({ kind: 'member', id: owner.subject });
    for await (const { metadata } of granting.events.store.read(recordStream(id)))
      expect(JSON.parse(metadata).credential).to.deep.equal({
        kind: 'id_token',
        issuer: owner.issuer,
        subject: owner.subject,
        project,
        environment: 'sandbox',
      });
    await eventually(async () => {
      const { data } = json(await quiet.ask(`/admin/projects/${project}/logs?limit=200`));
      return data.some(({ path }: { path: string }) => path === `/v1/patients/${id}`);
    });
  });

  it('runs a POST with an Idempotency-Key once', async () => {
    const call = {
      method: 'POST',
      body: JSON.stringify(PATIENT),
      headers: { ...ofProject(), 'Content-Type': 'application/fhir+json', 'Idempotency-Key': 'gateway-1' },
    };
    const first = await session.ask('/fhir/R4/Patient', call);
    // The Idempotency-Key belongs to the person, so a new session gets the same answer.
    const again = await (await signedIn(service, owner.email)).ask('/fhir/R4/Patient', call);
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).to.deep.equal([
      201,
      201,
      'true',
    ]);
    expect(again.text).to.equal(first.text);
    const organizations = {
      method: 'POST',
      body: { name: 'Second' },
      headers: { 'Idempotency-Key': 'gateway-2' },
    };
    const [one, two] = [
      await session.ask('/admin/organizations', organizations),
      await session.ask('/admin/organizations', organizations),
    ];
    expect([one.status, json(two).id]).to.deep.equal([201, json(one).id]);
  });

  it('issues no token', async () => {
    const answer = await session.ask(`/admin/projects/${project}/tokens`, {
      method: 'POST',
      body: { environment: 'sandbox' },
    });
    expect([answer.status, json(answer).error.type]).to.deep.equal([403, 'forbidden']);
    expect(answer.text).to.not.include('at_');
  });

  it('ends with the session, on every instance', async () => {
    const gone = await signedIn(service, 'leaving@example.org');
    const there = async () => {
      const headers = {
        Cookie: `annal_session=${gone.secret}`,
        'Sec-Fetch-Site': 'same-origin',
        'X-Service-Session': '1',
      };
      return (await fetch(`${second.url}/app/api/me/patients`, { headers })).status;
    };
    expect([(await gone.ask('/me/patients')).status, await there()]).to.deep.equal([200, 200]);
    await service.pool.query(
      "update operations.session set used_at = now() - interval '31 minutes' where subject = (select subject from operations.person where email = $1)",
      [gone.email],
    );
    expect([(await gone.ask('/me/patients')).status, await there()]).to.deep.equal([401, 401]);
  });
});

describe('the gateway, limited', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess({}, { RATE_LIMIT_PER_MINUTE: '40', TRUSTED_PROXIES: '127.0.0.1' });
  });
  after(() => service?.stop());

  it('counts each person’s requests together, whatever they ask, in however many sessions and from wherever', async () => {
    const [one, again, other] = [
      await signedIn(service, 'one@example.org'),
      await signedIn(service, 'one@example.org'),
      await signedIn(service, 'other@example.org'),
    ];
    let address = 0;
    const ask = (who: SignedIn, path: string) => {
      address += 1;
      return who.ask(path, { headers: { 'X-Forwarded-For': `198.51.100.${address}` } });
    };
    const paths = ['/admin/organizations', '/me/patients', '/fhir/R4/metadata'];
    const answers = [];
    for (let n = 0; n < 45; n += 1) answers.push(await ask(n % 2 === 0 ? one : again, paths[n % 3] ?? ''));
    expect(answers.slice(0, 40).map(({ status }) => status)).to.deep.equal(Array(40).fill(200));
    const refused = answers.slice(40);
    expect(refused.map(({ status }) => status)).to.deep.equal(Array(5).fill(429));
    expect(refused[0]?.text).to.include('this person has reached its limit');
    expect(refused[0]?.headers.get('retry-after')).to.match(/^\d+$/);
    expect((await ask(other, '/me/patients')).status).to.equal(200);
  });
});
