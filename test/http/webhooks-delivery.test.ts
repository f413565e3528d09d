/**
 * The outcomes of deliveries to receivers that answer well, badly, slowly or not at all (docs/spec/decisions.md, section 6).
 */
import { expect } from 'chai';
import { itAtFullSize } from '#test/support/scale.ts';
import { type InProcess, startInProcess } from '../support/in-process.ts';
import { readMetrics } from '../support/metrics.ts';
import { eventually } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import {
  deliveriesOf,
  endpointAt,
  hooks,
  type ShownDelivery,
  type ShownEndpoint,
} from '../support/webhooks.ts';

const TIMEOUT_SECONDS = 1;
const GAPS = [0.2, 0.4];

describe('webhook deliveries', () => {
  let service: InProcess;
  let receiver: Receiver;
  before(async () => {
    [service, receiver] = await Promise.all([
      startInProcess(
        {},
        { WEBHOOK_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS), WEBHOOK_RETRY_SECONDS: GAPS.join() },
      ),
      startReceiver(),
    ]);
  });
  after(async () => {
    await Promise.all([service.stop(), receiver.stop()]);
  });

  /** Sends one delivery to a path, and returns it once it is in the expected state. */
  async function ping(
    path: string,
    wanted: (delivery: ShownDelivery) => boolean,
  ): Promise<{ endpoint: ShownEndpoint; delivery: ShownDelivery }> {
    const endpoint = await endpointAt(service, receiver.url + path);
    await hooks(service, 'POST', `/${endpoint.id}/ping`);
    const [delivery] = await deliveriesOf(service, endpoint.id, ([one]) => one !== undefined && wanted(one));
    if (delivery === undefined) throw new Error('there is no delivery');
    return { endpoint, delivery };
  }
  const remove = ({ id }: ShownEndpoint) => hooks(service, 'DELETE', `/${id}`);
  const isFailed = ({ attempts }: ShownDelivery): boolean => attempts > 0;

  it('that fail walk through the schedule to exhausted, signed afresh, and begin anew when redelivered', async () => {
    receiver.answer('/500', (response) => response.writeHead(500).end('out of order'));
    const { endpoint, delivery } = await ping('/500', ({ status }) => status === 'exhausted');
    expect(delivery).to.deep.include({
      attempts: 3,
      last_status_code: 500,
      last_error: 'answered 500: out of order',
      next_attempt_at: null,
      delivered_at: null,
    });
    const got = await receiver.of('/500', 3);
    const gaps = got.slice(1).map(({ at }, index) => (at - (got[index]?.at ?? 0)) / 1000);
    for (const [index, gap] of GAPS.entries()) expect(gaps[index]).to.be.at.least(gap * 0.9);
    expect(new Set(got.map(({ headers }) => headers['service-delivery'])).size).to.equal(1);
    const failing = JSON.parse((await hooks(service, 'GET', `/${endpoint.id}`)).text) as ShownEndpoint;
    expect(failing).to.deep.include({ failure_streak: 3, last_success_at: null });
    expect(failing.last_failure_at).to.be.a('string');
    receiver.answer('/500', (response) => response.writeHead(202).end());
    const again = await hooks(service, 'POST', `/${endpoint.id}/deliveries/redeliver-exhausted`);
    expect(JSON.parse(again.text)).to.deep.equal({ requeued: 1 });
    await deliveriesOf(service, endpoint.id, ([one]) => one?.status === 'delivered' && one.attempts === 1);
    const well = JSON.parse((await hooks(service, 'GET', `/${endpoint.id}`)).text) as ShownEndpoint;
    expect(well.failure_streak).to.equal(0);
    expect(well.last_success_at).to.be.a('string');
    await remove(endpoint);
  });

  it('are shown with their attempt by ping and redeliver, and with nothing of the attempts before', async () => {
    const said = async (path: string): Promise<object> => {
      const answer = await hooks(service, 'POST', path);
      expect(answer.status, answer.text).to.equal(200);
      const { status, attempts, last_status_code, last_error } = JSON.parse(answer.text) as ShownDelivery;
      return { status, attempts, last_status_code, last_error };
    };
    const endpoint = await endpointAt(service, `${receiver.url}/told`);
    receiver.answer('/told', (response) => response.writeHead(410).end('gone'));
    const refused = {
      status: 'failed',
      attempts: 1,
      last_status_code: 410,
      last_error: 'answered 410: gone',
    };
    expect(await said(`/${endpoint.id}/ping`)).to.deep.equal(refused);
    const [delivery] = await deliveriesOf(service, endpoint.id, ([one]) => one?.status === 'exhausted');
    const again = `/${endpoint.id}/deliveries/${delivery?.id}/redeliver`;
    await hooks(service, 'PATCH', `/${endpoint.id}`, { active: false });
    const waiting = { status: 'pending', attempts: 0, last_status_code: null, last_error: null };
    expect(await said(again), 'paused').to.deep.equal(waiting);
    receiver.answer('/told', (response) => response.writeHead(204).end());
    await hooks(service, 'PATCH', `/${endpoint.id}`, { active: true });
    await deliveriesOf(service, endpoint.id, ([one]) => one?.status === 'delivered');
    const taken = { status: 'delivered', attempts: 1, last_status_code: 204, last_error: null };
    expect(await said(again)).to.deep.equal(taken);
    await remove(endpoint);
  });

  it('to redirects are not followed', async () => {
    receiver.answer('/301', (response) => response.writeHead(307, { Location: '/elsewhere' }).end());
    const { endpoint, delivery } = await ping('/301', isFailed);
    expect(delivery.last_status_code).to.equal(307);
    expect(delivery.last_error).to.include('redirects are not followed');
    expect(receiver.received.some(({ path }) => path === '/elsewhere')).to.equal(false);
    await remove(endpoint);
  });

  it('take any 2xx for success and anything else for a failure', async () => {
    for (const status of [200, 201, 204, 299, 400, 404, 410, 429, 503]) {
      receiver.answer(`/${status}`, (response) => response.writeHead(status).end());
      const { endpoint, delivery } = await ping(`/${status}`, isFailed);
      expect(delivery.status === 'delivered', String(status)).to.equal(status < 300);
      expect(delivery.last_status_code).to.equal(status);
      await remove(endpoint);
    }
  });

  it('wait as Retry-After says, up to twice the gap', async () => {
    let asked = 0;
    receiver.answer('/later', (response) => {
      asked += 1;
      if (asked === 1) response.writeHead(503, { 'Retry-After': '3600' }).end();
      else response.writeHead(204).end();
    });
    const { endpoint } = await ping('/later', ({ status }) => status === 'delivered');
    const [one, two] = await receiver.of('/later', 2);
    expect(((two?.at ?? 0) - (one?.at ?? 0)) / 1000).to.be.within(0.396, 3.4);
    await remove(endpoint);
  });

  itAtFullSize(
    'that are not answered whole in time fail: nothing, headers alone, a body that never ends',
    async () => {
      receiver.answer('/silent', () => undefined);
      receiver.answer('/headers', (response) =>
        response.writeHead(200, { 'Content-Length': 10 }).flushHeaders(),
      );
      receiver.answer('/drip', (response) => {
        response.writeHead(200);
        const dripping = setInterval(() => response.write('.'), 50);
        response.on('close', () => clearInterval(dripping));
      });
      for (const path of ['/silent', '/headers', '/drip']) {
        const { endpoint, delivery } = await ping(path, isFailed);
        expect(delivery.status, path).not.to.equal('delivered');
        expect(delivery.last_error, path).to.equal('no complete answer within 1 s');
        expect(delivery.last_status_code, path).to.equal(null);
        await remove(endpoint);
      }
    },
  );

  it('fail at connections that are reset, cut in the middle of an answer, or not taken', async () => {
    receiver.answer('/reset', (response) => response.socket?.resetAndDestroy());
    receiver.answer('/half', (response) => {
      response.writeHead(200, { 'Content-Length': 1_000 });
      response.write('half', () => response.socket?.end());
    });
    for (const path of ['/reset', '/half']) {
      const { endpoint, delivery } = await ping(path, isFailed);
      expect(delivery.status, path).not.to.equal('delivered');
      expect(delivery.last_error, path).to.include('closed before the answer was complete');
      await remove(endpoint);
    }
    const gone = await startReceiver();
    await gone.stop();
    const endpoint = await endpointAt(service, `${gone.url}/`);
    await hooks(service, 'POST', `/${endpoint.id}/ping`);
    const [delivery] = await deliveriesOf(
      service,
      endpoint.id,
      ([one]) => one !== undefined && isFailed(one),
    );
    expect(delivery?.last_error).to.include('ECONNREFUSED');
    await remove(endpoint);
  });

  it('fail at receivers that close without an answer, do not speak HTTP, or want another protocol', async () => {
    const answers: Readonly<Record<string, [said: string, told: string]>> = {
      '/half-closed': ['', 'closed before the answer was complete'],
      '/garbage': ['what?\r\n\r\n', 'the answer is not HTTP'],
      '/huge-header': [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`, 'the answer is not HTTP'],
      '/upgrade': [
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
        'answered 101',
      ],
    };
    for (const [path, [said, told]] of Object.entries(answers)) {
      receiver.answer(path, (response) => response.socket?.end(said));
      const { endpoint, delivery } = await ping(path, isFailed);
      expect(delivery.status, path).not.to.equal('delivered');
      expect(delivery.last_error, path).to.include(told);
      await remove(endpoint);
    }
  });

  it('that are answered slowly and in time are delivered', async () => {
    receiver.answer('/slow', (response) => {
      response.writeHead(200).write('so');
      setTimeout(() => response.end('on'), 500);
    });
    const { endpoint, delivery } = await ping('/slow', isFailed);
    expect(delivery).to.deep.include({ status: 'delivered', attempts: 1, last_status_code: 200 });
    await remove(endpoint);
  });

  it('keep 4 KB of an answer, however long it is', async () => {
    receiver.answer('/huge', (response) => {
      response.writeHead(500);
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    const { endpoint, delivery } = await ping('/huge', isFailed);
    expect(delivery.last_status_code).to.equal(500);
    expect(delivery.last_error).to.have.length('answered 500: '.length + 4_096);
    await remove(endpoint);
  });

  it('to an endpoint that does not answer delay no other, and go there one at a time', async () => {
    let open = 0;
    let most = 0;
    // The first deliveries were sent together, because it wasn't known yet that the endpoint hangs.
    let known = false;
    receiver.answer('/hangs', (response) => {
      open += 1;
      if (known) most = Math.max(most, open);
      response.on('close', () => {
        open -= 1;
        known ||= open === 0;
      });
    });
    const hanging = await endpointAt(service, `${receiver.url}/hangs`, ['resource.created']);
    const healthy = await endpointAt(service, `${receiver.url}/healthy`, ['resource.created']);
    const count = 60;
    let beside = 0;
    receiver.answer('/healthy', (response) => {
      if (open > 0) beside += 1;
      response.writeHead(204).end();
    });
    // All deliveries exist before any is sent. If they were created one by one, nothing would be known yet about the endpoint
    // when each is sent.
    const both = [hanging, healthy];
    const activate = (active: boolean) =>
      Promise.all(both.map(({ id }) => hooks(service, 'PATCH', `/${id}`, { active })));
    await activate(false);
    await Promise.all(
      Array.from({ length: count }, () => service.post('/Patient', { resourceType: 'Patient' })),
    );
    const there = 'select from operations.webhook_delivery where endpoint_id = any($1)';
    const ids = both.map(({ id }) => id);
    await eventually(async () => (await service.pool.query(there, [ids])).rowCount === 2 * count);
    await activate(true);
    await receiver.of('/healthy', count);
    expect(beside, 'delivered while others hung').to.be.greaterThan(0);
    await eventually(() => known);
    const first = receiver.received.filter(({ path }) => path === '/hangs').length;
    expect(first).to.be.lessThan(count);
    await receiver.of('/hangs', first + 3);
    expect(most).to.equal(1);
    await Promise.all([remove(hanging), remove(healthy)]);
  });

  it('are counted in /metrics', async () => {
    const metrics = await readMetrics(service.url);
    for (const line of [
      /^annal_webhook_attempts_total\{result="delivered"\} [1-9]/m,
      /^annal_webhook_attempts_total\{result="refused"\} [1-9]/m,
      /^annal_webhook_attempts_total\{result="timeout"\} [1-9]/m,
      /^annal_webhook_attempts_total\{result="unreachable"\} [1-9]/m,
      /^annal_webhook_due_deliveries \d/m,
      /^annal_webhook_oldest_due_seconds \d/m,
      /^annal_webhook_waiting_deliveries \d/m,
      /^annal_webhook_attempt_duration_seconds_count [1-9]/m,
    ])
      expect(metrics).to.match(line);
  });
});
