/** `/me/access-requests` and `/me/muted-applications`: what people see and decide (docs/oauth.md, "Asking without a page"). */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson } from '#src/dev-issuer/people.ts';
import { sweepTokens } from '#src/oauth/revoke.ts';
import { MOTHER, startWorkshop, stopWorkshop, type Workshop } from '#test/support/authorization.ts';
import { askAccess, letPass, pollAccess, registerCiba } from '#test/support/ciba.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { linkOf, type MyAnswer, type MyItem, me, newPatient } from '#test/support/me.ts';
import { Journey, type JourneyClient, PERSON, type TokenAnswer } from '#test/support/oauth-journey.ts';
import { RecordEvents } from '#test/support/record-events.ts';

const SANDBOX = 'environment=sandbox';

describe('access requests of a person', () => {
  let service: InProcess;
  let workshop: Workshop;
  let journey: Journey;
  let events: RecordEvents;
  let app: JourneyClient & { readonly id: string };
  /** The synthetic patients of the application's own project. */
  let offered: ReadonlySet<string>;

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    journey = new Journey(service.url);
    events = await RecordEvents.open(service.databaseUrl);
    const { key } = await workshop.owner.done('POST', `/projects/${workshop.project}/keys`, {
      name: 'reads',
      environment: 'sandbox',
      scopes: ['read'],
    });
    const { text } = await service.fhir('/Patient', { key });
    const { entry } = JSON.parse(text) as { entry: { resource: { id: string } }[] };
    offered = new Set(entry.map(({ resource }) => resource.id));
  });
  beforeEach(async () => {
    const { id, client_id, client_secret } = await registerCiba(workshop);
    app = { id, client_id, client_secret };
  });
  after(async () => {
    await events?.close();
    await stopWorkshop(service);
  });

  const asked = async (login_hint: string, fields: Readonly<Record<string, string>> = {}, client = app) => {
    const answer = await askAccess(journey, client, { login_hint, ...fields });
    expect(answer.status, answer.text).to.equal(200);
    return answer;
  };
  /** Returns the pending requests of this test's application. */
  const pending = async (email: string, query = SANDBOX): Promise<readonly MyItem[]> => {
    const { json } = await me(service, email, `/access-requests?${query}&status=pending`);
    return json.data.filter(({ application }) => JSON.stringify(application).includes(app.id));
  };
  const only = async (email: string): Promise<MyItem> => {
    const [one, ...more] = await pending(email);
    expect(more).to.deep.equal([]);
    if (one === undefined) throw new Error(`${email} sees no request`);
    return one;
  };
  const recordOf = async (email: string, relationship = 'self'): Promise<string> => {
    const { json } = await me(service, email, `/patients?${SANDBOX}`);
    // Each sandbox has its own copy of a synthetic patient.
    const found = json.data.find((each) => each.relationship === relationship && offered.has(each.id));
    return found?.id ?? '';
  };
  const approve = async (email: string, id: string, body: object = {}, query = ''): Promise<MyAnswer> =>
    me(service, email, `/access-requests/${id}/approve${query}`, 'POST', {
      patient_id: await recordOf(email),
      duration_days: 90,
      ...body,
    });
  const deny = (email: string, id: string, body?: object) =>
    me(service, email, `/access-requests/${id}/deny`, 'POST', body);
  const poll = (answer: TokenAnswer, client = app) => pollAccess(journey, client, answer);
  const expectPending = async (answer: TokenAnswer): Promise<void> => {
    await letPass(service, 10);
    expect((await poll(answer)).error).to.equal('authorization_pending');
  };
  const address = (): string => `p-${randomBytes(4).toString('hex')}@example.org`;

  it('shows what is asked for, in words, and gives tokens of the grant after an approval', async () => {
    const answer = await asked(PERSON, { binding_message: '<b>W4SCT</b>' });
    expect(answer).to.include({ expires_in: 600, interval: 5 });
    const request = await only(PERSON);
    expect(request).to.deep.include({
      status: 'pending',
      environment: 'sandbox',
      binding_message: '<b>W4SCT</b>',
      patient_id: null,
      scopes: ['offline_access', 'openid', 'patient/Condition.rs', 'patient/Observation.rs'],
      decided_at: null,
      grant_id: null,
      application: {
        id: app.id,
        name: 'Health diary',
        kind: 'confidential',
        organization: 'Clinic & Sons',
        privacy_url: 'https://diary.example.org/privacy',
      },
    });
    expect(request.id).to.match(/^areq_[\w-]{22}$/);
    expect(String(request.scopes_text)).to.include('Read your');
    const german = (await me(service, PERSON, `/access-requests?${SANDBOX}&lang=de`)).json.data;
    expect(german.find(({ id }) => id === request.id)?.scopes_text).not.to.deep.equal(request.scopes_text);
    expect((await poll(answer)).error).to.equal('authorization_pending');
    const approved = await approve(PERSON, request.id, {}, '?lang=de');
    expect(approved.status, JSON.stringify(approved.json)).to.equal(200);
    expect(approved.json).to.include({ status: 'approved', patient_id: await recordOf(PERSON) });
    const tokens = await poll(answer);
    expect(tokens.status, tokens.text).to.equal(200);
    expect(tokens.scope).to.equal('offline_access openid patient/Condition.rs patient/Observation.rs');
    expect(tokens.grant_id).to.equal(approved.json.grant_id);
    expect(tokens.id_token.split('.')).to.have.length(3);
    expect(await journey.opens(tokens)).to.equal(200);
    expect((await journey.refresh(app, tokens.refresh_token)).status).to.equal(200);
    // The consent is the same as one that the page writes.
    const grants = await me(service, PERSON, `/patients/${await recordOf(PERSON)}/grants?${SANDBOX}`);
    const grant = grants.json.data.find(({ id }) => id === tokens.grant_id);
    expect(grant).to.deep.include({ status: 'active', granted_by: 'patient', scopes: request.scopes });
    expect(String(grant?.scopes_text)).to.match(/Beobachtungen|Diagnosen|lesen/i);
    expect((await poll(answer)).error).to.equal('invalid_grant');
  });

  it('takes one answer: repeats are 409, on approved, denied and expired requests', async () => {
    const answer = await asked(PERSON);
    const { id } = await only(PERSON);
    const both = await Promise.all([approve(PERSON, id), approve(PERSON, id), deny(PERSON, id)]);
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409]);
    for (const repeat of [await approve(PERSON, id), await deny(PERSON, id)])
      expect(repeat.status).to.equal(409);
    await letPass(service, 10);
    expect(['access_denied', undefined]).to.include((await poll(answer)).error);
    const second = await asked(PERSON);
    const late = await only(PERSON);
    await letPass(service, 601);
    expect((await approve(PERSON, late.id)).status).to.equal(409);
    expect((await poll(second)).error).to.equal('expired_token');
    expect(await pending(PERSON)).to.deep.equal([]);
    const third = await asked(PERSON);
    expect((await deny(PERSON, (await only(PERSON)).id)).json).to.include({
      status: 'denied',
      grant_id: null,
    });
    const denied = await poll(third);
    expect([denied.status, denied.error]).to.deep.equal([400, 'access_denied']);
    expect(
      (
        await approve(
          PERSON,
          (await me(service, PERSON, `/access-requests?${SANDBOX}&status=denied`)).json.data[0]?.id ?? '',
        )
      ).status,
    ).to.equal(409);
  });

  it('replays an approval under its Idempotency-Key', async () => {
    await asked(PERSON);
    const { id } = await only(PERSON);
    const token = await new DevIssuer(service.pool, devIssuerUrl(service.url)).idToken(findPerson(PERSON));
    const record = await recordOf(PERSON);
    const send = async () => {
      const response = await fetch(`${service.url}/me/access-requests/${id}/approve`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${token}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': `approve-${id}`,
        },
        body: JSON.stringify({ patient_id: record, duration_days: 30 }),
      });
      return { status: response.status, text: await response.text() };
    };
    const first = await send();
    expect(first.status, first.text).to.equal(200);
    expect(await send()).to.deep.equal(first);
  });

  it('carries out an approval that a crash interrupted, once', async () => {
    for (const before of ['the grant', 'the note of the grant'] as const) {
      const answer = await asked(PERSON);
      const { id } = await only(PERSON);
      const { json } = await approve(PERSON, id);
      // The row as it is after the claim, when the grant may or may not have been written.
      await service.pool.query(
        "update operations.access_request set grant_id = null, decided_at = decided_at - interval '11 s' where id = $1",
        [id],
      );
      if (before === 'the grant') expect((await deny(PERSON, id)).status).to.equal(409);
      const tokens = await poll(answer);
      expect(tokens.status, tokens.text).to.equal(200);
      expect(tokens.grant_id).to.equal(json.grant_id);
      const { rowCount } = await service.pool.query('select from consents.grants where application_id = $1', [
        app.id,
      ]);
      expect(rowCount).to.equal(before === 'the grant' ? 1 : 2);
    }
  });

  it('allows fewer scopes, never more', async () => {
    const answer = await asked(PERSON);
    const { id } = await only(PERSON);
    for (const scopes of [
      ['patient/Observation.cruds'],
      ['patient/*.rs'],
      ['patient/AllergyIntolerance.r'],
      ['nonsense'],
      ['openid'],
      [],
    ]) {
      const refused = await approve(PERSON, id, { scopes });
      expect(refused.status, JSON.stringify(scopes)).to.equal(422);
      expect(JSON.stringify(refused.json)).to.include('"field":"scopes"');
    }
    const scopes = ['patient/Observation.r?category=laboratory'];
    expect((await approve(PERSON, id, { scopes })).json).to.deep.include({ scopes: ['openid', ...scopes] });
    const tokens = await poll(answer);
    expect(tokens.scope).to.equal('openid patient/Observation.r?category=laboratory');
    expect(tokens).not.to.have.property('refresh_token');
  });

  it('refuses durations, records and people that can’t be', async () => {
    await asked(MOTHER);
    const { id } = await only(MOTHER);
    for (const duration_days of [0, 31, 366, '90', null])
      expect((await approve(MOTHER, id, { duration_days })).status).to.equal(422);
    for (const patient_id of [await recordOf(PERSON), await newPatient(service), 'x'])
      expect((await approve(MOTHER, id, { patient_id })).status, patient_id).to.equal(404);
    for (const email of [PERSON, 'stranger@example.org']) {
      expect(await pending(email)).to.deep.equal([]);
      const [unknown, known] = await Promise.all(
        ['areq_AAAAAAAAAAAAAAAAAAAAAA', id].map((each) => deny(email, each)),
      );
      expect([unknown?.status, known?.status]).to.deep.equal([404, 404]);
      expect((await approve(email, id, { patient_id: await recordOf(MOTHER) })).status).to.equal(404);
    }
    // A parent decides for the child.
    const child = await recordOf(MOTHER, 'dependent');
    const approved = await approve(MOTHER, id, { patient_id: child });
    expect(approved.status).to.equal(200);
    const grants = await me(service, MOTHER, `/patients/${child}/grants?${SANDBOX}`);
    expect(grants.json.data[0]).to.include({ id: approved.json.grant_id, granted_by: 'representative' });
  });

  it('finds the person by the pairwise id of a record, for that record alone', async () => {
    const child = await recordOf(MOTHER, 'dependent');
    const before = await asked(MOTHER);
    await approve(MOTHER, (await only(MOTHER)).id, { patient_id: child });
    const tokens = await poll(before);
    expect(tokens.status, tokens.text).to.equal(200);
    const answer = await asked(tokens.patient.toUpperCase());
    expect(await pending(PERSON)).to.deep.equal([]);
    const request = await only(MOTHER);
    expect(request.patient_id).to.equal(child);
    expect((await approve(MOTHER, request.id)).status).to.equal(422);
    expect((await approve(MOTHER, request.id, { patient_id: child })).status).to.equal(200);
    expect((await poll(answer)).patient).to.equal(tokens.patient);
    // Another application's id for the same record is useless to this application.
    const other = await registerCiba(workshop);
    const foreign = await asked(
      tokens.patient,
      {},
      { id: other.id, client_id: other.client_id, client_secret: other.client_secret },
    );
    expect(foreign.expires_in).to.equal(600);
    const all = await me(service, MOTHER, `/access-requests?${SANDBOX}&status=pending`);
    expect(JSON.stringify(all.json)).not.to.include(other.id);
  });

  it('finds the person by an ID token of ours', async () => {
    const { id_token } = await journey.tokens(app, { email: MOTHER });
    const answer = await askAccess(journey, app, { id_token_hint: id_token });
    expect(answer.status, answer.text).to.equal(200);
    expect(await pending(PERSON)).to.deep.equal([]);
    const { id } = await only(MOTHER);
    expect((await approve(MOTHER, id)).status).to.equal(200);
    expect((await poll(answer)).status).to.equal(200);
  });

  it('shows a request under an address to those whose issuer has verified it, and lets the first decide', async () => {
    const email = address();
    const answer = await asked(email.toUpperCase());
    const { id } = await only(email);
    const { rows } = await service.pool.query('select * from operations.access_request where id = $1', [id]);
    expect(rows[0]).to.include({ hint: email, issuer: null });
    const record = await newPatient(service);
    expect((await approve(email, id, { patient_id: record })).status).to.equal(404);
    await events.append(record, linkOf(service, email));
    expect((await approve(email, id, { patient_id: record })).status).to.equal(200);
    expect((await poll(answer)).status).to.equal(200);
  });

  it('ends with the person’s link to the record, also if they are linked again', async () => {
    const email = address();
    const record = await newPatient(service);
    await events.append(record, linkOf(service, email));
    await asked(email);
    const first = await approve(email, (await only(email)).id, { patient_id: record });
    expect(first.status).to.equal(200);
    const { rows } = await service.pool.query('select patient from consents.grants where record = $1', [
      record,
    ]);
    const answer = await asked(String(rows[0]?.patient));
    const { id } = await only(email);
    expect((await me(service, email, `/patients/${record}/link`, 'DELETE')).status).to.equal(204);
    expect(await pending(email)).to.deep.equal([]);
    await events.append(record, linkOf(service, email));
    await me(service, email, `/patients?${SANDBOX}`);
    expect(await pending(email)).to.deep.equal([]);
    expect((await approve(email, id, { patient_id: record })).status).to.equal(404);
    await expectPending(answer);
    // A later request is shown.
    await asked(String(rows[0]?.patient));
    expect((await approve(email, (await only(email)).id, { patient_id: record })).status).to.equal(200);
  });

  it('gives no tokens for an approval whose grant has ended', async () => {
    const answer = await asked(PERSON);
    const { json } = await approve(PERSON, (await only(PERSON)).id);
    const revoke = `/patients/${await recordOf(PERSON)}/grants/${json.grant_id}/revoke`;
    expect((await me(service, PERSON, revoke, 'POST')).status).to.equal(200);
    expect((await poll(answer)).error).to.equal('invalid_grant');
  });

  it('hides a muted application’s later requests, and tells it nothing', async () => {
    const first = await asked(PERSON);
    const seen = await only(PERSON);
    expect((await deny(PERSON, seen.id, { mute: true })).status).to.equal(200);
    expect((await poll(first)).error).to.equal('access_denied');
    const list = async (query = '') =>
      (await me(service, PERSON, `/muted-applications${query}`)).json.data.map((each) => each.application_id);
    expect(await list()).to.include(app.id);
    expect(await list('?environment=sandbox')).to.include(app.id);
    expect(await list('?environment=production')).to.not.include(app.id);
    const second = await asked(PERSON);
    expect(await pending(PERSON)).to.deep.equal([]);
    await expectPending(second);
    // Other people still see what the application requests from them.
    await asked(MOTHER);
    expect(await pending(MOTHER)).to.have.length(1);
    const path = `/muted-applications/${app.id}`;
    expect((await me(service, PERSON, path, 'DELETE')).status).to.equal(204);
    expect(await pending(PERSON), 'made while it was muted').to.deep.equal([]);
    await asked(PERSON);
    expect(await pending(PERSON)).to.have.length(1);
    for (const times of [1, 2])
      expect((await me(service, PERSON, path, 'PUT')).status, `${times}`).to.equal(204);
    expect(await pending(PERSON), 'made before').to.have.length(1);
    expect((await list()).filter((each) => each === app.id)).to.have.length(1);
    expect((await me(service, PERSON, '/muted-applications/app_unknown', 'PUT')).status).to.equal(404);
    await letPass(service, 601);
    expect((await poll(second)).error).to.equal('expired_token');
  });

  it('keeps the environments apart, and pages', async () => {
    await asked(MOTHER);
    const { id } = await only(MOTHER);
    expect(await pending(MOTHER, 'environment=production')).to.deep.equal([]);
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const { json } = await me(service, MOTHER, `/access-requests?${SANDBOX}&limit=1${cursor}`);
      ids.push(...json.data.map((each) => each.id));
      if (json.next_cursor === null) break;
      cursor = `&cursor=${json.next_cursor}`;
    }
    expect(ids).to.include(id);
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('goes with its application', async () => {
    await asked(PERSON);
    const { id } = await only(PERSON);
    const deleted = await fetch(`${service.url}/admin/applications/${app.id}`, {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${workshop.owner.token}` },
    });
    expect(deleted.status).to.equal(204);
    expect(await pending(PERSON)).to.deep.equal([]);
    expect((await approve(PERSON, id)).status).to.equal(404);
  });

  it('is purged with the record', async () => {
    const email = address();
    const record = await newPatient(service);
    await events.append(record, linkOf(service, email));
    await asked(email);
    const approved = await approve(email, (await only(email)).id, { patient_id: record });
    expect(approved.status).to.equal(200);
    const { rows } = await service.pool.query('select patient from consents.grants where record = $1', [
      record,
    ]);
    await asked(String(rows[0]?.patient));
    const left = async () =>
      (
        await service.pool.query('select from operations.access_request where record = $1 or hint = $2', [
          record,
          rows[0]?.patient,
        ])
      ).rowCount;
    expect(await left()).to.equal(2);
    const purged = await service.fhir(`/Patient/${record}?_purge=true`, { method: 'DELETE' });
    expect(purged.status, purged.text).to.equal(204);
    expect(await left()).to.equal(0);
  });

  it('keeps rows for a day', async () => {
    await asked(PERSON);
    const { id } = await only(PERSON);
    const count = async () =>
      (await service.pool.query('select from operations.access_request where id = $1', [id])).rowCount;
    await sweepTokens(service.pool);
    expect(await count()).to.equal(1);
    await letPass(service, 86_401);
    await sweepTokens(service.pool);
    expect(await count()).to.equal(0);
    const turns = await service.pool.query('select from operations.access_request_turn');
    expect(turns.rowCount).to.equal(0);
  });
});
