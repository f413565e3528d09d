/** Notifications about records to applications with grants (docs/spec/decisions.md, section 6; docs/webhooks.md). */
import { expect } from 'chai';
import { WebhookDeliveries } from '#src/reactions/webhooks/deliveries.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { made } from '../projections/made.ts';
import { grantData } from '../support/consents.ts';
import { type InProcess, startInProcess } from '../support/in-process.ts';
import { inDays, newPatient } from '../support/me.ts';
import { eventually } from '../support/process.ts';
import { RecordEvents } from '../support/record-events.ts';
import { type Listening, type Told, WebhookGrants } from '../support/webhook-grants.ts';
import { deliveriesOf, endpointAt, hooks } from '../support/webhooks.ts';

const SYSTEM = 'http://terminology.hl7.org/CodeSystem/observation-category';

describe('webhooks to applications with grants', () => {
  let service: InProcess;
  let grants: WebhookGrants;
  before(async () => {
    service = await startInProcess();
    grants = await WebhookGrants.open(service);
  });
  after(async () => {
    await grants?.close();
    await service?.stop();
  });

  const create = async (record: string, resource: Resource): Promise<string> =>
    String((await service.post(`/${resource.resourceType}`, { subject: of(record), ...resource })).json.id);
  const observation = (record: string, ...categories: string[]) => create(record, observed(...categories));
  async function put(record: string, id: string, resource: Resource): Promise<void> {
    const body = JSON.stringify({ subject: of(record), ...resource, id });
    const { status } = await service.fhir(`/${resource.resourceType}/${id}`, { method: 'PUT', body });
    expect(status).to.be.oneOf([200, 201]);
  }
  const remove = async (type: string, id: string): Promise<void> => {
    expect((await service.fhir(`/${type}/${id}`, { method: 'DELETE' })).status).to.equal(204);
  };
  /**
   * Writes something that every grant covers. When its notification has arrived, all earlier notifications have arrived, too.
   */
  async function fence(record: string, listening: Listening, count: number): Promise<Told[]> {
    const body = JSON.stringify({ resourceType: 'Patient', id: record, birthDate: '1960-01-01' });
    expect((await service.fhir(`/Patient/${record}`, { method: 'PUT', body })).status).to.equal(200);
    await listening.come(count + 1);
    const queued = await deliveriesOf(
      service,
      listening.endpoint,
      (all) => all.some(({ payload }) => isPatient(payload)) && all.every(isDelivered),
      '',
      listening.key,
    );
    expect(queued, JSON.stringify(listening.told().map(({ data }) => data))).to.have.length(count + 1);
    const told = listening.told();
    expect(told.map(({ body: text }) => text.toLowerCase()).join()).to.not.include(record);
    return told.filter(({ data }) => data.resource_type !== 'Patient');
  }
  const shown = (told: readonly Told[]) =>
    told.map(({ type, data }) => [type, data.resource_type, data.id, data.version]);

  it('tell of what the application can read, with its pairwise id, and of nothing else', async () => {
    const listening = await grants.listen('Categories');
    const app = await grants.register(listening.project, 'Diary');
    const record = await newPatient(service);
    await observation(record, 'laboratory');
    const { patient } = await grants.give(record, listening.project, app, [
      'patient/Condition.s',
      'patient/Observation.rs?category=laboratory',
      `patient/Observation.r?category=${SYSTEM}|survey`,
    ]);
    const seen = await observation(record, 'vital-signs', 'laboratory');
    const hidden = await observation(record, 'vital-signs');
    await observation(record);
    await create(record, { resourceType: 'Condition', code: { text: 'x' } });
    const system = await observation(record, 'survey');
    await create(record, observedIn('urn:other', 'survey'));
    await put(record, hidden, observed('laboratory'));
    await put(record, hidden, observed('vital-signs'));
    await remove('Observation', hidden);
    await put(record, seen, observed('laboratory'));
    await remove('Observation', seen);
    await put(record, seen, observed('laboratory'));
    const told = await fence(record, listening, 6);
    expect(shown(told)).to.deep.equal([
      ['resource.created', 'Observation', seen, 1],
      ['resource.created', 'Observation', system, 1],
      ['resource.updated', 'Observation', hidden, 2],
      ['resource.updated', 'Observation', seen, 2],
      ['resource.deleted', 'Observation', seen, 3],
      ['resource.updated', 'Observation', seen, 4],
    ]);
    for (const { data } of told) {
      expect(data).to.have.keys(
        ...['resource_type', 'id', 'patient', 'version', 'last_updated', 'external', 'source'],
      );
      expect(data).to.deep.include({ patient, external: true, source: { author_type: 'import' } });
    }
    const [last] = listening.told().slice(-1);
    expect(last?.data).to.deep.include({ resource_type: 'Patient', id: patient, patient, version: 2 });
  });

  it('tell of documents of a category, and of Provenances whose targets are all covered', async () => {
    const listening = await grants.listen('Targets');
    const app = await grants.register(listening.project, 'Diary');
    const record = await newPatient(service);
    await grants.give(record, listening.project, app, [
      'patient/DocumentReference.rs?category=clinical-note',
      'patient/Observation.rs?category=laboratory',
      'patient/Provenance.rs',
    ]);
    const document = (code: string): Resource => ({
      resourceType: 'DocumentReference',
      status: 'current',
      category: [{ coding: [{ code }] }],
      content: [{ attachment: { contentType: 'text/plain', data: 'aGVsbG8=' } }],
    });
    const note = await create(record, document('clinical-note'));
    await create(record, document('other'));
    const lab = await observation(record, 'laboratory');
    const vital = await observation(record, 'vital-signs');
    const about = async (...targets: string[]): Promise<string> => {
      const target = targets.map((reference) => ({ reference }));
      const agent = [{ who: { display: 'x' } }];
      const body = { resourceType: 'Provenance', recorded: '2026-01-01T00:00:00Z', target, agent };
      return String((await service.post('/Provenance', body)).json.id);
    };
    const both = await about(`Observation/${lab}`, `Observation/${vital}`);
    const one = await about(`Observation/${lab}`, `Patient/${record}`);
    await remove('Provenance', one);
    await remove('Provenance', both);
    const told = await fence(record, listening, 5);
    expect(told.map(({ type, data }) => [type, data.id])).to.have.deep.members([
      ['resource.created', note],
      ['document.finalized', note],
      ['resource.created', lab],
      ['resource.created', one],
      ['resource.deleted', one],
    ]);
  });

  it('tell each sector once, under ids of its own, and the owner as ever; again the same by a replay', async () => {
    const [first, second] = [await grants.listen('Sectors'), await grants.listen('Other project')];
    const scopes = ['patient/Observation.rs'];
    const record = await newPatient(service);
    const since = toInstant(nowMicros()).replace(/\d{3}Z$/, 'Z');
    const own = await endpointAt(service, `${grants.receiver.url}/owner`, ['resource.created']);
    const give = async (to: Listening, sector: string) =>
      grants.give(record, to.project, await grants.register(to.project, sector), scopes, sector);
    const [one, same, other, elsewhere] = [
      await give(first, 'one'),
      await give(first, 'one'),
      await give(first, 'other'),
      await give(second, 'one'),
    ];
    expect(one.patient).to.equal(same.patient);
    const before = await observation(record);
    await other.revoke();
    const after = await observation(record);
    await one.revoke();
    const still = await observation(record);
    await same.revoke();
    await observation(record);
    // An ended grant gets no notification, and the notification that is waited for comes later.
    await give(first, 'last');
    const end = await observation(record);
    await first.come(5);
    const last = first.told().at(-1)?.data.patient;
    const told = first.told().map(({ data }) => [data.id, data.patient]);
    expect(told).to.have.deep.members([
      ...[one.patient, other.patient].map((patient) => [before, patient]),
      [after, one.patient],
      [still, one.patient],
      [end, last],
    ]);
    expect(last).to.not.be.oneOf([one.patient, other.patient]);
    const foreign = await second.come(5);
    expect(new Set(foreign.map(({ data }) => data.patient))).to.deep.equal(new Set([elsewhere.patient]));
    const owned = await grants.receiver.of('/owner', 5);
    const eventIds = [...first.told(), ...foreign].map(({ event }) => event);
    const ownIds = owned.map(({ headers }) => String(headers['service-event-id']));
    expect(new Set([...eventIds, ...ownIds]).size).to.equal(15);
    for (const { body } of owned) expect(JSON.parse(body.toString()).data.patient).to.equal(record);

    const live = new Map(first.told().map(({ event, body }) => [event, body]));
    const begun = grants.receiver.received.length;
    const answer = await hooks(
      service,
      'POST',
      `/${first.endpoint}/replay`,
      { from: since, types: ['resource.created'] },
      { key: first.key },
    );
    expect(answer.status, String(answer)).to.equal(202);
    await eventually(async () => {
      const { text } = await hooks(service, 'GET', `/${first.endpoint}/replay`, undefined, {
        key: first.key,
      });
      return (JSON.parse(text) as { status: string }).status === 'done';
    });
    const replayed = grants.receiver.received
      .slice(begun)
      .filter(({ headers }) => headers['service-replay'] === 'true')
      .map(({ headers, body }) => [headers['service-event-id'], body.toString()] as const);
    expect(replayed).to.have.deep.members([...live]);
    const [delivery] = await deliveriesOf(service, first.endpoint, () => true, '', first.key);
    const path = `/${first.endpoint}/deliveries/${delivery?.id}/redeliver`;
    const again = await hooks(service, 'POST', path, undefined, { key: first.key });
    expect(JSON.parse(again.text)).to.deep.include({ id: delivery?.id, payload: delivery?.payload });
    await hooks(service, 'DELETE', `/${own.id}`);
  });

  it('end with the time of the grant', async () => {
    const listening = await grants.listen('Expiry');
    const events = await RecordEvents.open(service.databaseUrl);
    try {
      const record = await newPatient(service);
      const give = async (expires_at: string): Promise<string> => {
        const data = grantData({
          application_id: await grants.register(listening.project, 'Diary'),
          project_id: listening.project,
          sector: `sector-${expires_at}`,
          expires_at,
        });
        const at = { recorded_at: toInstant(nowMicros()) };
        await events.append(record, made({ type: 'ConsentGranted', data }, at));
        return data.patient;
      };
      await give(inDays(-0.0001));
      const patient = await give(inDays(1));
      await observation(record);
      const told = await fence(record, listening, 1);
      expect(told.map(({ data }) => data.patient)).to.deep.equal([patient]);
    } finally {
      await events.close();
    }
  });

  it('say nothing of what the service writes by itself, and hide the real id in free text', async () => {
    const listening = await grants.listen('Text');
    const app = await grants.register(listening.project, 'Diary');
    const record = await newPatient(service);
    const { patient } = await grants.give(record, listening.project, app, ['patient/*.rs']);
    const headers = { 'X-Service-Source-System': `ward ${record.toUpperCase()}` };
    const body = { ...observed(), subject: of(record) };
    await service.post('/Observation', body, headers);
    const [told] = await fence(record, listening, 1);
    expect(told?.data.source).to.deep.equal({ author_type: 'import', source_system: `ward ${patient}` });
  });

  it('tell of a purge that the Patient is deleted, and leave nothing of the record', async () => {
    const listening = await grants.listen('Purged', ['*']);
    const app = await grants.register(listening.project, 'Diary');
    const record = await newPatient(service);
    const { patient } = await grants.give(record, listening.project, app, ['patient/*.rs']);
    await observation(record);
    await listening.come(2);
    const purged = await service.fhir(`/Patient/${record}?_purge=true`, { method: 'DELETE' });
    expect(purged.status).to.equal(204);
    const told = await listening.come(4);
    expect(told.map(({ type, data }) => [type, data.patient])).to.have.deep.members([
      ['consent.granted', patient],
      ['resource.created', patient],
      ['resource.deleted', patient],
      ['consent.revoked', patient],
    ]);
    expect(told.find(({ type }) => type === 'resource.deleted')?.data).to.deep.include({
      resource_type: 'Patient',
      id: patient,
    });
    expect(told.map(({ body }) => body).join()).to.not.include(record);
    await deliveriesOf(service, listening.endpoint, (all) => all.every(isDelivered), '', listening.key);
    await new WebhookDeliveries(service.pool).sweep();
    for (const table of ['webhook_delivery', 'webhook_grant']) {
      const { rowCount } = await service.pool.query(`select from operations.${table} where record = $1`, [
        record,
      ]);
      expect(rowCount, table).to.equal(0);
    }
  });
});

interface Resource {
  readonly resourceType: string;
  readonly [name: string]: unknown;
}

const of = (record: string) => ({ reference: `Patient/${record}` });
const observed = (...categories: string[]): Resource => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'x' },
  ...(categories.length === 0
    ? {}
    : { category: categories.map((code) => ({ coding: [{ system: SYSTEM, code }] })) }),
});
const observedIn = (system: string, code: string): Resource => ({
  ...observed(),
  category: [{ coding: [{ system, code }] }],
});
const isDelivered = ({ status }: { readonly status: string }): boolean => status === 'delivered';
const isPatient = (payload: Readonly<Record<string, unknown>>): boolean =>
  JSON.stringify(payload).includes('"resource_type":"Patient"');
