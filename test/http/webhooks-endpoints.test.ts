/**
 * `/v1/webhooks`: endpoints, their secrets, which project they belong to, and how many are allowed (docs/spec/interface.md,
 * sections 2.6 and 4.4).
 */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '../support/in-process.ts';
import { eventually } from '../support/process.ts';
import { productionKey } from '../support/project.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { deliveriesOf, endpointAt, hooks, type ShownEndpoint } from '../support/webhooks.ts';

const URL_ = 'https://hooks.example.org/annal';

describe('webhook endpoints', () => {
  let service: InProcess;
  let receiver: Receiver;
  before(async () => {
    [service, receiver] = await Promise.all([startInProcess(), startReceiver()]);
  });
  after(async () => {
    await Promise.all([service.stop(), receiver.stop()]);
  });

  it('are made with a secret that no later answer and no table shows', async () => {
    const body = { url: URL_, events: ['resource.created'], description: 'ours' };
    const made = await hooks(service, 'POST', '', body);
    expect(made.status, String(made)).to.equal(201);
    expect(made.headers.get('cache-control')).to.equal('no-store');
    const { secret, ...endpoint } = JSON.parse(made.text) as ShownEndpoint & Record<string, unknown>;
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(endpoint).to.deep.include({
      ...body,
      active: true,
      environment: 'sandbox',
      last_success_at: null,
      last_failure_at: null,
      failure_streak: 0,
    });
    expect(endpoint.id).to.match(/^whe_[\w-]{22}$/);
    const read = await hooks(service, 'GET', `/${endpoint.id}`);
    expect(JSON.parse(read.text)).to.deep.equal(endpoint);
    const { rows } = await service.pool.query<{ text: string }>(
      'select row_to_json(e)::text as text from webhooks.endpoint e',
    );
    const { rows: events } = await service.pool.query<{ text: string }>(
      `select e.data::text as text from log.events e where type like 'Webhook%'`,
    );
    expect([...rows, ...events].map(({ text }) => text).join()).not.to.include(secret.slice(6));
    await hooks(service, 'DELETE', `/${endpoint.id}`);
  });

  it('with the same Idempotency-Key are one, with one secret', async () => {
    const call = { headers: { 'Idempotency-Key': 'endpoint-1' } };
    const one = await hooks(service, 'POST', '', { url: URL_, events: ['*'] }, call);
    const two = await hooks(service, 'POST', '', { url: URL_, events: ['*'] }, call);
    expect(two.text).to.equal(one.text);
    expect(two.headers.get('idempotent-replayed')).to.equal('true');
    await hooks(service, 'DELETE', `/${(JSON.parse(one.text) as ShownEndpoint).id}`);
  });

  it('have their URL in normalized form, also when it is changed', async () => {
    const written = 'HTTPS://Hooks.Example.ORG:443/a/../b c?q=é';
    const normalized = 'https://hooks.example.org/b%20c?q=%C3%A9';
    const { id, url } = await endpointAt(service, written);
    expect(url).to.equal(normalized);
    const { rows } = await service.pool.query('select url from webhooks.endpoint where id = $1', [id]);
    expect(rows).to.deep.equal([{ url: normalized }]);
    const change = async (to: string): Promise<ShownEndpoint & { url: string; updated_at: string }> =>
      JSON.parse((await hooks(service, 'PATCH', `/${id}`, { url: to })).text);
    const changed = await change('https://hooks.example.org');
    expect(changed.url).to.equal('https://hooks.example.org/');
    // A different spelling of the same URL changes nothing.
    expect(await change('https://HOOKS.example.org:443')).to.deep.equal(changed);
    const long = await hooks(service, 'PATCH', `/${id}`, { url: `https://e.org/${'é'.repeat(1_000)}` });
    expect([long.status, long.text.includes('at most 2000 characters')]).to.deep.equal([422, true]);
    await hooks(service, 'DELETE', `/${id}`);
  });

  it('name every fault of what is sent', async () => {
    const cases: [object, string[]][] = [
      [{}, ['url', 'events']],
      [{ url: 'ftp://a.example', events: [] }, ['events']],
      [{ url: URL_, events: ['resource.made'] }, ['events.0']],
      [{ url: URL_, events: ['*', 'ping'] }, ['events']],
      [{ url: URL_, events: ['ping', 'ping'] }, ['events']],
      [{ url: URL_, events: ['ping'], secret: 'mine' }, ['secret']],
      [{ url: 'http://hooks.example.org', events: ['*'] }, ['url']],
      [{ url: 'https://user:pass@hooks.example.org', events: ['*'] }, ['url']],
      [{ url: 'hooks', events: ['*'] }, ['url']],
    ];
    for (const [body, fields] of cases) {
      const answer = await hooks(service, 'POST', '', body);
      expect(answer.status, JSON.stringify(body)).to.equal(422);
      const { error } = JSON.parse(answer.text) as { error: { errors: { field: string }[] } };
      expect(error.errors.map(({ field }) => field)).to.deep.equal(fields);
    }
  });

  it('are ten at most, also when they are made at once, and deleting makes room', async () => {
    const key = await service.newProject();
    const made = await Promise.all(
      Array.from({ length: 14 }, () => hooks(service, 'POST', '', { url: URL_, events: ['*'] }, { key })),
    );
    const statuses = made.map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([...Array(10).fill(201), ...Array(4).fill(409)]);
    const first = made.find(({ status }) => status === 201);
    const { id } = JSON.parse(first?.text ?? '') as ShownEndpoint;
    expect((await hooks(service, 'DELETE', `/${id}`, undefined, { key })).status).to.equal(204);
    expect((await hooks(service, 'GET', `/${id}`, undefined, { key })).status).to.equal(404);
    expect((await hooks(service, 'DELETE', `/${id}`, undefined, { key })).status).to.equal(404);
    await endpointAt(service, URL_, ['*'], { key });
    const page = await hooks(service, 'GET', '?limit=6', undefined, { key });
    const { data, total, next_cursor } = JSON.parse(page.text) as Page;
    expect([data.length, total]).to.deep.equal([6, 10]);
    const rest = await hooks(service, 'GET', `?limit=6&cursor=${next_cursor}`, undefined, { key });
    const second = JSON.parse(rest.text) as Page;
    expect(second.next_cursor).to.equal(null);
    expect(new Set([...data, ...second.data].map((each) => each.id)).size).to.equal(10);
    const wrong = await hooks(service, 'GET', '?cursor=abc', undefined, { key });
    expect(wrong.status).to.equal(422);
  });

  it('belong to one project and environment', async () => {
    const { id } = await endpointAt(service, URL_);
    const others = [
      await service.newProject(),
      await productionKey(service.databaseUrl, service.pool, service.key),
    ];
    for (const key of others) {
      const asked: [string, string, object?][] = [
        ['GET', ''],
        ['PATCH', '', { active: false }],
        ['POST', '/rotate'],
        ['POST', '/ping'],
        ['GET', '/deliveries'],
        ['POST', '/deliveries/redeliver-exhausted'],
        ['POST', '/deliveries/whd_AAAAAAAAAAAAAAAAAAAAAA/redeliver'],
        ['DELETE', ''],
      ];
      for (const [method, path, body] of asked) {
        const answer = await hooks(service, method, `/${id}${path}`, body, { key });
        expect(answer.status, `${method} ${path}`).to.equal(404);
      }
      expect(JSON.parse((await hooks(service, 'GET', '', undefined, { key })).text)).to.deep.include({
        total: 0,
      });
    }
    const [, production] = others;
    const refused = await hooks(
      service,
      'POST',
      '',
      { url: receiver.url, events: ['*'] },
      { key: production ?? '' },
    );
    expect(refused.status, 'http://localhost in production').to.equal(422);
    await hooks(service, 'DELETE', `/${id}`);
  });

  it('answer ping with the delivery, which comes signed with the newest secret alone', async () => {
    const { id, secret } = await endpointAt(service, `${receiver.url}/ping`);
    const rotated = await hooks(service, 'POST', `/${id}/rotate`);
    const { secret: newer } = JSON.parse(rotated.text) as ShownEndpoint;
    expect(newer)
      .to.match(/^whsec_[A-Za-z0-9+/]{43}=$/)
      .and.not.equal(secret);
    const ping = await hooks(service, 'POST', `/${id}/ping`);
    expect(ping.status).to.equal(200);
    const [got] = await receiver.of('/ping', 1);
    const { verify } = await import('#src/reactions/webhooks/signature.ts');
    const signature = String(got?.headers['service-signature']);
    expect(verify(newer, got?.body ?? '', signature), 'the new secret').to.equal(true);
    expect(verify(secret, got?.body ?? '', signature), 'the old one').to.equal(false);
    const [delivery] = await deliveriesOf(service, id, ([first]) => first?.status === 'delivered');
    expect(delivery).to.deep.include({ event_type: 'ping', attempts: 1, last_status_code: 204 });
    expect(delivery?.payload).to.deep.include({
      type: 'ping',
      environment: 'sandbox',
      data: { endpoint: id },
    });
    expect(delivery?.id).to.equal(got?.headers['service-delivery']);
    await hooks(service, 'DELETE', `/${id}`);
  });

  it('that are paused keep their deliveries waiting until they are resumed; deleted ones drop them', async () => {
    const { id } = await endpointAt(service, `${receiver.url}/paused`);
    await hooks(service, 'PATCH', `/${id}`, { active: false });
    await hooks(service, 'POST', `/${id}/ping`);
    const witness = await endpointAt(service, `${receiver.url}/witness`);
    await hooks(service, 'POST', `/${witness.id}/ping`);
    await receiver.of('/witness', 1);
    const [waiting] = await deliveriesOf(service, id, ({ length }) => length === 1);
    expect(waiting).to.deep.include({ status: 'pending', attempts: 0 });
    expect(receiver.received.some(({ path }) => path === '/paused')).to.equal(false);
    await hooks(service, 'PATCH', `/${id}`, { active: true });
    await receiver.of('/paused', 1);
    await hooks(service, 'PATCH', `/${id}`, { active: false });
    await hooks(service, 'POST', `/${id}/ping`);
    await hooks(service, 'DELETE', `/${id}`);
    await eventually(async () => {
      const { rowCount } = await service.pool.query(
        `select from operations.webhook_delivery where endpoint_id = $1 and status in ('pending', 'failed')`,
        [id],
      );
      return rowCount === 0;
    });
    await hooks(service, 'DELETE', `/${witness.id}`);
  });

  it('list the event types', async () => {
    const answer = await hooks(service, 'GET', '/event-types');
    expect(JSON.parse(answer.text)).to.deep.equal({
      data: [
        'resource.created',
        'resource.updated',
        'resource.deleted',
        'consent.granted',
        'consent.revoked',
        'document.finalized',
        'proposal.accepted',
        'proposal.rejected',
        'ping',
      ],
    });
  });
});

interface Page {
  readonly data: readonly ShownEndpoint[];
  readonly total: number;
  readonly next_cursor: string | null;
}
