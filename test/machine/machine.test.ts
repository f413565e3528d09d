/** Several processes share a machine's work: what one process writes, all can read, and each process that dies is replaced. */
import { expect } from 'chai';
import { signIn } from '#test/support/admin.ts';
import { startInProcess } from '#test/support/in-process.ts';
import { listProcesses } from '#test/support/machine.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { itAtFullSize, scaled, someOf } from '#test/support/scale.ts';
import { type Service, startedDataDir, startService } from '#test/support/service.ts';

describe('several processes of a machine', () => {
  let service: Service;
  let written = 0;

  before(async () => {
    service = await startService({ env: { WORKERS: '2', PROJECTORS: '2' } });
  });

  after(() => service.stop());

  const find = (name: string): number => {
    const found = listProcesses(service.pid).find((each) => each.name === name);
    if (found === undefined) throw new Error(`no process ${name}`);
    return found.pid;
  };

  /** Creates a patient, and searches for it over other connections. */
  async function writeAndFind(times: number): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      written += 1;
      const family = `Shared${written}`;
      const headers = { connection: 'close' };
      const body = JSON.stringify({ resourceType: 'Patient', name: [{ family }] });
      const created = await service.fhir('/Patient', { method: 'POST', body, headers });
      expect(created.status, String(created)).to.equal(201);
      const found = await service.fhir(`/Patient?family=${family}`, { headers });
      expect(found.json.total, String(found)).to.equal(1);
      const read = await service.fhir(`/Patient/${created.json.id}`, { headers });
      expect(read.text).to.equal(created.text);
    }
  }

  it('are named by their parts', () => {
    const names = listProcesses(service.pid).map(({ name }) => name);
    expect(names.toSorted()).to.deep.equal(['http-1', 'http-2', 'projector-1', 'projector-2']);
  });

  it('each find at once what another wrote', async () => {
    await writeAndFind(12);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    for (const worker of ['http-1', 'http-2'])
      expect(metrics).to.match(
        new RegExp(`http_request_duration_seconds_count\\{method="GET",.*worker="${worker}"\\} [1-9]`),
      );
    expect(metrics).to.include('worker="projector-2"');
    expect(metrics).to.match(/annal_projection_lag_events\{projection="search",worker="projector-1"\} \d/);
  });

  for (const name of someOf(['projector-1', 'http-1', 'projector-2'], 1))
    it(`start ${name} again after it was killed, and lose nothing`, async () => {
      const pid = find(name);
      process.kill(pid, 'SIGKILL');
      await eventually(() => {
        const now = listProcesses(service.pid).find((each) => each.name === name)?.pid;
        return now !== undefined && now !== pid;
      });
      await eventually(async () => (await fetch(`${service.url}/health/ready`)).ok);
      await writeAndFind(4);
    });

  itAtFullSize('kill one that hangs, and start it again', async () => {
    const pid = find('http-2');
    process.kill(pid, 'SIGSTOP');
    await eventually(() => !isAlive(pid));
    await eventually(() => listProcesses(service.pid).some(({ name }) => name === 'http-2'));
    await eventually(async () => (await fetch(`${service.url}/health/ready`)).ok);
    await writeAndFind(2);
  });

  itAtFullSize('are replaced one at a time on SIGHUP, without a failed request', async () => {
    const before = [find('http-1'), find('http-2')];
    let going = true;
    const statuses = new Set<number>();
    const load = async (): Promise<void> => {
      while (going) {
        const answer = await service.fhir('/Patient?_count=1', { headers: { connection: 'close' } });
        statuses.add(answer.status);
      }
    };
    const loads = [load(), load()];
    process.kill(service.pid, 'SIGHUP');
    await eventually(() => {
      const names = listProcesses(service.pid).filter(({ name }) => name.startsWith('http-'));
      return names.length === 2 && names.every(({ pid }) => !before.includes(pid));
    });
    going = false;
    await Promise.all(loads);
    expect([...statuses]).to.deep.equal([200]);
    await writeAndFind(2);
  });

  it('end with the primary, however it ends', async () => {
    const below = listProcesses(service.pid);
    expect(below).to.have.length(4);
    await service.kill();
    await eventually(() => below.every(({ pid }) => !isAlive(pid)));
  });
});

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('several processes of a machine, to operators', () => {
  it('are one instance, which answers, also after the one that shows it was killed', async function () {
    // With a shared log, these processes may have a different sandbox.
    if (EVENTSTORE_URL !== '') this.skip();
    const service = await startInProcess({}, { WORKERS: '2', PROJECTORS: '1' });
    try {
      const operator = await signIn(service, 'developer@example.org');
      const ids = new Set<unknown>();
      const look = async (): Promise<void> => {
        const answer = await operator.ask('GET', '/operations/instances', undefined, { connection: 'close' });
        expect(answer.status, String(answer)).to.equal(200);
        const { data } = answer.json as unknown as { data: readonly { id: string }[] };
        expect(data).to.have.length(1);
        expect(data[0]).to.include({ pid: service.pid, alive: true, answers: true });
        ids.add(data[0]?.id);
      };
      for (let n = 0; n < 4; n += 1) await look();
      const projector = listProcesses(service.pid).find(({ name }) => name === 'projector-1')?.pid ?? 0;
      process.kill(projector, 'SIGKILL');
      await eventually(async () => {
        const pids = listProcesses(service.pid).map(({ pid }) => pid);
        return (
          pids.length === 3 && !pids.includes(projector) && (await fetch(`${service.url}/health/ready`)).ok
        );
      });
      for (let n = 0; n < 4; n += 1) await look();
      expect(ids.size).to.equal(1);
    } finally {
      await service.stop();
    }
  });
});

describe('the rate limit of a key over several workers', () => {
  itAtFullSize('lets through exactly the limit', async () => {
    const limit = 40;
    const env = { WORKERS: String(scaled(4, 2)), PROJECTORS: '1', RATE_LIMIT_PER_MINUTE: String(limit) };
    const service = await startService({ env });
    try {
      // Each request uses its own connection, so that every worker gets some of them.
      const ask = async (): Promise<number> =>
        (await service.fhir('/Patient?_count=1', { headers: { connection: 'close' } })).status;
      const answers = await Promise.all(Array.from({ length: 3 * limit }, ask));
      const count = (status: number): number => answers.filter((each) => each === status).length;
      expect([count(200), count(429)]).to.deep.equal([limit, 2 * limit]);
    } finally {
      await service.stop();
    }
  });
});

describe('a machine whose processes keep ending', () => {
  itAtFullSize('stops with a sentence that says so', async () => {
    const dataDir = await startedDataDir();
    const service = await startService({ dataDir, env: { WORKERS: '2', PROJECTORS: '1' } });
    const killed = new Set<number>();
    await eventually(() => {
      for (const { pid, name } of listProcesses(service.pid))
        if (name.startsWith('http-') && !killed.has(pid)) {
          killed.add(pid);
          process.kill(pid, 'SIGKILL');
        }
      return !isAlive(service.pid);
    });
    expect(service.log()).to.match(
      /Annal stops: processes ended unexpectedly 5 times within a minute; the last reason: http-\d ended: SIGKILL/,
    );
    await service.stop();
  });
});
