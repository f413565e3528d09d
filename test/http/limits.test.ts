/**
 * Rate limits over HTTP, for one instance and for two instances together (docs/spec/interface.md, section 8;
 * docs/spec/decisions.md, section 3).
 */
import { expect } from 'chai';
import { inParallel } from '#test/support/audit.ts';
import { HERE, type InProcess, startInProcess } from '#test/support/in-process.ts';
import { readMetrics } from '#test/support/metrics.ts';
import { scaled } from '#test/support/scale.ts';
import { type Answer, type Service, startService } from '#test/support/service.ts';
import { tell } from '#test/support/tell.ts';

const LIMIT = scaled(600, 120);
const SETTINGS = { RATE_LIMIT_PER_MINUTE: String(LIMIT), TRUSTED_PROXIES: '127.0.0.0/8' };

describe('rate limits', () => {
  let first: InProcess;
  let second: Service;
  let addresses = 0;

  before(async () => {
    // The remaining amount is exact only if all responses come from one process.
    first = await startInProcess({}, { ...SETTINGS, ...HERE });
    second = await startService({ databaseUrl: first.databaseUrl, key: first.key, env: SETTINGS });
  });
  after(async () => {
    await second?.stop();
    await first?.stop();
  });

  /** Returns a client address that hasn't been used before. */
  const newAddress = (): string => {
    addresses += 1;
    return `198.51.${addresses >> 8}.${addresses & 255}`;
  };
  const from = (address: string, path = '/Patient?_count=0', key?: string | null): Promise<Answer> =>
    first.fhir(path, { headers: { 'X-Forwarded-For': address }, ...(key === undefined ? {} : { key }) });
  const limitOf = ({ headers }: Answer): { r: number; t: number } => {
    const [, r, t] = /^"default";r=(\d+);t=(\d+)$/.exec(headers.get('ratelimit') ?? '') ?? [];
    return { r: Number(r), t: Number(t) };
  };
  /** Sends requests in parallel, returns how many were admitted, and checks that all others were told to wait. */
  const admitted = async (count: number, send: (n: number) => Promise<Answer>): Promise<number> => {
    let through = 0;
    await inParallel(
      Array.from({ length: count }, (_, n) => n),
      32,
      async (n) => {
        const answer = await send(n);
        if (answer.status === 429) {
          expect(answer.headers.get('retry-after')).to.match(/^([1-9]|[1-5]\d|60)$/);
        } else through += 1;
      },
    );
    return through;
  };

  /** Returns how many resources the first instance has created so far. */
  const created = async (): Promise<string> => {
    const text = await readMetrics(first.url);
    return /annal_events_appended_total\{type="ResourceCreated"\} \d+/.exec(text)?.[0] ?? 'none';
  };

  it('tell each answer what is left and when it begins anew', async () => {
    const address = newAddress();
    const key = await first.newProject();
    const answers = [await from(address, '/Patient', key), await from(address, '/Patient/none', key)];
    answers.push(
      await first.fhir(`${first.url}/nowhere`, { key: null, headers: { 'X-Forwarded-For': address } }),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 404, 404]);
    for (const answer of answers) {
      expect(answer.headers.get('ratelimit-policy')).to.equal(`"default";q=${LIMIT};w=60`);
      expect(limitOf(answer).t).to.be.within(1, 60);
    }
    expect(answers.map((answer) => limitOf(answer).r)).to.deep.equal([LIMIT - 1, LIMIT - 2, LIMIT - 3]);
  });

  it('let one address through as often as it says, whatever it sends, before its credential is looked at', async () => {
    const address = newAddress();
    const guess = (n: number) => from(address, '/Patient', `sk_test_${String(n).padStart(43, 'x')}`);
    expect(await admitted(LIMIT + 40, guess)).to.equal(LIMIT);
    const answer = await from(address);
    expect(answer.status).to.equal(429);
    expect(limitOf(answer).r).to.equal(0);
    expect(answer.headers.get('content-type')).to.match(/^application\/fhir\+json/);
    expect(answer.json).to.deep.include({ resourceType: 'OperationOutcome' });
    expect(answer.text).to.contain('"code":"throttled"');
    expect(Number(answer.headers.get('retry-after'))).to.equal(limitOf(answer).t);
  });

  it("count a Bundle's writes as one request and each of its GET entries as one", async () => {
    const address = newAddress();
    const key = await first.newProject();
    const send = (entry: readonly object[]): Promise<Answer> =>
      first.fhir('', {
        method: 'POST',
        key,
        headers: { 'X-Forwarded-For': address },
        body: JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry }),
      });
    const reads = (count: number) =>
      Array.from({ length: count }, () => ({ request: { method: 'GET', url: 'Patient?_summary=count' } }));
    const writes = Array.from({ length: 5 }, () => ({
      resource: { resourceType: 'Patient', name: [{ family: 'Counted' }] },
      request: { method: 'POST', url: 'Patient' },
    }));
    const left: number[] = [];
    for (const entry of [writes, reads(4), [...writes, ...reads(4)]]) left.push(limitOf(await send(entry)).r);
    expect(left).to.deep.equal([LIMIT - 1, LIMIT - 5, LIMIT - 10]);
    const before = await created();
    const refused = await send([...writes, ...reads(LIMIT - 10)]);
    expect(refused.status).to.equal(429);
    expect(await created()).to.equal(before);
  });

  it('count a refused body for its size', async () => {
    const key = await first.newProject();
    const left = async (path: string, body: object): Promise<number> => {
      const headers = { 'X-Forwarded-For': newAddress() };
      const text = JSON.stringify({ ...body, name: [{ family: 'x'.repeat(500_000) }] });
      const answer = await first.fhir(path, { method: 'POST', key, headers, body: text });
      expect(answer.status, answer.text).to.equal(
        path === '/Patient' && !('gender' in body) ? 201 : path === '/Patient' ? 422 : 200,
      );
      return limitOf(await from(newAddress(), '/Patient?_count=0', key)).r;
    };
    const patient = { resourceType: 'Patient' };
    expect(await left('/Patient', patient)).to.equal(LIMIT - 2);
    expect(await left('/Patient', { ...patient, gender: 'wrong' })).to.equal(LIMIT - 2 - 7);
    expect(await left('/Patient/$validate', patient)).to.equal(LIMIT - 9 - 7);
  });

  it('answer elsewhere with an error object', async () => {
    const address = newAddress();
    const elsewhere = () =>
      first.fhir(`${first.url}/admin/config`, { key: null, headers: { 'X-Forwarded-For': address } });
    expect(await admitted(LIMIT, elsewhere)).to.equal(LIMIT);
    const answer = await elsewhere();
    expect(answer.status).to.equal(429);
    const { error } = JSON.parse(answer.text);
    expect(error).to.deep.include({
      type: 'throttled',
      request_id: answer.headers.get('service-request-id'),
    });
  });

  it('let one key through as often as it says from any number of addresses, and others beside it', async () => {
    const key = await first.newProject();
    expect(await admitted(LIMIT + 40, () => from(newAddress(), '/Patient/none', key))).to.equal(LIMIT);
    const answer = await from(newAddress(), '/Patient/none', key);
    expect(answer.status).to.equal(429);
    expect((await from(newAddress(), '/Patient/none')).status).to.equal(404);
  });

  it('write nothing for a key that has used up its requests', async () => {
    const key = await first.newProject();
    await admitted(LIMIT, () => from(newAddress(), '/Patient/none', key));
    const before = await created();
    const create = await first.fhir('/Patient', {
      method: 'POST',
      key,
      body: '{"resourceType":"Patient"}',
      headers: { 'X-Forwarded-For': newAddress() },
    });
    expect(create.status).to.equal(429);
    expect(await created()).to.equal(before);
  });

  it('hold on two instances together as on one', async () => {
    const key = await first.newProject();
    const send = (n: number): Promise<Answer> => {
      const call = {
        key,
        headers: { 'X-Forwarded-For': newAddress(), 'X-Api-Key': key, Authorization: `Bearer ${key}` },
      };
      return n % 2 === 0 ? first.fhir('/Patient/none', call) : second.fhir('/Patient/none', call);
    };
    const through = await admitted(2 * LIMIT, send);
    tell(`${through} of ${2 * LIMIT} let through by two instances with a limit of ${LIMIT}`);
    expect(through).to.be.within(LIMIT * 0.98, LIMIT);
  });

  it('leave health and metrics alone', async () => {
    const address = newAddress();
    await admitted(LIMIT, () => from(address, '/metadata', null));
    expect((await from(address, '/metadata', null)).status).to.equal(429);
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      const answer = await first.fhir(first.url + path, {
        key: null,
        headers: { 'X-Forwarded-For': address },
      });
      expect(answer.status, path).to.equal(200);
      expect(answer.headers.get('ratelimit'), path).to.equal(null);
    }
    const text = await readMetrics(first.url);
    expect(text).to.match(/annal_requests_throttled_total\{by="address"\} [1-9]/);
    expect(text).to.match(/annal_requests_throttled_total\{by="key"\} [1-9]/);
  });
});
