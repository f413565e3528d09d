/** Deliveries that are in progress while their endpoint changes, and deliveries that are kept. */
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { WebhookClaims } from '#src/reactions/webhooks/claims.ts';
import { KEPT_DAYS, WebhookDeliveries } from '#src/reactions/webhooks/deliveries.ts';
import { verify } from '#src/reactions/webhooks/signature.ts';
import { type InProcess, startInProcess } from '../support/in-process.ts';
import { newPatient } from '../support/me.ts';
import { eventually } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { WebhookGrants } from '../support/webhook-grants.ts';
import { deliveriesOf, endpointAt, hooks, type ShownEndpoint } from '../support/webhooks.ts';

describe('webhook deliveries under way', () => {
  let service: InProcess;
  let receiver: Receiver;
  before(async () => {
    [service, receiver] = await Promise.all([
      startInProcess({}, { WEBHOOK_TIMEOUT_SECONDS: '5', WEBHOOK_RETRY_SECONDS: '0.1,0.1,0.1' }),
      startReceiver(),
    ]);
  });
  after(async () => {
    await Promise.all([service.stop(), receiver.stop()]);
  });

  /** Creates an endpoint with a ping that the receiver has received but not answered. */
  async function held(path: string): Promise<{ endpoint: ShownEndpoint; answer: (status: number) => void }> {
    let waiting: ServerResponse | undefined;
    receiver.answer(path, (response) => {
      waiting = response;
    });
    const endpoint = await endpointAt(service, receiver.url + path);
    void hooks(service, 'POST', `/${endpoint.id}/ping`);
    await receiver.of(path, 1);
    return { endpoint, answer: (status) => void waiting?.writeHead(status).end() };
  }

  /** Claims a due delivery to a new endpoint in a transaction that isn't committed, so no instance sends it. */
  async function claiming(
    path: string,
  ): Promise<{ id: string; claims: WebhookClaims; end: () => Promise<void> }> {
    const { id } = await endpointAt(service, receiver.url + path);
    await hooks(service, 'PATCH', `/${id}`, { active: false });
    await hooks(service, 'POST', `/${id}/ping`);
    const client = await service.pool.connect();
    await client.query('begin');
    await client.query('select from operations.webhook_delivery where endpoint_id = $1 for update', [id]);
    await hooks(service, 'PATCH', `/${id}`, { active: true });
    const claims = new WebhookClaims(service.pool, client, 15);
    const end = async (): Promise<void> => {
      await client.query('commit');
      client.release();
      await hooks(service, 'DELETE', `/${id}`);
    };
    return { id, claims, end };
  }

  /** Sends something. When it arrives, everything that was due before would also have been sent. */
  async function another(): Promise<void> {
    const { id } = await endpointAt(service, `${receiver.url}/another`);
    for (let n = 0; n < 3; n += 1) {
      await hooks(service, 'POST', `/${id}/ping`);
      await deliveriesOf(service, id, (all) => all.length === n + 1 && all[0]?.status === 'delivered');
    }
    await hooks(service, 'DELETE', `/${id}`);
  }

  it('end as they are answered when it is paused, and are tried again when it is resumed', async () => {
    const { endpoint, answer } = await held('/paused');
    await hooks(service, 'PATCH', `/${endpoint.id}`, { active: false });
    answer(500);
    await deliveriesOf(service, endpoint.id, ([one]) => one?.status === 'failed');
    await another();
    expect(await receiver.of('/paused', 1)).to.have.length(1);
    receiver.answer('/paused', (response) => response.writeHead(204).end());
    await hooks(service, 'PATCH', `/${endpoint.id}`, { active: true });
    await deliveriesOf(service, endpoint.id, ([one]) => one?.status === 'delivered' && one.attempts === 2);
    await hooks(service, 'DELETE', `/${endpoint.id}`);
  });

  it('are the last that a deleted one gets', async () => {
    const { endpoint, answer } = await held('/deleted');
    void hooks(service, 'POST', `/${endpoint.id}/ping`);
    await receiver.of('/deleted', 2);
    await hooks(service, 'DELETE', `/${endpoint.id}`);
    answer(500);
    const left = 'select from operations.webhook_delivery where endpoint_id = $1';
    await eventually(async () => (await service.pool.query(left, [endpoint.id])).rowCount === 0);
    await another();
    expect(await receiver.of('/deleted', 2)).to.have.length(2);
  });

  it('are signed with the new secret in their next attempt when it is rotated', async () => {
    const { endpoint, answer } = await held('/rotated');
    const rotated = await hooks(service, 'POST', `/${endpoint.id}/rotate`);
    const { secret } = JSON.parse(rotated.text) as ShownEndpoint;
    receiver.answer('/rotated', (response) => response.writeHead(204).end());
    answer(500);
    const [before, after] = await receiver.of('/rotated', 2);
    const isOf = (key: string, one: typeof before) =>
      verify(key, one?.body ?? '', String(one?.headers['service-signature']));
    expect([isOf(endpoint.secret, before), isOf(secret, before)]).to.deep.equal([true, false]);
    expect([isOf(endpoint.secret, after), isOf(secret, after)]).to.deep.equal([false, true]);
    await hooks(service, 'DELETE', `/${endpoint.id}`);
  });

  it('are never signed with the old secret once the new one was returned, also if they were claimed before', async () => {
    const waiting: ServerResponse[] = [];
    let answered = 0;
    receiver.answer('/ahead', (response) => {
      answered += 1;
      // The endpoint answers quickly at first, so deliveries are claimed ahead.
      if (answered <= 40) response.writeHead(204).end();
      else waiting.push(response);
    });
    const patient = await newPatient(service);
    const endpoint = await endpointAt(service, `${receiver.url}/ahead`);
    const resource = {
      resourceType: 'Condition',
      code: { text: 'Cough' },
      subject: { reference: `Patient/${patient}` },
    };
    const entry = Array.from({ length: 100 }, () => ({
      request: { method: 'POST', url: 'Condition' },
      resource,
    }));
    await service.post('/', { resourceType: 'Bundle', type: 'transaction', entry });
    const claimed = `select count(*)::int as n from operations.webhook_delivery where endpoint_id = $1 and due_at > now()`;
    await eventually(async () => {
      const { rows } = await service.pool.query<{ n: number }>(claimed, [endpoint.id]);
      return waiting.length === 16 && (rows[0]?.n ?? 0) >= 24;
    });
    const rotated = await hooks(service, 'POST', `/${endpoint.id}/rotate`);
    const { secret } = JSON.parse(rotated.text) as ShownEndpoint;
    const before = (await receiver.of('/ahead', 1)).length;
    receiver.answer('/ahead', (response) => response.writeHead(204).end());
    for (const response of waiting) response.writeHead(204).end();
    const all = await receiver.of('/ahead', 100);
    const later = all.slice(before);
    expect(later).to.have.length.greaterThan(30);
    for (const { body, headers } of later)
      expect(verify(secret, body, String(headers['service-signature']))).to.equal(true);
    await hooks(service, 'DELETE', `/${endpoint.id}`);
  });

  it('may be claimed by a statement that has not been committed when the endpoint changes', async () => {
    const { id, claims, end } = await claiming('/uncommitted');
    try {
      expect(await claims.claim([{ endpointId: id, free: 1 }])).to.have.length(1);
      expect(await claims.mayHold(id)).to.equal(true);
    } finally {
      await end();
    }
  });

  it('have no first attempt if their claims are released, so a long pause uses up none of their 24 hours', async () => {
    const { id, claims, end } = await claiming('/released');
    try {
      const room = [{ endpointId: id, free: 1 }];
      const claimed = await claims.claim(room);
      const releasing = new WebhookClaims(claims.claiming as typeof service.pool, claims.claiming, 15);
      await releasing.release(claimed);
      await claims.claiming.query(
        `update operations.webhook_delivery set due_at = due_at - interval '25 hours',
                first_attempt_at = first_attempt_at - interval '25 hours' where endpoint_id = $1`,
        [id],
      );
      const [again] = await claims.claim(room);
      expect(again?.age).to.equal(0);
    } finally {
      await end();
    }
  });

  it('tell of a purge when the receiver is back; the ledger keeps nothing of the patient', async () => {
    receiver.answer('/purged', (response) => response.writeHead(500).end());
    const { id } = await endpointAt(service, `${receiver.url}/purged`);
    const patient = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
    await deliveriesOf(service, id, ([one]) => one !== undefined && one.attempts > 0);
    await hooks(service, 'PATCH', `/${id}`, { active: false });
    const purge = await service.fhir(`/Patient/${patient}?_purge=true`, { method: 'DELETE' });
    expect(purge.status).to.equal(204);
    receiver.answer('/purged', (response) => response.writeHead(204).end());
    await hooks(service, 'PATCH', `/${id}`, { active: true });
    await eventually(() =>
      receiver.received.some(
        ({ path, headers }) => path === '/purged' && headers['service-event'] === 'resource.deleted',
      ),
    );
    const deliveries = new WebhookDeliveries(service.pool);
    const ended = `select from operations.webhook_delivery where record = $1 and due_at is not null`;
    await eventually(async () => (await service.pool.query(ended, [patient])).rowCount === 0);
    const [one] = await deliveriesOf(service, id, (all) => all.length > 0);
    const again = await hooks(service, 'POST', `/${id}/deliveries/${one?.id}/redeliver`);
    expect(again.status, 'a finished delivery is not sent again').to.equal(404);
    await deliveries.sweep();
    const { rowCount } = await service.pool.query(
      'select from operations.webhook_delivery where record = $1 or strpos(payload, $1::text) > 0',
      [patient],
    );
    expect(rowCount).to.equal(0);
    await hooks(service, 'DELETE', `/${id}`);
  });

  it("tell an application of a purge first, then of its grant's end, also when the first attempt is slow and fails", async () => {
    const grants = await WebhookGrants.open(service);
    const app = await grants.listen('Order', ['resource.deleted', 'consent.revoked']);
    const record = await newPatient(service);
    await grants.give(record, app.project, await grants.register(app.project, 'Diary'), ['patient/*.rs']);
    const waiting: ServerResponse[] = [];
    grants.receiver.answer(`/${app.project}`, (response, { headers }) => {
      if (headers['service-event'] === 'resource.deleted' && waiting.length === 0) waiting.push(response);
      else response.writeHead(204).end();
    });
    const came = () => grants.receiver.received.map(({ headers }) => headers['service-event']);
    const purge = await service.fhir(`/Patient/${record}?_purge=true`, { method: 'DELETE' });
    expect(purge.status).to.equal(204);
    await eventually(() => waiting.length === 1);
    await another();
    expect(came()).to.deep.equal(['resource.deleted']);
    for (const response of waiting) response.writeHead(500).end();
    await eventually(() => came().length === 3);
    expect(came().slice(0, 1)).to.deep.equal(['resource.deleted']);
    expect(came().slice(1)).to.have.members(['consent.revoked', 'resource.deleted']);
    await grants.close();
  });

  it(`are kept for ${KEPT_DAYS} days`, async () => {
    const { id } = await endpointAt(service, `${receiver.url}/kept`);
    for (let n = 0; n < 2; n += 1) await hooks(service, 'POST', `/${id}/ping`);
    const [newer, older] = await deliveriesOf(service, id, (all) =>
      all.every(({ status }) => status === 'delivered'),
    );
    const age = `update operations.webhook_delivery set created_at = now() - make_interval(days => $2, hours => $3) where id = $1`;
    await service.pool.query(age, [older?.id, KEPT_DAYS, 1]);
    await service.pool.query(age, [newer?.id, KEPT_DAYS, -1]);
    await new WebhookDeliveries(service.pool).sweep();
    const left = await deliveriesOf(service, id, () => true);
    expect(left.map((one) => one.id)).to.deep.equal([newer?.id]);
    await hooks(service, 'DELETE', `/${id}`);
  });
});
