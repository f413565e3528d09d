/** Notifications to applications about their proposals: `proposal.accepted` and `proposal.rejected` (docs/webhooks.md). */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { conditionOf, Proposing } from '#test/support/proposals.ts';
import { WebhookGrants } from '#test/support/webhook-grants.ts';

const TYPES = ['proposal.accepted', 'proposal.rejected'];

describe('webhooks about proposals', () => {
  let service: InProcess;
  let grants: WebhookGrants;
  let proposing: Proposing;
  before(async () => {
    service = await startInProcess();
    grants = await WebhookGrants.open(service);
    proposing = await Proposing.open(service);
  });
  after(async () => {
    await proposing?.close();
    await grants?.close();
    await service?.stop();
  });

  it('go to the application’s project alone, with its id of the Patient and nothing of the person', async () => {
    const own = await grants.listen('Own', TYPES);
    const other = await grants.listen('Other', TYPES);
    const [app, stranger] = [
      await grants.register(own.project, 'A'),
      await grants.register(other.project, 'B'),
    ];
    const application = { applicationId: app, project: own.project, environment: 'sandbox' as const };
    const shared = await proposing.share(application);
    const { record, patient, allowed } = shared;
    // The other project has a grant on the same record that allows it to read everything.
    await grants.give(record, other.project, stranger, ['patient/*.rs']);
    const condition = String((await service.post('/Condition', conditionOf(record, 'Asthma'))).json.id);
    const update = {
      operation: 'update',
      resource: { ...conditionOf(patient, 'Severe asthma'), id: condition },
      current_version: 1,
    };
    const [created, changed, refused, withdrawn] = [
      await proposing.condition(shared),
      await proposing.proposed(allowed, update),
      await proposing.proposed(allowed, update),
      await proposing.condition(shared, 'Eczema'),
    ];
    expect((await proposing.decide(shared, refused.id, 'reject', { reason: 'a secret' })).status).to.equal(
      200,
    );
    await proposing.app(allowed, `/${withdrawn.id}/withdraw`, 'POST', {});
    const accepted = await proposing.decide(shared, created.id, 'accept');
    expect((await proposing.decide(shared, changed.id, 'accept')).status).to.equal(200);
    const told = await own.come(3);
    const about = { patient, application_id: app, resource_type: 'Condition' };
    expect(told.map(({ type, data }) => [type, data])).to.deep.equal([
      ['proposal.rejected', { proposal_id: refused.id, ...about, id: condition }],
      ['proposal.accepted', { proposal_id: created.id, ...about, id: accepted.json.resource_id, version: 1 }],
      ['proposal.accepted', { proposal_id: changed.id, ...about, id: condition, version: 2 }],
    ]);
    for (const { body } of told) expect(body).to.not.contain(record).and.not.contain('a secret');
    // Once a later notification has reached the other project, anything missing was not sent.
    const next = await proposing.share({
      applicationId: stranger,
      project: other.project,
      environment: 'sandbox',
    });
    const last = await proposing.condition(next);
    expect((await proposing.decide(next, last.id, 'reject')).status).to.equal(200);
    expect((await other.come(1)).map(({ data }) => data.proposal_id)).to.deep.equal([last.id]);
    expect(own.told()).to.have.length(3);
  });
});
