/** Webhook endpoints through the admin interface: whose they are, and that they are those of `/v1/webhooks`. */
import { expect } from 'chai';
import { eventually } from '#test/support/process.ts';
import { type AdminUser, signIn } from '../support/admin.ts';
import { type InProcess, startInProcess } from '../support/in-process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { hooks } from '../support/webhooks.ts';

describe('admin: webhooks', () => {
  let service: InProcess;
  let receiver: Receiver;
  let owner: AdminUser;
  let project: string;
  let key: string;
  before(async () => {
    [service, receiver] = await Promise.all([startInProcess(), startReceiver()]);
    owner = await signIn(service, 'owner@clinic.example');
    const begun = await owner.done('POST', '/sandbox/quickstart', {});
    project = begun.project.id;
    key = String(begun.key);
  });
  after(async () => {
    await Promise.all([service.stop(), receiver.stop()]);
  });

  it('are made, changed, rotated, pinged and deleted by members of the organization', async () => {
    const body = { url: `${receiver.url}/admin`, events: ['*'], environment: 'sandbox' };
    const made = await owner.done('POST', `/projects/${project}/webhooks`, body);
    expect(made.secret).to.match(/^whsec_/);
    const listed = await owner.done('GET', `/projects/${project}/webhooks?environment=sandbox`);
    expect(listed.data.map(({ id }) => id)).to.deep.equal([made.id]);
    expect((await owner.done('GET', `/projects/${project}/webhooks?environment=production`)).total).to.equal(
      0,
    );
    const same = await hooks(service, 'GET', `/${made.id}`, undefined, { key });
    expect(JSON.parse(same.text)).to.deep.equal(listed.data[0]);
    const changed = await owner.done('PATCH', `/webhooks/${made.id}`, { description: 'ours' });
    expect(changed.description).to.equal('ours');
    const rotated = await owner.done('POST', `/webhooks/${made.id}/rotate`);
    expect(rotated.secret)
      .to.match(/^whsec_/)
      .and.not.equal(made.secret);
    const delivery = await owner.done('POST', `/webhooks/${made.id}/ping`);
    await receiver.of('/admin', 1);
    await owner.done('POST', `/webhooks/${made.id}/deliveries/${delivery.id}/redeliver`);
    await receiver.of('/admin', 2);
    const log = await owner.done('GET', `/webhooks/${made.id}/deliveries?event_type=ping`);
    expect(log.data.map(({ id }) => id)).to.deep.equal([delivery.id]);
    expect((await owner.ask('DELETE', `/webhooks/${made.id}`)).status).to.equal(204);
    expect((await owner.ask('DELETE', `/webhooks/${made.id}`)).status).to.equal(404);
  });

  it('are to nobody else there, as if they had never been', async () => {
    const body = { url: 'https://hooks.example.org/', events: ['ping'], environment: 'production' };
    const { id } = await owner.done('POST', `/projects/${project}/webhooks`, body);
    const stranger = await signIn(service, 'stranger@other.example');
    const asked: [string, string, object?][] = [
      ['PATCH', '', { active: false }],
      ['DELETE', ''],
      ['POST', '/rotate'],
      ['POST', '/ping'],
      ['GET', '/deliveries'],
      ['POST', '/deliveries/whd_x/redeliver'],
    ];
    for (const [method, path, sent] of asked) {
      const there = await stranger.ask(method, `/webhooks/${id}${path}`, sent);
      const never = await stranger.ask(method, `/webhooks/whe_never${path}`, sent);
      expect([there.status, never.status], path).to.deep.equal([404, 404]);
    }
    expect((await stranger.ask('GET', `/projects/${project}/webhooks`)).status).to.equal(404);
    const http = { ...body, url: 'http://localhost:1/' };
    expect((await owner.ask('POST', `/projects/${project}/webhooks`, http)).status).to.equal(422);
  });

  it('are told nothing of a sandbox that is reset', async () => {
    const body = { url: `${receiver.url}/reset`, events: ['*'], environment: 'sandbox' };
    const { id } = await owner.done('POST', `/projects/${project}/webhooks`, body);
    const resource = { method: 'POST', body: '{"resourceType":"Patient"}', key };
    const created = await service.fhir('/Patient', resource);
    await owner.done('POST', `/projects/${project}/sandbox/reset`);
    await eventually(async () => {
      const gone = await service.fhir(`/Patient/${String(created.json.id)}`, { key });
      return gone.status === 404 || gone.status === 410;
    });
    await service.fhir('/Patient', resource);
    const told = (await receiver.of('/reset', 2)).map(({ headers }) => headers['service-event']);
    expect(told).to.deep.equal(['resource.created', 'resource.created']);
    await owner.ask('DELETE', `/webhooks/${id}`);
  });

  it('go with their project', async () => {
    const { id } = await owner.done('POST', `/projects/${project}/webhooks`, {
      url: `${receiver.url}/gone`,
      events: ['*'],
      environment: 'sandbox',
    });
    expect((await owner.ask('DELETE', `/projects/${project}`)).status).to.be.within(200, 204);
    // Nobody's answer waits for it: what is asked of the endpoint is asked of the project first.
    await eventually(async () => {
      const gone = 'select from webhooks.endpoint where id = $1 and deleted_at is not null';
      return (await service.pool.query(gone, [id])).rowCount === 1;
    });
  });
});
