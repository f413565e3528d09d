/**
 * Two instances deliver at the same time, and each event arrives once. When one instance is killed, the deliveries that it was
 * making arrive again.
 */
import { expect } from 'chai';
import { describeAtFullSize } from '#test/support/scale.ts';
import { createMigratedDatabase, type TestDatabase } from '../support/database.ts';
import { readMetrics } from '../support/metrics.ts';
import { eventually } from '../support/process.ts';
import { EVENTSTORE_URL, foundProject } from '../support/project.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type Service, startService } from '../support/service.ts';
import { endpointAt } from '../support/webhooks.ts';

const EVENTS = 300;
/** How long the receiver takes to respond, in ms, so that both instances are kept busy. */
const SLOW_MS = 100;
/** Maximum number of deliveries to one endpoint that an instance has sent but not yet recorded. */
const IN_FLIGHT = 16;

describeAtFullSize('two instances that deliver webhooks', () => {
  let database: TestDatabase;
  let receiver: Receiver;
  let instances: Service[];
  before(async () => {
    [database, receiver] = await Promise.all([createMigratedDatabase(), startReceiver()]);
    const env = {
      SANDBOX_PATIENTS: '0',
      WEBHOOK_TIMEOUT_SECONDS: '1',
      WEBHOOK_RETRY_SECONDS: '0.1,0.2',
      EVENTSTORE_URL,
    };
    const start = (key?: string): Promise<Service> =>
      startService({ databaseUrl: database.url, env, ...(key === undefined ? {} : { key }) });
    const first = await start();
    const key = EVENTSTORE_URL === '' ? first.key : (await foundProject(database.url)).key;
    instances = [first, await start(first.key)];
    instances = instances.map((instance) => ({ ...instance, key }));
  });
  after(async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
    await receiver.stop();
    await database.drop();
  });

  it('share the work and send nothing twice, but what one that was killed had under way', async () => {
    const [one, other] = instances;
    if (one === undefined || other === undefined) throw new Error('there are not two');
    await endpointAt(one, `${receiver.url}/x`, ['resource.created']);

    receiver.answer('/x', (response) => {
      setTimeout(() => response.writeHead(204).end(), SLOW_MS);
    });
    const ids = (): string[] =>
      receiver.received.map(({ body }) => (JSON.parse(body.toString()) as { data: { id: string } }).data.id);
    const once: string[] = [];
    // On a busy machine, one instance may deliver the whole first batch.
    let counts: number[] = [];
    for (let tries = 0; tries === 0 || (counts.includes(0) && tries < 3); tries += 1) {
      once.push(...(await write(one)));
      await eventually(() => new Set(ids()).size === once.length, 120_000);
      counts = await Promise.all(instances.map(delivered));
    }
    expect(counts, 'both deliver').to.not.include(0);
    expect(ids(), 'sent twice').to.have.length(once.length);
    expect(ids()).to.have.members(once);
    const more = await write(other);
    await eventually(() => ids().length > once.length + EVENTS * 0.3, 120_000);
    await other.kill();
    const all = new Set([...once, ...more]);
    await eventually(() => new Set(ids()).size === all.size, 120_000);
    expect(ids()).to.include.members([...all]);
    expect(ids().length - all.size, 'sent twice').to.be.within(0, IN_FLIGHT);
  });
});

/** Returns how many deliveries an instance has made. */
async function delivered({ url }: Service): Promise<number> {
  const metrics = await readMetrics(url);
  return Number(/^annal_webhook_attempts_total\{result="delivered"\} (\d+)/m.exec(metrics)?.[1] ?? 0);
}

/**
 * Writes patients, all in one Bundle.
 * @returns their ids
 */
async function write(service: Service): Promise<string[]> {
  const entry = Array.from({ length: EVENTS }, () => ({
    resource: { resourceType: 'Patient' },
    request: { method: 'POST', url: 'Patient' },
  }));
  const body = JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry });
  const answer = await service.fhir('', { method: 'POST', body });
  const { entry: answered } = JSON.parse(answer.text) as { entry: { response: { location: string } }[] };
  return answered.map(({ response }) => /Patient\/([0-9a-f-]{36})/.exec(response.location)?.[1] ?? '');
}
