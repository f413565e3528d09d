/**
 * Proposals whose instance is killed right before or after it wrote them: each proposal is made once, and accepted completely
 * or not at all.
 */
import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import type { Application } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { conditionOf, Proposing, type Shared } from '#test/support/proposals.ts';
import { describeAtFullSize, scaled, someOf } from '#test/support/scale.ts';
import { newDataDir, startService } from '#test/support/service.ts';

/** Number of kills before each append, and number of kills after it. */
const ROUNDS = scaled(4, 1);

type When = 'DIES_BEFORE' | 'DIES_AFTER';

describeAtFullSize('a proposal whose instance is killed', () => {
  let service: InProcess;
  let proposing: Proposing;
  let application: Application;
  let dataDir: string;

  before(async () => {
    service = await startInProcess();
    proposing = await Proposing.open(service);
    application = await proposing.application();
    dataDir = await newDataDir();
  });
  after(async () => {
    await proposing?.close();
    await service?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  /** Sends a request to an instance that dies at its first append to the record. */
  async function dies(
    when: When,
    { record }: Shared,
    send: (url: string) => Promise<unknown>,
  ): Promise<void> {
    const dying = await startService({
      databaseUrl: service.databaseUrl,
      dataDir,
      key: service.key,
      program: 'test/faults/dying-service.ts',
      env: { BASE_URL: service.url, [when]: `record-${record} 1` },
    });
    const answer = await send(dying.url).catch(() => undefined);
    await dying.stop();
    expect(answer, 'the instance should have died').to.equal(undefined);
  }
  const count = async ({ record }: Shared, type: string): Promise<number> =>
    (await proposing.events(record)).filter(({ event }) => event.type === type).length;

  async function proposed(when: When): Promise<void> {
    const shared = await proposing.share(application);
    const headers = { 'Idempotency-Key': newUuid() };
    const body = { operation: 'create', resource: conditionOf(shared.patient, 'Asthma') };
    const send = (url: string) => proposing.app(shared.allowed, '', 'POST', body, { headers, url });
    await dies(when, shared, send);
    expect(await count(shared, 'ProposalMade')).to.equal(when === 'DIES_AFTER' ? 1 : 0);
    // The retry finds what the first attempt wrote, or writes it.
    const answer = await send(service.url);
    expect(answer.status, String(answer)).to.equal(201);
    expect(await count(shared, 'ProposalMade')).to.equal(1);
    expect((await proposing.app(shared.allowed)).json.total).to.equal(1);
  }

  async function accepted(when: When, isKeyed: boolean): Promise<void> {
    const shared = await proposing.share(application);
    const { id } = await proposing.condition(shared);
    const headers: Record<string, string> = isKeyed ? { 'Idempotency-Key': newUuid() } : {};
    const send = (url: string) => proposing.person(shared, `/${id}/accept`, 'POST', {}, { headers, url });
    await dies(when, shared, send);
    const [version, end] = (await proposing.events(shared.record)).slice(-2);
    if (when === 'DIES_AFTER')
      expect([version?.event.type, end?.event.type]).to.deep.equal(['ResourceCreated', 'ProposalAccepted']);
    else expect(end?.event.type).to.equal('ProposalMade');
    const again = await send(service.url);
    const hasEnded = when === 'DIES_AFTER' && !isKeyed;
    expect(again.status, JSON.stringify(again.json)).to.equal(hasEnded ? 409 : 200);
    const { json } = await proposing.person(shared);
    expect(json.data[0]).to.deep.include({ id, status: 'accepted', version: 1 });
    expect([await count(shared, 'ResourceCreated'), await count(shared, 'ProposalAccepted')]).to.deep.equal([
      2, 1,
    ]);
    expect((await service.fhir(`/Condition?patient=${shared.record}`)).json.total).to.equal(1);
  }

  for (const when of ['DIES_BEFORE', 'DIES_AFTER'] as const) {
    it(`${when === 'DIES_BEFORE' ? 'before' : 'after'} the append is made once, and accepted once`, async function () {
      this.timeout(60_000 + ROUNDS * 180_000);
      const ways = [() => accepted(when, false), () => proposed(when), () => accepted(when, true)];
      for (let round = 0; round < ROUNDS; round += 1) for (const way of someOf(ways, 2)) await way();
    });
  }
});
