/** How grants end: through the person, with the link, with the application, with a project, and by expiry. */
import { expect } from 'chai';
import { verify } from '#projections/verify/verify.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type GrantData, grantData, granted } from '#test/support/consents.ts';
import { Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { identityOf, inDays, linkOf, me, newPatient } from '#test/support/me.ts';
import { fetchOnce } from '#test/support/patience.ts';
import { eventually } from '#test/support/process.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { RecordEvents } from '#test/support/record-events.ts';
import { startSecondInstance } from '#test/support/second-instance.ts';

interface Told {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

describe('the end of a grant', () => {
  let service: InProcess;
  let events: RecordEvents;
  let receiver: Receiver;
  let owner: AdminUser;
  let organization: string;

  before(async () => {
    service = await startInProcess();
    events = await RecordEvents.open(service.databaseUrl);
    receiver = await startReceiver();
    owner = await signIn(service, 'developer@example.org');
    organization = (await owner.done('POST', '/organizations', { name: 'Apps' })).id;
  });
  after(async () => {
    await events?.close();
    await service?.stop();
    await receiver?.stop();
  });

  /** A project with a key, and a webhook endpoint for grants at a path of its own. */
  async function newProject(name: string) {
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name });
    const { key } = await owner.done('POST', `/projects/${id}/keys`, { name: 'k', environment: 'sandbox' });
    const path = `/${id}`;
    await owner.done('POST', `/projects/${id}/webhooks`, {
      url: receiver.url + path,
      events: ['consent.granted', 'consent.revoked'],
      environment: 'sandbox',
    });
    const told = async (count: number): Promise<Told[]> =>
      (await receiver.of(path, count)).map(({ body }) => JSON.parse(body.toString()) as Told);
    return { id, key, told };
  }
  async function newApplication(project: string): Promise<string> {
    const body = {
      name: 'Diary',
      kind: 'public',
      redirect_uris: ['https://diary.example/callback'],
      scopes: ['patient/*.rs'],
    };
    return (await owner.done('POST', `/projects/${project}/applications`, body)).id;
  }
  /** Returns a person's grant on a record that is linked to them. */
  const grantOf = (email: string, project: string, application: string, rest: Partial<GrantData> = {}) =>
    grantData({
      person: identityOf(service, email),
      application_id: application,
      sector: application,
      project_id: project,
      expires_at: inDays(30),
      ...rest,
    });
  const endOf = async ({ grant_id }: GrantData): Promise<string | null | undefined> =>
    (await service.pool.query('select end_reason from consents.grants where grant_id = $1', [grant_id]))
      .rows[0]?.end_reason;
  const ended = (grant: GrantData, reason: string | null) =>
    eventually(async () => (await endOf(grant)) === reason);
  /** Returns a record's last event. */
  async function lastOf(record: string) {
    for await (const event of events.store.read(`record-${record}`, { direction: 'backwards', limit: 1 }))
      return { type: event.type, data: JSON.parse(event.data), metadata: JSON.parse(event.metadata) };
    throw new Error('no event');
  }

  it('comes by the person, who alone reads the note; sent again it changes nothing', async () => {
    const app = await newProject('Revoked');
    const [email, record] = ['nora@example.org', await newPatient(service)];
    const grant = grantOf(email, app.id, await newApplication(app.id));
    await events.append(record, linkOf(service, email), granted(grant));
    await ended(grant, null);
    const path = `/patients/${record}/grants/${grant.grant_id}/revoke`;
    expect((await me(service, 'other@example.org', path, 'POST')).status).to.equal(404);
    expect((await me(service, email, `${path}x`, 'POST')).status).to.equal(404);
    const wrong = `/patients/${await newPatient(service)}/grants/${grant.grant_id}/revoke`;
    expect((await me(service, email, wrong, 'POST')).status).to.equal(404);
    expect((await me(service, email, path, 'POST', { note: 'x' })).status).to.equal(422);
    const reason = 'I no longer use it';
    const { status, json } = await me(service, email, path, 'POST', { reason });
    expect(status).to.equal(200);
    expect(json).to.deep.include({ id: grant.grant_id, status: 'revoked', patient: record });
    expect(await endOf(grant)).to.equal('patient');
    const { data, metadata } = await lastOf(record);
    expect([data.note, metadata.credential]).to.deep.equal([
      reason,
      { kind: 'id_token', ...identityOf(service, email) },
    ]);
    const again = await me(service, email, path, 'POST');
    expect(again.json).to.deep.equal(json);
    const listed = await owner.done('GET', `/projects/${app.id}/consents`);
    expect(listed.data).to.have.length(1);
    expect(listed.data[0]).to.deep.include({ id: grant.grant_id, status: 'revoked', end_reason: 'patient' });
    expect(JSON.stringify(listed)).to.not.include(reason);
    const [first, second] = await app.told(2);
    const told = {
      grant_id: grant.grant_id,
      patient: grant.patient,
      application_id: grant.application_id,
      scopes: grant.scopes,
      purpose: 'treatment',
      expires_at: grant.expires_at,
    };
    expect([first?.type, first?.data]).to.deep.equal(['consent.granted', told]);
    expect([second?.type, second?.data]).to.deep.equal([
      'consent.revoked',
      { ...told, revoked_at: json.revoked_at, reason: 'patient' },
    ]);
    expect(JSON.stringify(second)).to.not.include(record).and.not.include('no longer use');
    // Grants end while the Patient is deleted.
    const late = grantOf(email, app.id, await newApplication(app.id));
    await events.append(record, granted(late));
    await ended(late, null);
    expect((await service.fhir(`/Patient/${record}`, { method: 'DELETE' })).status).to.equal(204);
    const done = await me(service, email, `/patients/${record}/grants/${late.grant_id}/revoke`, 'POST');
    expect([done.status, done.json.status]).to.deep.equal([200, 'revoked']);
  });

  it('ends its tokens on another instance before it is answered', async () => {
    const other = await startSecondInstance(service);
    const granting = await Granting.open(service);
    try {
      const app = await newProject('Elsewhere');
      const [email, record] = ['mother@example.org', await newPatient(service)];
      const application = await granting.register(owner, app.id);
      const { token, patient, data } = await granting.allow(application, record);
      await events.append(record, linkOf(service, email, 'dependent'));
      const read = async (): Promise<number> => {
        const headers = { Authorization: `Bearer ${token}` };
        return (await fetch(`${other.url}/fhir/R4/Patient/${patient}`, { headers })).status;
      };
      await eventually(async () => (await read()) === 200);
      const path = `/patients/${record}/grants/${data.grant_id}/revoke`;
      await eventually(async () => (await me(service, email, `/patients/${record}/grants`)).status === 200);
      // A person ends a grant that another person gave.
      expect((await me(service, email, path, 'POST')).status).to.equal(200);
      expect(await read()).to.equal(401);
    } finally {
      await granting.close();
      await other.close();
    }
  });

  it('is answered when it is in effect on every instance, and not before', async () => {
    const app = await newProject('Slow');
    const [email, record] = ['slow@example.org', await newPatient(service)];
    const grant = grantOf(email, app.id, await newApplication(app.id));
    await events.append(record, linkOf(service, email), granted(grant));
    await ended(grant, null);
    const path = `/patients/${record}/grants/${grant.grant_id}/revoke`;
    const holder = await service.pool.connect();
    try {
      // The lock keeps any instance from advancing the read model.
      await holder.query('begin');
      await holder.query('select 1 from consents.checkpoint for update');
      expect((await me(service, email, path, 'POST')).status).to.equal(503);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    let again = await me(service, email, path, 'POST');
    while (again.status === 503) again = await me(service, email, path, 'POST');
    expect([again.status, again.json.status]).to.deep.equal([200, 'revoked']);
    expect(await endOf(grant)).to.equal('patient');
  });

  it('comes with the link, which an invitation began', async () => {
    const app = await newProject('Linked');
    const email = 'invited@example.org';
    const record = await newPatient(service);
    const invited = await fetchOnce(`${service.url}/v1/patients/${record}/invitations`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
      body: '{}',
    });
    const { code } = JSON.parse(await invited.text()) as { code: string };
    const redeem = (birth_date: string) =>
      me(service, email, '/invitations/redeem', 'POST', { code, birth_date });
    expect((await redeem('1957-03-15')).status).to.equal(422);
    expect((await redeem('14.3.1957')).status).to.equal(422);
    const { status, json } = await redeem('1957-03-14');
    const mine = {
      id: record,
      given: 'Mira Lou',
      family: 'Sand',
      birth_date: '1957-03-14',
      relationship: 'self',
    };
    expect([status, json]).to.deep.equal([200, mine]);
    expect((await me(service, email, '/patients?environment=sandbox')).json.data).to.deep.equal([mine]);
    expect((await redeem('1957-03-14')).status).to.equal(404);
    const grant = grantOf(email, app.id, await newApplication(app.id));
    await events.append(record, granted(grant));
    await ended(grant, null);
    expect((await me(service, email, `/patients/${record}/link`, 'DELETE')).status).to.equal(204);
    expect(await endOf(grant)).to.equal('link_ended');
    expect((await me(service, email, '/patients?environment=sandbox')).json.total).to.equal(0);
    expect((await me(service, email, `/patients/${record}/link`, 'DELETE')).status).to.equal(404);
    expect((await app.told(2)).at(-1)?.data.reason).to.equal('link_ended');
  });

  it('comes with the application, also for a grant that was written just after', async () => {
    const app = await newProject('Application deleted');
    const [application, other] = [await newApplication(app.id), await newApplication(app.id)];
    const record = await newPatient(service);
    // More than a page.
    const people = Array.from({ length: 45 }, (_, n) => `p${n}@example.org`);
    const grants = people.map((email) => grantOf(email, app.id, application));
    const kept = grantOf('kept@example.org', app.id, other);
    await events.append(record, ...[...grants, kept].map(granted));
    await ended(kept, null);
    expect((await owner.ask('DELETE', `/applications/${application}`)).status).to.equal(204);
    const late = grantOf('late@example.org', app.id, application);
    await events.append(await newPatient(service), granted(late));
    for (const grant of [...grants, late]) await ended(grant, 'application_deleted');
    expect(await endOf(kept)).to.equal(null);
    const { metadata } = await lastOf(record);
    expect(metadata.credential).to.deep.equal({ kind: 'system' });
    const told = await app.told(2 * 45 + 3);
    const reasons = told.filter(({ type }) => type === 'consent.revoked').map(({ data }) => data.reason);
    expect(reasons).to.deep.equal(Array.from({ length: 46 }, () => 'application_deleted'));
  });

  it('comes with a project: that of the application, and that of the record', async () => {
    const [app, home] = [await newProject('Other project'), await newProject('Deleted project')];
    const record = await newPatient(service);
    const theirs = await newPatient(service, home.key);
    const foreign = grantOf('a@example.org', home.id, await newApplication(home.id));
    const on = grantOf('b@example.org', app.id, await newApplication(app.id));
    const untouched = grantOf('c@example.org', app.id, on.application_id);
    await events.append(record, granted(foreign), granted(untouched));
    await events.append(theirs, granted(on));
    for (const grant of [foreign, on, untouched]) await ended(grant, null);
    expect((await owner.ask('DELETE', `/projects/${home.id}`)).status).to.equal(204);
    await ended(foreign, 'application_deleted');
    await ended(on, 'platform');
    expect(await endOf(untouched)).to.equal(null);
    const told = (await app.told(3)).filter(({ type }) => type === 'consent.revoked');
    expect(told.map(({ data }) => [data.grant_id, data.reason])).to.deep.equal([[on.grant_id, 'platform']]);
  });

  it('comes with time, and nobody is told', async () => {
    const app = await newProject('Expired');
    const [email, record] = ['over@example.org', await newPatient(service)];
    const over = grantOf(email, app.id, await newApplication(app.id), { expires_at: inDays(-0.001) });
    const soon = grantOf(email, app.id, await newApplication(app.id), { expires_at: inDays(1 / 86_400) });
    await events.append(record, linkOf(service, email), granted(over), granted(soon));
    await ended(over, 'expired');
    await ended(soon, 'expired');
    const { type, metadata } = await lastOf(record);
    expect([type, metadata.credential]).to.deep.equal(['ConsentExpired', { kind: 'system' }]);
    const { json } = await me(service, email, `/patients/${record}/grants`);
    expect(json.data.map(({ status, revoked_at }) => [status, revoked_at])).to.deep.equal([
      ['expired', null],
      ['expired', null],
    ]);
    expect((await app.told(2)).map(({ type: kind }) => kind)).to.deep.equal([
      'consent.granted',
      'consent.granted',
    ]);
  });

  it('leaves a log that the read model matches', async () => {
    const { readModels } = await verify({ store: events.store, databaseUrl: service.databaseUrl });
    expect(readModels).to.deep.equal([]);
  });
});
