/**
 * Proposals with a snapshot: an instance that starts from the snapshot makes the same decisions as one that read every event,
 * and `annal verify` finds the snapshot's entries in the log.
 */
import { expect } from 'chai';
import { verify } from '#projections/verify/verify.ts';
import { recordStream } from '#src/events/streams.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { conditionOf, Proposing, type Shared } from '#test/support/proposals.ts';
import { startSecondInstance } from '#test/support/second-instance.ts';

describe('proposals behind a snapshot', () => {
  let service: InProcess;
  let proposing: Proposing;
  before(async () => {
    service = await startInProcess();
    proposing = await Proposing.open(service);
  });
  after(async () => {
    await proposing?.close();
    await service?.stop();
  });

  /** Writes 600 resources, which triggers a snapshot, and waits for it. */
  async function grow({ record }: Shared): Promise<void> {
    const entry = Array.from({ length: 600 }, (_, n) => ({
      resource: conditionOf(record, `value ${n}`),
      request: { method: 'POST', url: 'Condition' },
    }));
    const { status } = await service.fhir('', {
      method: 'POST',
      body: JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry }),
    });
    expect(status).to.equal(200);
    const taken = 'select from operations.snapshot where stream = $1';
    await eventually(async () => (await service.pool.query(taken, [recordStream(record)])).rowCount === 1);
  }

  it('are accepted, superseded, withdrawn and counted by an instance that read none of their events', async () => {
    const shared = await proposing.share(await proposing.application());
    const { record, allowed, patient } = shared;
    const id = String((await service.post('/Condition', conditionOf(record, 'Asthma'))).json.id);
    const update = (text: string) =>
      proposing.proposed(allowed, {
        operation: 'update',
        resource: { ...conditionOf(patient, text), id },
        current_version: 1,
      });
    const [first, second, third] = [
      await proposing.condition(shared),
      await update('Mild'),
      await update('Severe'),
    ];
    const withdrawn = await proposing.condition(shared, 'Eczema');
    const ended = await proposing.condition(shared, 'Migraine');
    expect((await proposing.decide(shared, ended.id, 'reject')).status).to.equal(200);
    await grow(shared);

    const fresh = await startSecondInstance(service);
    try {
      const { url } = fresh;
      const decide = async (proposal: string, how: 'accept' | 'reject') =>
        (await proposing.decide(shared, proposal, how, {}, url)).status;
      expect(await decide(ended.id, 'accept')).to.equal(409);
      expect(await decide(first.id, 'accept')).to.equal(200);
      expect(await decide(second.id, 'accept')).to.equal(200);
      expect(await decide(third.id, 'accept')).to.equal(409);
      const gone = await proposing.app(allowed, `/${withdrawn.id}/withdraw`, 'POST', {}, { url });
      expect(gone.status).to.equal(200);
      const body = { operation: 'create', resource: conditionOf(patient, 'Hay fever') };
      const made = await Promise.all(
        [url, service.url, url].map((at) => proposing.app(allowed, '', 'POST', body, { url: at })),
      );
      expect(made.map(({ status }) => status)).to.deep.equal([201, 201, 201]);
    } finally {
      await fresh.close();
    }
    const places = (await proposing.events(record)).flatMap(({ event }) =>
      event.type === 'ProposalMade' ? [event.data.place] : [],
    );
    expect(places.slice(0, 5)).to.deep.equal([0, 1, 2, 3, 4]);
    expect(places.slice(5).sort()).to.deep.equal([0, 1, 2]);
    expect((await service.fhir(`/Condition/${id}`)).json.code).to.deep.equal({ text: 'Mild' });
    const { store } = proposing.granting.events;
    const report = await verify({ store, databaseUrl: service.databaseUrl });
    expect(report.readModels).to.deep.equal([]);
    // A shared log also contains records of tests that have removed their documents, and erasures that tests made up.
    if (EVENTSTORE_URL === '') expect(report).to.deep.include({ log: [], clean: true });
    else expect(report.log.filter(({ stream }) => stream === recordStream(record))).to.deep.equal([]);
  });
});
