/**
 * A soak test close to the rate limit: 64 clients behind a trusted proxy, each with its own address and key, on two instances,
 * one of which is repeatedly killed and restarted. `npm run prove` does this for ten minutes.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { inParallel } from '#test/support/audit.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/process.ts';
import { describeAtFullSize, scaled } from '#test/support/scale.ts';
import { type Answer, type Call, type Service, startService } from '#test/support/service.ts';
import { tell } from '#test/support/tell.ts';

const CLIENTS = 64;
const SECONDS = scaled(600, 10);
const KILL_EVERY = scaled(60, 4);
/** A soak of at least this many seconds first finds out how many requests the machine can handle. */
const LONG = 300;
const TRIED_SECONDS = 20;
/** Maximum memory of an instance, in bytes. Without a leak, it uses less than half of this. */
const MEMORY = 500_000_000;

const megabytes = (bytes: number): number => Math.round(bytes / 1e6);

interface Client {
  readonly address: string;
  readonly key: string;
  readonly patient: string;
  /** Numbers of requests that were let through and that were throttled. */
  through: number;
  throttled: number;
  /** Markers of acknowledged creates, with their ids. */
  readonly created: Map<string, string>;
}

describeAtFullSize('a soak at the edge of the rate limit', function () {
  this.timeout((SECONDS + 240) * 1_000);
  /** A client's requests per minute. */
  let limit = 6;
  const envOf = (perMinute: number) => ({
    RATE_LIMIT_PER_MINUTE: String(perMinute),
    TRUSTED_PROXIES: '127.0.0.0/8',
    SANDBOX_PATIENTS: '0',
  });
  let database: TestDatabase;
  let steady: Service;
  /** Undefined while the instance is down. */
  let killed: Service | undefined;
  const clients: Client[] = [];
  const faults: string[] = [];
  const memory: number[] = [];
  let kills = 0;
  let elapsed = 0;
  let asked = 0;

  const sum = (of: (client: Client) => number): number =>
    clients.reduce((all, client) => all + of(client), 0);
  const startKilled = () => startService({ databaseUrl: database.url, env: envOf(limit), key: 'none' });
  const anywhere = (): string => {
    asked += 1;
    return `203.0.${asked >> 8}.${asked & 255}`;
  };

  before(async () => {
    database = await createMigratedDatabase();
    if (SECONDS >= LONG) limit = await reachable();
    // The first instance leads the projections, so that its first death has an effect.
    killed = await startKilled();
    steady = await startService({ databaseUrl: database.url, env: envOf(limit) });
    if (clients.length === 0) await makeClients();
    await soak();
  });
  after(async () => {
    await Promise.all([steady?.stop(), killed?.stop()]);
    await database?.drop();
  });

  /** Returns half of the number of requests per minute that this machine, with its other work, can handle for each client. */
  async function reachable(): Promise<number> {
    steady = await startService({ databaseUrl: database.url, env: envOf(0) });
    await makeClients();
    const until = performance.now() + TRIED_SECONDS * 1_000;
    await Promise.all(clients.map((client) => run(client, until)));
    await steady.stop();
    const each = sum(({ through }) => through) / CLIENTS;
    for (const client of clients) client.through = 0;
    return Math.max(6, Math.round((each * 60) / TRIED_SECONDS / 2));
  }

  /** Creates clients, each with a key of the quickstart project and a patient. */
  async function makeClients(): Promise<void> {
    const keys = Array.from({ length: CLIENTS }, () => `sk_test_${randomBytes(32).toString('base64url')}`);
    await database.pool.query(
      `insert into projects.api_key (sha256, key_id, project, environment, name, scopes, last4, created_at)
       select encode(sha256(k.key::bytea), 'hex'), 'key_soak_' || k.n, p.id, 'sandbox', 'soak', '{read,write}', '', 0
         from unnest($1::text[]) with ordinality as k(key, n), (select id from projects.project limit 1) p`,
      [keys],
    );
    await inParallel([...keys.entries()], 16, async ([n, key]) => {
      const address = `198.51.100.${n}`;
      const created = await steady.fhir('/Patient', {
        method: 'POST',
        body: '{"resourceType":"Patient"}',
        headers: { Authorization: `Bearer ${key}`, 'X-Forwarded-For': address },
      });
      const patient = String(created.json.id);
      clients.push({ address, key, patient, through: 1, throttled: 0, created: new Map() });
    });
  }

  /**
   * Sends a request until an instance answers it. After a killed connection, sends it to the other instance with the same
   * Idempotency-Key, even after `until`. Returns undefined if the request was still throttled at `until` and was therefore not
   * done.
   */
  async function send(client: Client, path: string, call: Call, until: number): Promise<Answer | undefined> {
    for (let attempt = 0; performance.now() < until + 30_000; attempt += 1) {
      const instance = (client.through + attempt) % 2 === 0 ? steady : (killed ?? steady);
      const headers = {
        ...call.headers,
        Authorization: `Bearer ${client.key}`,
        'X-Forwarded-For': `${anywhere()}, ${client.address}`,
      };
      let answer: Answer;
      try {
        answer = await instance.fhir(path, { ...call, headers });
      } catch (error) {
        if (instance === steady) faults.push(`the instance that was not killed: ${error}`);
        continue;
      }
      if (answer.status >= 500) faults.push(`${path}: ${answer}`);
      if (answer.status === 429) client.throttled += 1;
      else client.through += 1;
      // 409: the killed attempt's lease hasn't expired yet.
      if (answer.status !== 429 && answer.status !== 409) return answer;
      if (answer.status === 429 && performance.now() > until) return undefined;
      const wait = Number(answer.headers.get('retry-after'));
      if (!(wait >= 1 && wait <= 60)) faults.push(`Retry-After ${answer.headers.get('retry-after')}`);
      await pause(Math.min(wait * 1_000, 500));
    }
    return undefined;
  }

  async function run(client: Client, until: number): Promise<void> {
    for (let n = 0; performance.now() < until; n += 1) {
      const marker = randomUUID();
      const body = JSON.stringify({
        resourceType: 'Observation',
        status: 'final',
        identifier: [{ value: marker }],
        code: { text: 'soak' },
        subject: { reference: `Patient/${client.patient}` },
      });
      const create = { method: 'POST', body, headers: { 'Idempotency-Key': marker } };
      const answer = await send(client, '/Observation', create, until);
      if (answer === undefined) return;
      const id = String(answer.json.id);
      if (answer.status === 201) client.created.set(marker, id);
      else faults.push(`create: ${answer}`);
      if (n % 2 === 0) continue;
      const read = await send(client, `/Observation/${id}`, {}, until);
      if (read !== undefined && read.status !== 200) faults.push(`read after write: ${read}`);
    }
  }

  async function soak(): Promise<void> {
    const began = performance.now();
    const until = began + SECONDS * 1_000;
    const killing = async (): Promise<void> => {
      for (let at = began + KILL_EVERY * 1_000; at < until; at += KILL_EVERY * 1_000) {
        await pause(Math.max(0, at - performance.now()));
        if (performance.now() > until) return;
        const dying = killed;
        killed = undefined;
        await dying?.kill();
        kills += 1;
        killed = await startKilled();
        await dying?.stop();
      }
    };
    const watching = async (): Promise<void> => {
      while (performance.now() < until) {
        const { text } = await steady.fhir(`${steady.url}/metrics`);
        memory.push(Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]));
        await pause(SECONDS * 25);
      }
    };
    const asking = Promise.all(clients.map((client) => run(client, until))).then(() => {
      elapsed = (performance.now() - began) / 1_000;
    });
    await Promise.all([killing(), watching(), asking]);
    const requests = `${sum(({ through }) => through)} requests let through, ${sum(({ throttled }) => throttled)} throttled`;
    const { middle, last } = thirds();
    const memories = `${megabytes(Math.min(...memory))} to ${megabytes(Math.max(...memory))} MB, at most ${megabytes(middle)} in the second third, ${megabytes(last)} in the last`;
    tell(
      `${Math.round(elapsed)} s, at most ${limit} requests a minute and client, ${requests}, ${sum(({ created }) => created.size)} creates, ${kills} kills, ${memories}`,
    );
  }

  /** Returns the maximum memory, in bytes, in the second and in the last third of the time. */
  function thirds(): { middle: number; last: number } {
    const third = Math.floor(memory.length / 3);
    return { middle: Math.max(...memory.slice(third, -third)), last: Math.max(...memory.slice(-third)) };
  }

  it('answers nothing with an error of its own, and cuts no connection but those of the killed', () => {
    // Under load, the last kill may be late.
    expect(kills).to.be.at.least(SECONDS >= LONG ? Math.floor(SECONDS / KILL_EVERY) - 2 : 1);
    expect(faults.slice(0, 5)).to.deep.equal([]);
  });

  it('lets each client through as often as it says, and no more', () => {
    // A client's first window began at most 60 s before the soak.
    const windows = Math.floor(elapsed / 60) + 1 + (elapsed < 45 ? 0 : 1);
    // In a short run, a client of the killed instance spends most of the run waiting for the lease of its write to expire.
    const atTheEdge = clients.filter(({ throttled }) => throttled > 0).length;
    expect(atTheEdge).to.be.at.least(SECONDS >= LONG ? CLIENTS : 1);
    for (const { address, through } of clients) expect(through, address).to.be.at.most(limit * windows);
  });

  it('loses no write, and does none twice', async () => {
    const marker = /"identifier":\[\{"value":"([0-9a-f-]{36})"/;
    const stored = async (): Promise<Map<string, string[]>> => {
      const { rows } = await database.pool.query<{ id: string; body: string }>(
        "select r.id, r.body from resources.resource r where r.type = 'Observation'",
      );
      const ids = new Map<string, string[]>();
      for (const { id, body } of rows) {
        // In a shared log, other tests' Observations have no marker.
        const value = marker.exec(body)?.[1];
        if (value === undefined) continue;
        ids.set(value, [...(ids.get(value) ?? []), id]);
      }
      return ids;
    };
    const acknowledged = clients.flatMap(({ created }) => [...created]);
    expect(acknowledged.length).to.be.above(CLIENTS);
    await eventually(async () => (await stored()).size >= acknowledged.length);
    const found = await stored();
    expect([...found].filter(([, ids]) => ids.length > 1)).to.deep.equal([]);
    expect(acknowledged.filter(([value, id]) => found.get(value)?.[0] !== id)).to.deep.equal([]);
  });

  it('takes no more memory the longer it lasts', () => {
    expect(memory.length).to.be.above(5);
    expect(Math.max(...memory)).to.be.below(MEMORY);
    const { middle, last } = thirds();
    // The first third is warm-up; in a short run, everything is.
    if (SECONDS >= LONG) expect(last).to.be.below(middle * 1.25);
  });
});
