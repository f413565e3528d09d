/**
 * Notifications to subscribers: each write through any interface is sent once, signed, without the content
 * (docs/spec/interface.md, section 6).
 */
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { Sender } from '#src/reactions/webhooks/send.ts';
import { sign, verify } from '#src/reactions/webhooks/signature.ts';
import { type InProcess, startInProcess } from '../support/in-process.ts';
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts';
import { deliveriesOf, endpointAt, hooks, type ShownEndpoint } from '../support/webhooks.ts';

interface Event {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly environment: string;
  readonly project: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const eventOf = ({ body }: Received): Event => JSON.parse(body.toString()) as Event;

describe('webhook events', () => {
  let service: InProcess;
  let receiver: Receiver;
  before(async () => {
    [service, receiver] = await Promise.all([startInProcess(), startReceiver()]);
  });
  after(async () => {
    await Promise.all([service.stop(), receiver.stop()]);
  });

  let endpoint: ShownEndpoint;
  let patient: string;

  it('tell of creates, updates, deletes and restores, with their fields and no others', async () => {
    endpoint = await endpointAt(service, `${receiver.url}/all`);
    const created = await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'Secret' }] });
    patient = String(created.json.id);
    const body = JSON.stringify({ resourceType: 'Patient', id: patient, birthDate: '1970-01-01' });
    const updated = await service.fhir(`/Patient/${patient}`, { method: 'PUT', body });
    await service.fhir(`/Patient/${patient}`, { method: 'DELETE' });
    const restored = await service.fhir(`/Patient/${patient}`, { method: 'PUT', body });
    expect([updated.status, restored.status]).to.deep.equal([200, 201]);
    const got = await receiver.of('/all', 4);
    const events = got
      .map(eventOf)
      .sort((one, other) => Number(one.data.version) - Number(other.data.version));
    expect(events.map(({ type }) => type)).to.deep.equal([
      'resource.created',
      'resource.updated',
      'resource.deleted',
      'resource.updated',
    ]);
    const [first] = events;
    expect(Object.keys(first ?? {})).to.deep.equal([
      'id',
      'type',
      'created_at',
      'environment',
      'project',
      'data',
    ]);
    expect(first?.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(first?.project).to.match(/^proj_/);
    expect(first?.environment).to.equal('sandbox');
    const meta = created.json.meta as { lastUpdated?: unknown };
    expect(first?.data).to.deep.equal({
      resource_type: 'Patient',
      id: patient,
      patient,
      version: 1,
      last_updated: meta.lastUpdated,
    });
    expect(got.map(({ body: raw }) => raw.toString()).join()).not.to.include('Secret');
  });

  it('are signed over the bytes that come, with the headers of section 6', async () => {
    const [one] = await receiver.of('/all', 1);
    if (one === undefined) throw new Error('nothing came');
    const { headers, body } = one;
    const event = eventOf(one);
    expect(headers).to.deep.include({
      'content-type': 'application/json',
      'user-agent': 'Service-Webhooks/1.0',
      'service-event': event.type,
      'service-event-id': event.id,
    });
    expect(headers['service-delivery']).to.match(/^whd_[\w-]{22}$/);
    expect(event.id).to.match(/^evt_[\w-]{22}$/);
    const signature = String(headers['service-signature']);
    const [, t = '', v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
    const expected = createHmac('sha256', endpoint.secret).update(
      Buffer.concat([Buffer.from(`${t}.`), body]),
    );
    expect(v1).to.equal(expected.digest('hex'));
    expect(verify(endpoint.secret, body, signature)).to.equal(true);
    expect(verify(endpoint.secret, Buffer.concat([body, Buffer.from(' ')]), signature), 'tampered').to.equal(
      false,
    );
    expect(verify('whsec_other', body, signature), 'another secret').to.equal(false);
    const old = sign(endpoint.secret, body, Math.floor(Date.now() / 1000) - 301);
    expect(verify(endpoint.secret, body, old), 'old').to.equal(false);
  });

  it('are verified by the libraries of Standard Webhooks and Svix', async () => {
    const [one] = await receiver.of('/all', 1);
    if (one === undefined) throw new Error('nothing came');
    const headers = one.headers as Record<string, string>;
    expect(headers['webhook-id']).to.equal(eventOf(one).id);
    for (const Library of [Webhook, SvixWebhook]) {
      const library = new Library(endpoint.secret);
      expect(library.verify(one.body.toString(), headers)).to.deep.equal(eventOf(one));
      expect(() => library.verify(`${one.body} `, headers), 'tampered').to.throw();
      const other = new Library(`whsec_${Buffer.alloc(32).toString('base64')}`);
      expect(() => other.verify(one.body.toString(), headers), 'another secret').to.throw();
    }
  });

  it('are verified by Stripe’s library, by the contract’s signature', async () => {
    const [one] = await receiver.of('/all', 1);
    if (one === undefined) throw new Error('nothing came');
    const { webhooks } = new Stripe('sk_test_unused');
    const signature = String(one.headers['service-signature']);
    expect(webhooks.constructEvent(one.body.toString(), signature, endpoint.secret)).to.deep.equal(
      eventOf(one),
    );
    expect(() => webhooks.constructEvent(`${one.body} `, signature, endpoint.secret), 'tampered').to.throw();
    expect(
      () => webhooks.constructEvent(one.body.toString(), signature, 'whsec_x'),
      'another secret',
    ).to.throw();
  });

  it("carry only the contract's signature with a secret of the older form", async () => {
    const secret = `whsec_${Buffer.alloc(32, 0xfb).toString('base64url')}`;
    const sender = new Sender(5_000);
    const event = { eventId: 'evt_older', eventType: 'ping', deliveryId: 'whd_older', payload: '{}' };
    const url = `${receiver.url}/older`;
    const outcome = await sender.send({ ...event, url, secret, replay: false, guarded: false });
    sender.close();
    expect(outcome?.delivered).to.equal(true);
    const [got] = await receiver.of('/older', 1);
    expect(verify(secret, '{}', String(got?.headers['service-signature']))).to.equal(true);
    expect(got?.headers).to.include({ 'webhook-id': 'evt_older' }).and.not.have.property('webhook-signature');
  });

  it('tell of the entries of a transaction and a batch one by one, directory entries too', async () => {
    const only = await endpointAt(service, `${receiver.url}/bundles`, ['resource.created']);
    const observation = (subject: string) => ({
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'x' },
      subject: { reference: subject },
    });
    const post = (resource: object & { resourceType: string }, fullUrl?: string) => ({
      ...(fullUrl === undefined ? {} : { fullUrl }),
      resource,
      request: { method: 'POST', url: resource.resourceType },
    });
    const urn = 'urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8';
    await service.post('', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        post({ resourceType: 'Patient' }, urn),
        post(observation(urn)),
        post({ resourceType: 'Organization', name: 'Clinic' } as object & { resourceType: string }),
      ],
    });
    await service.post('', {
      resourceType: 'Bundle',
      type: 'batch',
      entry: [post(observation(`Patient/${patient}`)), post(observation(`Patient/${patient}`))],
    });
    const got = (await receiver.of('/bundles', 5)).map(eventOf);
    expect(got.map(({ data }) => data.resource_type).sort()).to.deep.equal([
      'Observation',
      'Observation',
      'Observation',
      'Organization',
      'Patient',
    ]);
    const organization = got.find(({ data }) => data.resource_type === 'Organization');
    expect(organization?.data.patient).to.equal(null);
    expect(new Set(got.map(({ id }) => id)).size).to.equal(5);
    await hooks(service, 'DELETE', `/${only.id}`);
  });

  it('go to the endpoints of the writing project alone, as of their types and their beginning', async () => {
    const key = await service.newProject();
    await endpointAt(service, `${receiver.url}/others`, ['*'], { key });
    const deleted = await endpointAt(service, `${receiver.url}/deletes`, ['resource.deleted']);
    const { id } = (await service.post('/Patient', { resourceType: 'Patient' })).json;
    await service.fhir(`/Patient/${String(id)}`, { method: 'DELETE' });
    const [first, ...more] = await receiver.of('/deletes', 1);
    expect(first === undefined ? undefined : eventOf(first).data).to.deep.include({ id, version: 2 });
    expect(more).to.deep.equal([]);
    expect(receiver.received.some(({ path }) => path === '/others')).to.equal(false);
    await hooks(service, 'DELETE', `/${deleted.id}`);
  });

  it('are told again under the same ids when they are redelivered', async () => {
    const [delivery] = await deliveriesOf(service, endpoint.id, ([one]) => one?.status === 'delivered');
    const before = receiver.received.length;
    const answer = await hooks(service, 'POST', `/${endpoint.id}/deliveries/${delivery?.id}/redeliver`);
    expect(JSON.parse(answer.text)).to.deep.include({ id: delivery?.id, status: 'delivered', attempts: 1 });
    await deliveriesOf(service, endpoint.id, (all) => all.every(({ status }) => status === 'delivered'));
    const again = receiver.received.slice(before).find(({ path }) => path === '/all');
    expect(again?.headers).to.deep.include({
      'service-event-id': delivery?.event_id,
      'service-delivery': delivery?.id,
    });
    const unknown = await hooks(service, 'POST', `/${endpoint.id}/deliveries/whd_none/redeliver`);
    expect(unknown.status).to.equal(404);
  });

  it('tell of a purge as of a deletion', async () => {
    const { id } = (await service.post('/Patient', { resourceType: 'Patient' })).json;
    const purged = await service.fhir(`/Patient/${String(id)}?_purge=true`, { method: 'DELETE' });
    expect(purged.status).to.equal(204);
    const told = async (): Promise<Event[]> =>
      (await receiver.of('/all', 1)).map(eventOf).filter(({ data }) => data.id === id);
    await deliveriesOf(service, endpoint.id, (all) => all.every(({ status }) => status === 'delivered'));
    expect((await told()).map(({ type }) => type).sort()).to.deep.equal([
      'resource.created',
      'resource.deleted',
    ]);
  });

  it('are logged newest first, by status and type, page by page', async () => {
    const all = await deliveriesOf(service, endpoint.id, ({ length }) => length > 5);
    const pages: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const answer = await hooks(service, 'GET', `/${endpoint.id}/deliveries?limit=3&cursor=${cursor}`);
      const page = JSON.parse(answer.text) as {
        data: { id: string }[];
        next_cursor: string | null;
        total: number;
      };
      expect(page.total).to.equal(all.length);
      pages.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(pages).to.deep.equal(all.map(({ id }) => id));
    const none = await deliveriesOf(service, endpoint.id, () => true, '&status=exhausted');
    expect(none).to.deep.equal([]);
    const deletes = await deliveriesOf(service, endpoint.id, () => true, '&event_type=resource.deleted');
    expect(new Set(deletes.map(({ event_type }) => event_type))).to.deep.equal(new Set(['resource.deleted']));
    expect((await hooks(service, 'GET', `/${endpoint.id}/deliveries?status=lost`)).status).to.equal(422);
  });
});
