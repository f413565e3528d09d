/**
 * On two instances, no read that begins after the response to a revocation succeeds (docs/spec/decisions.md, sections 3 and
 * 9).
 */
import { expect } from 'chai';
import { signIn } from '#test/support/admin.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { longObservations, readSlowly } from '#test/support/read-slowly.ts';
import { scaled } from '#test/support/scale.ts';
import { type SecondInstance, startSecondInstance } from '#test/support/second-instance.ts';

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

describe('reads while their grant is revoked', () => {
  let service: InProcess;
  let second: SecondInstance;
  let granting: Granting;
  let application: Application;
  let record: string;

  before(async () => {
    service = await startInProcess();
    second = await startSecondInstance(service);
    granting = await Granting.open(service);
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    application = await granting.register(owner, id);
    const created = async (body: object) =>
      String((await service.post(`/${(body as { resourceType: string }).resourceType}`, body)).json.id);
    record = await created({ resourceType: 'Patient', name: [{ family: 'Sand' }] });
    for (let n = 0; n < 30; n += 1)
      await created({
        resourceType: 'Observation',
        status: 'final',
        code: { text: `${n}` },
        subject: { reference: `Patient/${record}` },
      });
  });
  after(async () => {
    await granting?.close();
    await second?.close();
    await service?.stop();
  });

  it('end with its answer: reads, searches, pages of a search, whole records, REST v1', async function () {
    const rounds = scaled(40, 3);
    this.timeout(60_000 + rounds * 10_000);
    for (let round = 0; round < rounds; round += 1) {
      const allowed = await granting.allow(application, record);
      const { served, late } = await readThrough(allowed);
      expect(served).to.be.greaterThan(30);
      expect(late.length).to.be.greaterThan(15);
      expect(late.filter((status) => status !== 401)).to.deep.equal([]);
    }
  });

  it('stop a record that is being sent: parts that were not read before it are never sent', async () => {
    const { id } = (await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'Long' }] }))
      .json;
    for (const long of longObservations(String(id))) await service.post('/Observation', long);
    const read = (patient: unknown, token: string, meanwhile: () => Promise<unknown>) =>
      readSlowly(
        `${service.base}/Patient/${patient}/$everything`,
        { Authorization: `Bearer ${token}` },
        meanwhile,
      );
    const allowed = await granting.allow(application, String(id));
    const whole = await read(allowed.patient, allowed.token, async () => undefined);
    expect([whole.complete, whole.text.endsWith('}')]).to.deep.equal([true, true]);
    const cut = await read(allowed.patient, allowed.token, () => granting.revoke(allowed));
    expect(cut.complete).to.equal(false);
    expect(cut.text.length).to.be.lessThan(whole.text.length);
    // Revoking an API key also cuts the response off, as soon as the read model shows the revocation.
    const revoked =
      "update projects.api_key set revoked_at = $2 where sha256 = encode(sha256($1::bytea), 'hex')";
    const end = (at: number | null) => service.pool.query(revoked, [Buffer.from(service.key), at]);
    const ofKey = await read(id, service.key, () => end(1));
    await end(null);
    expect(ofKey.complete).to.equal(false);
    expect((await read(id, service.key, async () => undefined)).complete).to.equal(true);
  });

  /** Reads continuously on both instances until the grant is revoked, and for a while after that. */
  async function readThrough({
    patient,
    token,
    ...grant
  }: Allowed): Promise<{ served: number; late: number[] }> {
    const headers = { Authorization: `Bearer ${token}` };
    const first = await service.fhir('/Observation?_count=2', { key: token });
    const [, next = ''] = /"relation":"next","url":"([^"]+)"/.exec(first.text) ?? [];
    const page = new URL(next);
    const asks = [
      { path: `/fhir/R4/Patient/${patient}` },
      { path: '/fhir/R4/Observation' },
      { path: page.pathname + page.search },
      { path: '/fhir/R4/Observation/_search', init: { method: 'POST', headers: FORM, body: '_count=3' } },
      { path: `/fhir/R4/Patient/${patient}/$everything` },
      { path: `/v1/patients/${patient}/observations` },
    ];
    let served = 0;
    let answered = false;
    const late: number[] = [];
    const isOver = (): boolean => late.length >= 2 * asks.length * 3;
    const reader = async (url: string, { path, init }: (typeof asks)[number]): Promise<void> => {
      while (!isOver()) {
        const isLate = answered;
        const response = await fetch(url + path, { ...init, headers: { ...headers, ...init?.headers } });
        await response.arrayBuffer();
        if (response.status === 200) served += 1;
        if (isLate) late.push(response.status);
      }
    };
    const readers = [service.url, second.url].flatMap((url) => asks.map((ask) => reader(url, ask)));
    await eventually(async () => served > 30);
    await granting.revoke({ ...grant, patient, token });
    answered = true;
    await Promise.all(readers);
    return { served, late };
  }
});
