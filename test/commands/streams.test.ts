/** Commands on small streams over a real log: outdated states, races between instances, retries of the same request. */
import { expect } from 'chai';
import type { Attempt, RequestContext } from '#commands/command.ts';
import { Kernel, MANY_TRIES } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { addMember, create, removeMember } from '#commands/organization/decide.ts';
import { ORGANIZATION } from '#commands/organization/state.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { organizationStream } from '#src/events/streams.ts';
import { IdSource, newId, newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';

const FOUNDER = { issuer: 'https://idp.example', subject: 'ann' };

describe('small streams', () => {
  let database: TestDatabase;
  let stores: PostgresEventStore[];

  before(async () => {
    database = await createDatabase();
    stores = [
      await PostgresEventStore.open({ url: database.url }),
      await PostgresEventStore.open({ url: database.url }),
    ];
  });
  after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await database.drop();
  });

  /** Returns an instance with nothing in memory, as a separate process would have. */
  function instance(index = 0): Streams<ReturnType<typeof ORGANIZATION.initial>> {
    const store = stores[index];
    if (store === undefined) throw new RangeError('no such store');
    return new Streams(new Kernel(store), ORGANIZATION);
  }

  const request = (more: Partial<RequestContext> = {}): RequestContext => ({
    credential: { kind: 'id_token', ...FOUNDER },
    requestId: newId('req_'),
    ids: new IdSource(newUuid(), Date.now()),
    now: nowMicros,
    ...more,
  });
  const member = (n: number) => ({ issuer: 'https://idp.example', subject: `member-${n}` });
  async function founded(by = instance()): Promise<string> {
    const id = newId('org_');
    await by.transact(organizationStream(id), request(), create(id, 'Clinic', FOUNDER));
    return id;
  }
  async function typesIn(id: string): Promise<string[]> {
    const types: string[] = [];
    for await (const { type } of instance().kernel.store.read(organizationStream(id))) types.push(type);
    return types;
  }

  it('decide on what another instance has written', async () => {
    const [one, other] = [instance(0), instance(1)];
    const id = await founded(one);
    const stream = organizationStream(id);
    await other.transact(stream, request(), addMember(id, member(1), 'owner'));
    // The first instance's state still shows the founder as the only owner.
    await one.transact(stream, request(), removeMember(id, FOUNDER));
    const last = await other.transact(stream, request(), removeMember(id, member(1))).catch((error) => error);
    expect(last).to.be.instanceOf(Refusal).and.to.have.property('status', 409);
  });

  it('lose nothing and do nothing twice when instances race on one stream', async () => {
    const [one, other] = [instance(0), instance(1)];
    const id = await founded(one);
    const races = Array.from({ length: 20 }, (_, n) =>
      (n % 2 === 0 ? one : other).transact(
        organizationStream(id),
        request(),
        addMember(id, member(n >> 1), 'developer'),
      ),
    );
    const wrote = (await Promise.all(races)).filter((each) => each !== undefined);
    // Each member was added by exactly one of the two commands that tried to.
    expect(wrote).to.have.length(10);
    expect(await typesIn(id)).to.have.length(11);
  });

  it('give up after ten conflicts, or after more for what others must not hold up', async () => {
    const id = await founded();
    const stream = organizationStream(id);
    let races = 0;
    const [own, other] = [instance(0).kernel.store, instance(1)];
    const append: typeof own.append = async (...asked) => {
      races += 1;
      // Another instance wins the race each time.
      if (races <= 30) await other.transact(stream, request(), addMember(id, member(races), 'developer'));
      return own.append(...asked);
    };
    const raced = new Proxy(own, {
      get(store, name) {
        const found: unknown = Reflect.get(store, name);
        return name === 'append' ? append : typeof found === 'function' ? found.bind(store) : found;
      },
    });
    const late = new Streams(new Kernel(raced), ORGANIZATION);
    const end = (tries?: number) => {
      const { credential, requestId, now, ids } = request();
      const metadata = { request_id: requestId, command_id: newUuid(), credential };
      return late.handle({
        ...{ stream, metadata, now, ...(tries === undefined ? {} : { tries }) },
        decide: (state, clock) => ({
          drafts: removeMember(
            id,
            FOUNDER,
          )(state).map((event) => {
            return { id: ids.at(0, 'end'), at: clock.next(), event };
          }),
          result: undefined,
        }),
      });
    };
    await other.transact(stream, request(), addMember(id, member(0), 'owner'));
    const refused = await end().catch((error) => error);
    expect(refused).to.be.instanceOf(Refusal).and.to.have.property('status', 503);
    expect(races).to.equal(10);
    expect(await end(MANY_TRIES))
      .to.have.property('position')
      .that.is.not.equal(undefined);
    expect(races).to.equal(31);
  });

  it('refuse none of the many who ask one instance at once', async () => {
    const one = instance();
    // Another kind of fold over the same streams, as for projects and sandboxes.
    const other = new Streams(one.kernel, { ...ORGANIZATION, name: 'other' });
    const id = await founded(one);
    const all = Array.from({ length: 30 }, (_, n) =>
      (n % 2 === 0 ? one : other).transact(
        organizationStream(id),
        request(),
        addMember(id, member(n), 'developer'),
      ),
    );
    await Promise.all(all);
    expect(await typesIn(id)).to.have.length(31);
  });

  it('find what an earlier attempt of the same request has written', async () => {
    const id = newId('org_');
    const stream = organizationStream(id);
    const ids = new IdSource(newUuid(), Date.now());
    const noted = new Map<string, Attempt>();
    const retry = {
      earlier: noted,
      note: async (commandId: string, attempt: Attempt) => void noted.set(commandId, attempt),
      secret: async () => Buffer.alloc(32),
    };
    const first = await instance().transact(stream, request({ ids, retry }), create(id, 'Clinic', FOUNDER));
    await instance().transact(stream, request(), addMember(id, member(1), 'admin'));
    const again = await instance().transact(stream, request({ ids, retry }), create(id, 'Clinic', FOUNDER));
    expect(again).to.deep.equal(first);
    expect(await typesIn(id)).to.deep.equal(['OrganizationCreated', 'OrganizationMemberAdded']);
  });

  it('say who did what under which request', async () => {
    const id = await founded();
    for await (const { metadata } of instance().kernel.store.read(organizationStream(id))) {
      const { credential, request_id, owner } = JSON.parse(metadata);
      expect(credential).to.deep.equal({ kind: 'id_token', ...FOUNDER });
      expect(request_id).to.match(/^req_/);
      expect(owner).to.equal(undefined);
    }
  });
});
