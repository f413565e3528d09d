/** Replays: past events are sent again from the log, in order, to one endpoint (docs/webhooks.md). */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '../support/in-process.ts';
import { eventually } from '../support/process.ts';
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts';
import { endpointAt, hooks } from '../support/webhooks.ts';

const COUNT = 130;

interface Replay {
  readonly status: string;
  readonly queued: number;
  readonly delivered: number;
  readonly ended_at: string | null;
}

describe('webhook replays', () => {
  let service: InProcess;
  let receiver: Receiver;
  let since: string;
  let purged: string;
  const written: string[] = [];
  before(async () => {
    [service, receiver] = await Promise.all([
      startInProcess({}, { WEBHOOK_RETRY_SECONDS: '0.1,0.1' }),
      startReceiver(),
    ]);
    await service.post('/Patient', { resourceType: 'Patient' });
    since = new Date().toISOString();
    await eventually(() => Date.now() > Date.parse(since) + 2);
    purged = await create();
    for (let made = 1; made < COUNT; made += 1) written.push(await create());
    await service.fhir(`/Patient/${purged}?_purge=true`, { method: 'DELETE' });
    await service.fhir(`/Patient/${written[0]}`, { method: 'DELETE' });
  });
  after(async () => {
    await Promise.all([service.stop(), receiver.stop()]);
  });

  const create = async (): Promise<string> =>
    String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
  const idIn = ({ body }: Received): string =>
    (JSON.parse(body.toString()) as { data: { id: string } }).data.id;
  const progress = async (id: string): Promise<Replay> =>
    JSON.parse((await hooks(service, 'GET', `/${id}/replay`)).text) as Replay;
  const ended = async (id: string): Promise<Replay> => {
    await eventually(async () => (await progress(id)).status !== 'running');
    return progress(id);
  };

  it('send what was written since a moment, in its order, marked, also where one has to be tried again', async () => {
    const { id } = await endpointAt(service, `${receiver.url}/again`, ['resource.created']);
    expect((await hooks(service, 'GET', `/${id}/replay`)).status).to.equal(404);
    let answered = 0;
    receiver.answer('/again', (response) => {
      answered += 1;
      response.writeHead(answered === 7 ? 500 : 204).end();
    });
    const begun = await hooks(service, 'POST', `/${id}/replay`, { from: since });
    expect(begun.status, String(begun)).to.equal(202);
    const end = await ended(id);
    expect(end).to.deep.include({ status: 'done', queued: COUNT - 1, delivered: COUNT - 1, exhausted: 0 });
    expect(end.ended_at).to.be.a('string');
    const got = receiver.received.filter(({ path }) => path === '/again');
    expect(got.every(({ headers }) => headers['service-replay'] === 'true')).to.equal(true);
    const order = got.map(idIn);
    expect(order.filter((one, index) => one !== order[index - 1])).to.deep.equal(written);
    expect(order).to.have.length(COUNT);
    const events = new Set(got.map(({ headers }) => headers['service-event-id']));
    expect(events.size).to.equal(COUNT - 1);
    await hooks(service, 'POST', `/${id}/replay`, { from: since });
    await ended(id);
    const second = receiver.received.filter(({ path }) => path === '/again').slice(COUNT);
    expect(new Set(second.map(({ headers }) => headers['service-event-id']))).to.deep.equal(events);
    await hooks(service, 'DELETE', `/${id}`);
  });

  it('leave out records that are purged while they wait, whether they are queued or not', async () => {
    const from = new Date().toISOString();
    await eventually(() => Date.now() > Date.parse(from) + 2);
    const made: string[] = [];
    for (let count = 0; count < 60; count += 1) made.push(await create());
    // One of them is queued when the first is sent, the other isn't.
    const gone = [made[9] ?? '', made.at(-1) ?? ''];
    const kept = made.filter((patient) => !gone.includes(patient));
    const { id } = await endpointAt(service, `${receiver.url}/waits`, ['resource.created']);
    let release: (() => void) | undefined;
    receiver.answer('/waits', (response) => {
      release ??= () => response.writeHead(204).end();
    });
    await hooks(service, 'POST', `/${id}/replay`, { from });
    await eventually(async () => (await progress(id)).queued === 50 && release !== undefined);
    for (const patient of gone) {
      const purge = await service.fhir(`/Patient/${patient}?_purge=true`, { method: 'DELETE' });
      expect(purge.status).to.equal(204);
    }
    receiver.answer('/waits', (response) => response.writeHead(204).end());
    release?.();
    expect(await ended(id)).to.deep.include({ status: 'done', delivered: 58 });
    expect((await receiver.of('/waits', 58)).map(idIn)).to.deep.equal(kept);
    const { rowCount } = await service.pool.query(
      'select from operations.webhook_delivery where record = any($1::uuid[])',
      [gone],
    );
    expect(rowCount).to.equal(0);
    await hooks(service, 'DELETE', `/${id}`);
  });

  it('send the types that are asked for, up to a moment', async () => {
    const { id } = await endpointAt(service, `${receiver.url}/some`, ['resource.created']);
    await hooks(service, 'POST', `/${id}/replay`, { from: since, types: ['resource.deleted'] });
    expect(await ended(id)).to.deep.include({ status: 'done', queued: 1 });
    await hooks(service, 'POST', `/${id}/replay`, { from: '2020-01-01T00:00:00Z', to: since });
    const [first] = (await receiver.of('/some', 2)).slice(1);
    expect(await ended(id)).to.deep.include({ status: 'done', queued: 1 });
    expect(written).not.to.include(first === undefined ? '' : idIn(first));
    await hooks(service, 'DELETE', `/${id}`);
  });

  it('run one at a time, and end when they are cancelled', async () => {
    const { id } = await endpointAt(service, `${receiver.url}/cancelled`, ['resource.created']);
    receiver.answer('/cancelled', (response) => response.writeHead(500).end());
    await hooks(service, 'POST', `/${id}/replay`, { from: since });
    await receiver.of('/cancelled', 1);
    expect((await hooks(service, 'POST', `/${id}/replay`, { from: since })).status).to.equal(409);
    const answer = await hooks(service, 'DELETE', `/${id}/replay`);
    expect((JSON.parse(answer.text) as Replay).status).to.equal('cancelled');
    await eventually(async () => {
      const { rowCount } = await service.pool.query(
        'select from operations.webhook_delivery where endpoint_id = $1 and due_at is not null',
        [id],
      );
      return rowCount === 0;
    });
    expect((await progress(id)).queued).to.be.lessThan(COUNT - 1);
    await hooks(service, 'DELETE', `/${id}`);
  });

  it('name what is wrong with what is asked', async () => {
    const { id } = await endpointAt(service, `${receiver.url}/wrong`);
    const cases: [object, string][] = [
      [{}, 'from'],
      [{ from: 'yesterday' }, 'from'],
      [{ from: '2026-01-01' }, 'from'],
      [{ from: since, to: '2020-01-01T00:00:00Z' }, 'from'],
      [{ from: since, types: ['x'] }, 'types.0'],
      [{ from: since, until: since }, 'until'],
    ];
    for (const [body, field] of cases) {
      const answer = await hooks(service, 'POST', `/${id}/replay`, body);
      expect(answer.status, JSON.stringify(body)).to.equal(422);
      expect(JSON.parse(answer.text)).to.have.nested.property('error.field', field);
    }
  });
});
