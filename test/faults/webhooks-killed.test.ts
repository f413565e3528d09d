/**
 * The service is killed with SIGKILL while it writes and delivers. Every healthy endpoint receives every event at least once,
 * and few events twice. Endpoints that always fail end up exhausted. Rebuilding every read model sends nothing.
 */
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { scaled } from '../support/scale.ts';
import { annal, type Service, startedDataDir, startService } from '../support/service.ts';
import { tell } from '../support/tell.ts';
import { endpointAt } from '../support/webhooks.ts';

const HEALTHY = ['/a', '/b', '/c', '/d', '/e'];
const FAILING = ['/x', '/y', '/z'];
const HANGING = ['/h', '/i'];
/** Number of patients per batch, and number of batches in progress at a time. */
const TOGETHER = 25;
const WRITERS = 4;
/** Maximum number of deliveries to one endpoint that an instance has sent but not yet recorded. */
const IN_FLIGHT = 16;

describe('the service killed while it delivers', function () {
  const events = scaled(10_000, 40);
  const kills = scaled(5, 1);
  const patience = 120_000 + events * 60;
  this.timeout(2 * patience + kills * 60_000);
  let dataDir: string;
  let service: Service;
  let receiver: Receiver;
  const env = {
    RATE_LIMIT_PER_MINUTE: '0',
    SANDBOX_PATIENTS: '0',
    WEBHOOK_TIMEOUT_SECONDS: '1',
    WEBHOOK_RETRY_SECONDS: '0.1,0.2',
  };
  before(async () => {
    [dataDir, receiver] = await Promise.all([startedDataDir(), startReceiver()]);
    service = await startService({ dataDir, env });
    for (const path of FAILING) receiver.answer(path, (response) => response.writeHead(500).end());
    for (const path of HANGING) receiver.answer(path, () => undefined);
  });
  after(async () => {
    await service.stop();
    await receiver.stop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
  });

  it(`${kills} times loses no event of ${events}, and repeats few`, async () => {
    const ids = new Map<string, string>();
    for (const path of [...HEALTHY, ...FAILING, ...HANGING]) {
      const { id } = await endpointAt(service, receiver.url + path, ['resource.created']);
      ids.set(path, id);
    }
    const written = new Set<string>();
    let current = Promise.resolve(service);
    const writer = async (): Promise<void> => {
      while (written.size < events) {
        for (const id of await write(await current).catch(() => [])) written.add(id);
      }
    };
    const writing = Promise.all(Array.from({ length: WRITERS }, writer));
    for (let killed = 0; killed < kills; killed += 1) {
      const goal = (events / (kills + 1)) * (killed + 1);
      await eventually(() => written.size >= goal, patience);
      await pause(Math.random() * 50);
      current = service.kill().then(() => startService({ dataDir, env, key: service.key }));
      service = await current;
    }
    await writing;

    const seen = new Map(HEALTHY.map((path) => [path, new Set<string>()]));
    let read = 0;
    let twice = 0;
    const isThere = (): boolean => {
      for (const { path, body } of receiver.received.slice(read)) {
        read += 1;
        const ids = seen.get(path);
        if (ids === undefined) continue;
        const id = idIn(body);
        if (ids.has(id)) twice += 1;
        ids.add(id);
      }
      return [...seen.values()].every((ids) => [...written].every((id) => ids.has(id)));
    };
    await eventually(isThere, patience);
    expect(twice, 'sent twice').to.be.at.most(kills * IN_FLIGHT * HEALTHY.length);
    if (events >= 10_000) expect(twice / (HEALTHY.length * events)).to.be.lessThan(0.01);

    const count = async (path: string, status: string): Promise<number> => {
      const log = `${service.url}/v1/webhooks/${ids.get(path)}/deliveries?limit=1&status=${status}`;
      return Number((await service.fhir(log)).json.total);
    };
    for (const path of [...HEALTHY, ...FAILING]) {
      await eventually(
        async () => (await count(path, 'pending')) + (await count(path, 'failed')) === 0,
        patience,
      );
    }
    const sent = receiver.received.length;
    tell(`${written.size} events, ${kills} kills: ${sent} posts, ${twice} to healthy endpoints twice`);
    for (const path of HEALTHY) expect(await count(path, 'delivered')).to.be.at.least(written.size);
    for (const path of FAILING) expect(await count(path, 'exhausted')).to.be.at.least(written.size);
    for (const path of HANGING)
      expect(
        receiver.received.some((one) => one.path === path),
        path,
      ).to.equal(true);
  });

  it('sends nothing when every read model is rebuilt', async () => {
    const sent = (): number => receiver.received.filter(({ path }) => !HANGING.includes(path)).length;
    const before = sent();
    const { code, output } = await annal(service, ['rebuild']);
    expect(code, output).to.equal(0);
    // Anything that the rebuild sent would arrive before what is written from here on.
    const ids = await write(service);
    await eventually(() => {
      const there = new Set(
        receiver.received.filter(({ path }) => path === '/a').map(({ body }) => idIn(body)),
      );
      return ids.every((id) => there.has(id));
    });
    expect(sent() - before).to.be.at.most(TOGETHER * (HEALTHY.length + FAILING.length * 3));
  });
});

/**
 * Writes patients in one batch.
 * @returns their ids
 */
async function write(service: Service): Promise<string[]> {
  const entry = Array.from({ length: TOGETHER }, () => ({
    resource: { resourceType: 'Patient' },
    request: { method: 'POST', url: 'Patient' },
  }));
  const body = JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry });
  const answer = await service.fhir('', { method: 'POST', body });
  const { entry: answered = [] } = JSON.parse(answer.text) as {
    entry?: { response: { location?: string } }[];
  };
  return answered.flatMap(
    ({ response }) => /Patient\/([0-9a-f-]{36})/.exec(response.location ?? '')?.[1] ?? [],
  );
}

function idIn(body: Buffer): string {
  return (JSON.parse(body.toString()) as { data: { id: string } }).data.id;
}
