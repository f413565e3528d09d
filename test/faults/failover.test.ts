/**
 * PostgreSQL's primary is killed under load, and its synchronous standby is promoted. Everything acknowledged is there exactly
 * once, and read models continue (docs/scale.md). `npm run prove` does this six times.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { openPool } from '#src/database/pool.ts';
import { Relay } from '#test/contract/relay.ts';
import { eventually, runAnnal } from '#test/support/process.ts';
import { ReplicatedPostgres } from '#test/support/replicated-postgres.ts';
import { describeAtFullSize, scaled } from '#test/support/scale.ts';
import { type Answer, type Service, startService } from '#test/support/service.ts';
import { tell } from '#test/support/tell.ts';

const FAILOVERS = scaled(6, 2);
const CLIENTS = 8;
/** Number of writes between two failovers. */
const BETWEEN = scaled(1_000, 100);
/** How long a client retries a request, in ms. */
const PATIENCE_MS = 120_000;

describeAtFullSize('a failover of PostgreSQL', function () {
  this.timeout(FAILOVERS * 120_000 + 120_000);
  let postgres: ReplicatedPostgres;
  /** The address that always leads to the primary. */
  let address: Relay;
  const instances: Service[] = [];
  /** Markers of acknowledged writes, with their ids. */
  const acknowledged = new Map<string, string>();
  const faults: string[] = [];
  const pauses: number[] = [];
  let isOver = false;

  before(async () => {
    postgres = await ReplicatedPostgres.open();
    address = await Relay.open(postgres.url);
    const first = await startService({ databaseUrl: address.url });
    instances.push(first, await startService({ databaseUrl: address.url, key: first.key }));
  });
  after(async () => {
    await Promise.all(instances.map((each) => each.stop()));
    await address?.close();
    await postgres?.stop();
  });

  /** Sends a request to the instances in turn until it is answered. */
  async function send(first: number, path: string, call: Parameters<Service['fhir']>[1]): Promise<Answer> {
    for (let n = first, until = performance.now() + PATIENCE_MS; ; n += 1) {
      const instance = instances[n % instances.length];
      const answer = await instance?.fhir(path, { ...call, timeoutMs: 60_000 }).catch(() => undefined);
      if (answer !== undefined && answer.status < 500 && answer.status !== 409) return answer;
      if (performance.now() > until) throw new Error(`${path} is not answered: ${answer}`);
      await pause(50);
    }
  }

  /** Writes, and reads the acknowledged writes from the other instance. */
  async function run(client: number): Promise<void> {
    const patient = await send(client, '/Patient', {
      method: 'POST',
      headers: { 'Idempotency-Key': randomUUID() },
      body: '{"resourceType":"Patient"}',
    });
    for (let n = client; !isOver; n += 1) {
      const marker = randomUUID();
      const created = await send(n, '/Observation', {
        method: 'POST',
        headers: { 'Idempotency-Key': marker },
        body: JSON.stringify({
          ...{ resourceType: 'Observation', status: 'final', code: { text: 'Weight' } },
          identifier: [{ system: 'urn:marker', value: marker }],
          subject: { reference: `Patient/${patient.json.id}` },
        }),
      });
      if (created.status !== 201) {
        faults.push(`create: ${created}`);
        continue;
      }
      const id = String(created.json.id);
      acknowledged.set(marker, id);
      const path = n % 2 === 0 ? `/Observation/${id}` : `/Observation?identifier=urn:marker|${marker}`;
      const read = await send(n + 1, path, {});
      if (read.status !== 200 || !read.text.includes(id)) faults.push(`a read after a write: ${read}`);
    }
  }

  const writes = (more: number): Promise<void> => {
    const until = acknowledged.size + more;
    return eventually(() => acknowledged.size >= until || faults.length > 0);
  };

  it('loses nothing that was acknowledged, and needs no restart', async () => {
    const clients = Promise.all(Array.from({ length: CLIENTS }, (_, n) => run(n)));
    for (let n = 0; n < FAILOVERS && faults.length === 0; n += 1) {
      await writes(BETWEEN);
      const began = performance.now();
      await postgres.killPrimary();
      // Either connections break and then reach the standby before its promotion, or they hang as if the machine were gone.
      if (n % 2 === 0) address.redirect(postgres.standbyUrl);
      await postgres.promote();
      if (n % 2 === 1) address.abandon(postgres.url);
      await writes(1);
      pauses.push(Math.round(performance.now() - began));
      await writes(CLIENTS * 2);
      await postgres.addStandby();
    }
    await writes(BETWEEN);
    isOver = true;
    await clients;
    expect(faults).to.deep.equal([]);
    tell(
      `${FAILOVERS} failovers, ${acknowledged.size} acknowledged; longest pause ${Math.max(...pauses) / 1_000} s`,
    );
    for (const instance of instances) {
      await eventually(async () => (await fetch(`${instance.url}/health/ready`)).status === 200);
      const { total } = (await instance.fhir('/Observation?_summary=count')).json;
      expect(total).to.equal(acknowledged.size);
      for (const [marker, id] of acknowledged)
        expect((await instance.fhir(`/Observation/${id}`)).text).to.contain(marker);
    }
    const verified = await runAnnal(address.url, 'verify');
    expect(verified.code, verified.stdout + verified.stderr).to.equal(0);
  });

  it('leaves a standby, which answers neither a service nor a command', async () => {
    const url = postgres.standbyUrl;
    const started = startService({ databaseUrl: url }).then(async (service) => {
      await service.stop();
      return 'it started';
    }, String);
    expect(await started).to.contain('the server is a standby');
    const verified = await runAnnal(url, 'verify');
    expect(verified.code, verified.stdout).to.equal(1);
    expect(verified.stderr).to.contain('the server is a standby');
    const pool = openPool(url);
    expect(await pool.query('select 1').catch(String)).to.contain('the server is a standby');
    await pool.end();
  });
});
