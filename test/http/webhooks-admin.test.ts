/** Webhook endpoints in the admin interface: which project they belong to, and that they are the same as in `/v1/webhooks`. */
import { expect } from 'chai';
import pg from 'pg';
import { eventually } from '#test/support/process.ts';
import { type AdminUser, signIn } from '../support/admin.ts';
import { HERE, type InProcess, startInProcess } from '../support/in-process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { hooks } from '../support/webhooks.ts';

/** Records the statements that requests use to read an endpoint. */
class Statements {
  readonly #original = pg.Pool.prototype.query;
  #seen: string[] = [];

  constructor() {
    const { prototype } = pg.Pool;
    const [original, note] = [this.#original, (text: string) => this.#seen.push(text)];
    prototype.query = function query(this: pg.Pool, ...args: unknown[]) {
      const [asked] = args;
      const text = typeof asked === 'object' && asked !== null && 'text' in asked ? String(asked.text) : '';
      if (text.includes('webhooks.endpoint') && text.includes('e.id =')) note(text);
      return Reflect.apply(original, this, args);
    } as typeof original;
  }

  /** Returns the statements recorded since the last call. */
  take(): string[] {
    const seen = this.#seen;
    this.#seen = [];
    return seen;
  }

  stop(): void {
    pg.Pool.prototype.query = this.#original;
  }
}

describe('admin: webhooks', () => {
  let service: InProcess;
  let receiver: Receiver;
  let owner: AdminUser;
  let project: string;
  let organization: string;
  let key: string;
  before(async () => {
    [service, receiver] = await Promise.all([startInProcess({}, HERE), startReceiver()]);
    owner = await signIn(service, 'owner@clinic.example');
    const begun = await owner.done('POST', '/sandbox/quickstart', {});
    project = begun.project.id;
    organization = begun.organization.id;
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
    const statements = new Statements();
    for (const [method, path, sent] of asked) {
      const there = await stranger.ask(method, `/webhooks/${id}${path}`, sent);
      const never = await stranger.ask(method, `/webhooks/whe_never${path}`, sent);
      expect([there.status, never.status], path).to.deep.equal([404, 404]);
      // If both responses need the same statements, they take the same time.
      const [ofThere, ofNever] = statements.take();
      expect(ofThere, path).to.include('m.role');
      expect(ofNever, path).to.equal(ofThere);
    }
    statements.stop();
    expect((await stranger.ask('GET', `/projects/${project}/webhooks`)).status).to.equal(404);
    const http = { ...body, url: 'http://localhost:1/' };
    expect((await owner.ask('POST', `/projects/${project}/webhooks`, http)).status).to.equal(422);
  });

  it('of production take the role admin', async () => {
    const [developer, admin] = await Promise.all(
      ['developer', 'admin'].map((role) => signIn(service, `${role}@clinic.example`)),
    );
    if (developer === undefined || admin === undefined) throw new Error('nobody signed in');
    for (const [{ issuer, subject }, role] of [
      [developer, 'developer'],
      [admin, 'admin'],
    ] as const)
      await owner.done('POST', `/organizations/${organization}/members`, { issuer, subject, role });
    const list = `/projects/${project}/webhooks`;
    const of = (environment: string) => ({ url: `${receiver.url}/role`, events: ['ping'], environment });
    const production = { ...of('production'), url: 'https://hooks.example.org/role' };
    expect((await developer.ask('POST', list, production)).status).to.equal(403);
    const { id: live } = await admin.done('POST', list, production);
    const { id: test } = await developer.done('POST', list, of('sandbox'));
    const delivery = await admin.done('POST', `/webhooks/${live}/ping`);
    const asked: [string, string, object?][] = [
      ['PATCH', '', { url: 'https://elsewhere.example.org/' }],
      ['POST', '/rotate'],
      ['POST', '/ping'],
      ['GET', '/deliveries'],
      ['POST', `/deliveries/${delivery.id}/redeliver`],
      ['DELETE', ''],
    ];
    for (const [method, path, sent] of asked) {
      expect((await developer.ask(method, `/webhooks/${live}${path}`, sent)).status, path).to.equal(403);
      if (!path.includes('redeliver'))
        expect((await admin.ask(method, `/webhooks/${live}${path}`, sent)).status, path).to.be.below(300);
    }
    const seen = async (user: AdminUser, query = '') =>
      (await user.done('GET', `${list}${query}`)).data.map(({ environment }) => environment);
    await admin.done('POST', list, production);
    expect(new Set(await seen(developer))).to.deep.equal(new Set(['sandbox']));
    expect(new Set(await seen(admin))).to.deep.equal(new Set(['sandbox', 'production']));
    expect(new Set(await seen(admin, '?environment=production'))).to.deep.equal(new Set(['production']));
    expect((await developer.ask('GET', `${list}?environment=production`)).status).to.equal(403);
    expect((await developer.ask('DELETE', `/webhooks/${test}`)).status).to.equal(204);
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
    // The response doesn't wait for the endpoint to be deleted: a request about the endpoint checks the project first.
    await eventually(async () => {
      const gone = 'select from webhooks.endpoint where id = $1 and deleted_at is not null';
      return (await service.pool.query(gone, [id])).rowCount === 1;
    });
  });
});
