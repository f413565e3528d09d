/** `DELETE /me/patients/{patient_id}`: a person removes their personal record (docs/spec/decisions.md, section 9). */
import { expect } from 'chai';
import { personalProject } from '#commands/consent/personal.ts';
import { projectStream, recordStream } from '#src/events/streams.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { byPerson, type ConsentInstance, openInstance } from '#test/support/consent-commands.ts';
import { type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { identityOf, linkOf, me, newPatient } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';

describe('a personal record', () => {
  let service: InProcess;
  let granting: Granting;
  let instance: ConsentInstance;
  let owner: AdminUser;
  let application: Application;
  let receiver: Receiver;

  const email = 'ada@example.org';
  const mine = async (environment = 'sandbox') =>
    (await me(service, email, `/patients?environment=${environment}`)).json.data.map(({ id }) => id);
  const purge = (id: string, by = email) => me(service, by, `/patients/${id}`, 'DELETE');
  async function start(environment: 'sandbox' | 'production' = 'sandbox'): Promise<string> {
    const person = identityOf(service, email);
    const details = { given: 'Ada', family: 'Lind', birth_date: '1984-07-19' };
    const { result } = await instance.consents.startPersonalRecord(
      byPerson(person),
      person,
      environment,
      details,
    );
    await eventually(async () => (await mine(environment)).includes(result.patient));
    return result.patient;
  }

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    instance = await openInstance(service.databaseUrl);
    owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    application = await granting.register(owner, id);
    receiver = await startReceiver();
    const endpoint = { url: receiver.url, events: ['*'], environment: 'sandbox' };
    await owner.done('POST', `/projects/${id}/webhooks`, endpoint);
  });
  after(async () => {
    await receiver?.stop();
    await instance?.close();
    await granting?.close();
    await service?.stop();
  });

  it('is removed with its grants, log and history; its person can start another', async () => {
    const record = await start();
    const kept = await start('production');
    const allowed = await granting.allow(application, record);
    const read = () => service.fhir(`/Patient/${allowed.patient}`, { key: allowed.token });
    expect((await read()).status).to.equal(200);
    expect((await purge(record)).status).to.equal(204);
    const told = (await receiver.of('/', 3)).map(({ body }) => JSON.parse(body.toString()));
    expect(told.map(({ type, data }) => [type, data.patient])).to.deep.equal([
      ['consent.granted', allowed.patient],
      ['resource.deleted', allowed.patient],
      ['consent.revoked', allowed.patient],
    ]);
    expect((await read()).status).to.equal(401);
    expect(await mine()).to.deep.equal([]);
    for (const path of ['/grants', '/access-log'])
      expect((await me(service, email, `/patients/${record}${path}`)).status, path).to.equal(404);
    expect((await purge(record)).status).to.equal(404);
    const { rows } = await service.pool.query('select from operations.access_entry where record = $1', [
      record,
    ]);
    expect(rows).to.have.length(0);
    // The remaining events say that the record was removed, but not whose record it was. No event contains that; it is derived
    // from the person who makes the request.
    const person = identityOf(service, email);
    const events = [];
    for await (const event of instance.store.read(projectStream(personalProject(person)))) events.push(event);
    expect(events.map(({ type }) => type)).to.deep.equal([
      'PersonalRecordStarted',
      'PersonalRecordStarted',
      'RecordErasureRequested',
      'RecordErased',
    ]);
    expect(JSON.stringify(events)).to.not.include(person.subject);
    let streamIsGone = false;
    try {
      for await (const _ of instance.store.read(recordStream(record))) break;
    } catch {
      streamIsGone = true;
    }
    expect(streamIsGone).to.equal(true);
    expect(await mine('production')).to.deep.equal([kept]);
    const again = await start();
    expect(again).to.not.equal(record);
    expect((await purge(again)).status).to.equal(204);
    expect((await purge(kept)).status).to.equal(204);
  });

  it('is removed by its person alone; a record that a project keeps by nobody here', async () => {
    const record = await start();
    const clinics = await newPatient(service);
    await granting.events.append(clinics, linkOf(service, email));
    await eventually(async () => (await mine()).includes(clinics));
    const refused = await purge(clinics);
    expect(refused.status).to.equal(403);
    expect(JSON.stringify(refused.json)).to.include('end your link with DELETE');
    for (const [id, by] of [
      [record, 'stranger@example.org'],
      [clinics, 'stranger@example.org'],
      ['x', email],
      ['01890000-0000-7000-8000-000000000000', email],
    ] as const)
      expect((await purge(id, by)).status, `${by} ${id}`).to.equal(404);
    // A person who looks after the patient can't remove the patient's own record.
    await granting.events.append(record, linkOf(service, 'carer@example.org', 'dependent'));
    await eventually(
      async () =>
        (await me(service, 'carer@example.org', '/patients?environment=sandbox')).json.data[0]?.id === record,
    );
    expect((await purge(record, 'carer@example.org')).status).to.equal(403);
    expect((await mine()).sort()).to.deep.equal([record, clinics].sort());
    expect((await service.fhir(`/Patient/${clinics}`)).status).to.equal(200);
  });
});
