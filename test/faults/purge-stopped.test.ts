/**
 * A purge that a crash stops before or after any of its steps is still completed, including for a record with twenty grants:
 * no grant, token or person is left behind.
 */
import { expect } from 'chai';
import { pino } from 'pino';
import { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { PROJECT } from '#commands/project/state.ts';
import { type ErasureDeps, erase } from '#commands/record/erasure.ts';
import { decideWrites } from '#commands/resource/decide.ts';
import { RESOURCES, type Resources, SnapshotLoader } from '#commands/resource/state.ts';
import { openPool } from '#src/database/pool.ts';
import { CATALOG } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import { openEventStore } from '#src/events/open.ts';
import type { EventStore, Position } from '#src/events/store.ts';
import { projectStream, recordStream } from '#src/events/streams.ts';
import { forgetRecord } from '#src/oauth/revoke.ts';
import { AccessLogWriter } from '#src/operations/access-log/access-log.ts';
import { eraseAccessLog } from '#src/operations/access-log/erase.ts';
import { Erasing } from '#src/operations/erasing.ts';
import { Invitations } from '#src/operations/invitations.ts';
import { PostgresSnapshots } from '#src/operations/snapshots.ts';
import { newUuid } from '#src/shared/ids.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { byPerson, type ConsentInstance, grantBy, openInstance } from '#test/support/consent-commands.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { someOf } from '#test/support/scale.ts';
import { tablesWith } from '#test/support/tables-with.ts';
import { wholeLog } from '#test/support/whole-log.ts';

describe('a purge that is stopped at each step', () => {
  let store: EventStore;
  let began: Position;
  let snapshots: PostgresSnapshots;
  let other: TestDatabase;
  let instance: ConsentInstance;
  before(async () => {
    other = await createMigratedDatabase();
    instance = await openInstance(other.url);
    snapshots = new PostgresSnapshots(other.pool);
    store = await openEventStore({ url: other.url, eventStoreUrl: EVENTSTORE_URL });
    began = await store.head();
  });
  after(async () => {
    await instance.close();
    await store.close();
    await other.drop();
  });

  const STEPS = [
    'append 1',
    'reacted',
    'keep',
    'forget 1',
    'erase',
    'forget 2',
    'access log',
    'append 2',
    'waitFor',
    'forget 3',
    'done',
  ];
  for (const step of someOf(STEPS, 2)) {
    for (const moment of ['before', 'after'] as const) {
      it(`${moment} ${step}, the next run ends it`, async () => {
        const patient = newUuid();
        const project = `proj_${newUuid()}`;
        const ports = { pool: other.pool, store, snapshots };
        await createIn(resourcesIn(store, snapshots), patient, project);
        const people = await withGrants(instance, other, patient);
        const last = await withReads(other, patient);
        const requested = await request(store, patient, project);
        const stopped = await erase(depsThatStop(ports, step, moment), requested).catch(
          (error: unknown) => error,
        );
        expect(stopped).to.be.instanceOf(Stopped);
        await erase(depsThatStop(ports), requested);
        await erase(depsThatStop(ports), requested);
        const left = (await wholeLog(store, began)).filter(({ data }) => data.includes(patient));
        expect(left.map(({ type }) => type)).to.deep.equal(['RecordErasureRequested', 'RecordErased']);
        for (const name of people) expect(await tablesWith(other.pool, name), name).to.deep.equal([]);
        const { grants, access_log } = JSON.parse(left[1]?.data ?? '');
        expect(JSON.parse(left[1]?.metadata ?? '').schema_version).to.equal(CATALOG.RecordErased.version);
        expect(access_log).to.deep.equal({ entries: READS, hash: last });
        expect(grants).to.have.length(GRANTS + 1);
        for (const grant of grants) {
          expect(Object.keys(grant)).to.deep.equal(['grant_id', 'application_id', 'granted_at', 'ended_at']);
          expect(grant.ended_at > grant.granted_at, JSON.stringify(grant)).to.equal(true);
          expect(await tablesWith(other.pool, grant.grant_id)).to.deep.equal(inLog('events'));
        }
        expect(await tablesWith(other.pool, patient)).to.have.members([
          ...inLog('events', 'erased'),
          'operations.access_head',
        ]);
      });
    }
  }

  it('ends it only once the read models show it, after which no grant gets a code or token', async () => {
    const patient = newUuid();
    const project = `proj_${newUuid()}`;
    const ports = { pool: other.pool, store, snapshots };
    await createIn(resourcesIn(store, snapshots), patient, project);
    await withGrants(instance, other, patient);
    const requested = await request(store, patient, project);
    const forgotten: string[] = [];
    const deps = {
      ...depsThatStop(ports),
      reacted: async () => undefined,
      forget: async (of: string) => void forgotten.push(of),
    };
    const lagging = await erase({ ...deps, waitFor: async () => false }, requested).catch((e: unknown) => e);
    expect(lagging).to.have.property('kind', 'unavailable');
    const before = forgotten.length;
    await erase(deps, requested);
    expect(forgotten.slice(before), 'forgets once more').to.deep.equal([patient]);
  });

  it('is noted once when another instance carries it out at the same time', async () => {
    const patient = newUuid();
    const ports = { pool: other.pool, store, snapshots };
    await createIn(resourcesIn(store, snapshots), patient, `proj_${newUuid()}`);
    await withGrants(instance, other, patient);
    const requested = await request(store, patient, `proj_${newUuid()}`);
    const deps = depsThatStop(ports);
    const last = async (of: string) => {
      const erased = await deps.eraseAccessLog(of);
      await erase(depsThatStop(ports), requested);
      return erased;
    };
    const shown: Position[] = [];
    const waitFor = async (position: Position) => shown.push(position) > 0;
    await erase({ ...deps, eraseAccessLog: last, waitFor }, requested);
    const left = (await wholeLog(store, began)).filter(({ data }) => data.includes(patient));
    expect(left.map(({ type }) => type)).to.deep.equal(['RecordErasureRequested', 'RecordErased']);
    expect(shown, 'the end that the other one wrote is awaited').to.deep.equal([left[1]?.position]);
  });

  it('ends it too when somebody restores the Patient meanwhile', async () => {
    const patient = newUuid();
    const project = `proj_${newUuid()}`;
    const ports = { pool: other.pool, store, snapshots };
    await createIn(resourcesIn(store, snapshots), patient, project);
    await withGrants(instance, other, patient);
    const requested = await request(store, patient, project);
    const person = { issuer: 'https://issuer.example', subject: 'late' };
    const late = await instance.consents
      .grant(byPerson(person), grantBy(person, patient))
      .catch((e: unknown) => e);
    expect(late, 'no grant begins once the purge was requested').to.have.property('kind', 'conflict');
    const deps = depsThatStop(ports);
    let reactions = 0;
    await erase(
      {
        ...deps,
        reacted: async () => {
          reactions += 1;
          if (reactions === 1) await restoreIn(resourcesIn(store, snapshots), patient);
        },
      },
      requested,
    );
    expect(reactions, 'the second end is awaited too').to.equal(2);
    const left = (await wholeLog(store, began)).filter(({ data }) => data.includes(patient));
    expect(left.map(({ type }) => type)).to.deep.equal(['RecordErasureRequested', 'RecordErased']);
  });
});

const GRANTS = 20;

/** Returns the names of the log's tables, if the log is in PostgreSQL. */
const inLog = (...tables: readonly string[]): string[] =>
  EVENTSTORE_URL === '' ? tables.map((table) => `log.${table}`) : [];

/**
 * Gives a record twenty grants from four people, a grant that was replaced, codes, tokens and an invitation.
 * @returns the people's subjects
 */
async function withGrants(
  { consents }: ConsentInstance,
  { pool }: TestDatabase,
  record: string,
): Promise<readonly string[]> {
  const people = ['self', 'mother', 'father', 'aunt'].map((name) => {
    return { issuer: 'https://issuer.example', subject: `${name}-${newUuid()}` };
  });
  for (const [n, person] of people.entries())
    await consents.link(byPerson(person), record, person, n === 0 ? 'self' : 'dependent', 'invitation');
  for (let n = 0; n <= GRANTS; n += 1) {
    const person = people[n % people.length] ?? { issuer: '', subject: '' };
    const application = `app_${n % GRANTS}`;
    const { result } = await consents.grant(byPerson(person), grantBy(person, record, { application }));
    await pool.query(
      `with chain as (
         insert into operations.oauth_chain
           (id, application_id, project, environment, grant_id, record, scope, resource, expires_at)
         values (gen_random_uuid(), $1, 'proj_apps', 'sandbox', $2, $3, 'patient/*.rs', '{}', now() + interval '30 days')
         returning id)
       insert into operations.oauth_token
         (sha256, kind, chain, application_id, project, environment, scope, resource, issued_at, expires_at)
       select sha256(convert_to($2, 'utf8')), 'refresh', id, $1, 'proj_apps', 'sandbox', 'patient/*.rs', '{}', now(), now() + interval '1 day'
         from chain`,
      [application, result.grantId, record],
    );
  }
  await pool.query(
    `insert into operations.invitation (id, sha256, project, environment, record, relationship, email, expires_at)
     values ($1, sha256(convert_to($1, 'utf8')), 'proj_1', 'sandbox', $2, 'dependent', $3, now() + interval '1 day')`,
    [`inv_${record}`, record, people[0]?.subject],
  );
  return people.map(({ subject }) => subject);
}

const READS = 3;

/**
 * Adds an access log to a record.
 * @returns the hash of its last entry, in hex
 */
async function withReads({ url, pool }: TestDatabase, record: string): Promise<string> {
  const own = openPool(url, { max: 1 });
  const writer = new AccessLogWriter(own, pino({ level: 'silent' }));
  for (let n = 0; n < READS; n += 1) {
    await writer.written([
      {
        record,
        action: 'read',
        actor: { kind: 'application', id: 'app_0', grantId: null },
        resourceType: 'Patient',
        resourceId: record,
        purpose: null,
        status: 'ok',
        count: 1,
        requestId: 'req_test',
      },
    ]);
  }
  await writer.close();
  await own.end();
  const { rows } = await pool.query(
    "select encode(hash, 'hex') as last from operations.access_head where record = $1",
    [record],
  );
  return rows[0].last;
}

/** Thrown to simulate that the process ended here. */
class Stopped extends Error {}

/** Returns the real ports, one of which stops the process before or after its work. */
function depsThatStop(
  {
    pool,
    store,
    snapshots,
  }: {
    readonly pool: TestDatabase['pool'];
    readonly store: EventStore;
    readonly snapshots: PostgresSnapshots;
  },
  step = '',
  moment: 'before' | 'after' = 'before',
): ErasureDeps {
  const erasing = new Erasing(pool);
  const counts = new Map<string, number>();
  const port = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const here = step === name || step === `${name} ${count}`;
    if (here && moment === 'before') throw new Stopped();
    const result = await work();
    if (here) throw new Stopped();
    return result;
  };
  const stopping: EventStore = {
    append: (...args) => port('append', () => store.append(...args)),
    read: (...args) => store.read(...args),
    subscribe: (options) => store.subscribe(options),
    head: () => store.head(),
    reached: () => store.reached(),
    erase: (stream) => port('erase', () => store.erase(stream)),
    ping: () => store.ping(),
    close: () => store.close(),
  };
  return {
    resources: resourcesIn(stopping, snapshots),
    projects: new Streams(new Kernel(stopping), PROJECT),
    now: nowMicros,
    erased: {
      keep: (...kept) => port('keep', () => erasing.keep(...kept)),
      kept: (record) => erasing.kept(record),
      done: (record) => port('done', () => erasing.done(record)),
    },
    reacted: (_, patient) =>
      port('reacted', async () => {
        // Webhooks are created from these events before the stream is removed.
        const ends: string[] = [];
        for await (const { type, data } of store.read(recordStream(patient)))
          if (type === 'ConsentRevoked') ends.push(JSON.parse(data).reason);
        expect(ends.filter((reason) => reason === 'patient_purged')).to.have.length(GRANTS);
      }),
    forget: (patient) =>
      port('forget', async () => {
        await snapshots.forget(recordStream(patient));
        await new Invitations(pool).forget(patient);
        await forgetRecord(pool, patient);
      }),
    eraseAccessLog: (patient) => port('access log', () => eraseAccessLog(pool, patient)),
    waitFor: () => port('waitFor', async () => true),
  };
}

const METADATA = {
  request_id: 'req_test',
  command_id: newUuid(),
  credential: { kind: 'api_key', project: 'proj_test', environment: 'sandbox' },
} as const;

function resourcesIn(store: EventStore, snapshots: PostgresSnapshots): Streams<Resources> {
  return new Streams(new Kernel(store), RESOURCES, new SnapshotLoader(store, snapshots));
}

async function createIn(resources: Streams<Resources>, patient: string, project: string): Promise<void> {
  const resource = { value: { resourceType: 'Patient' }, exact: false };
  await resources.handle({
    stream: recordStream(patient),
    metadata: METADATA,
    now: nowMicros,
    owner: { project, environment: 'sandbox' },
    touches: [patient],
    decide: (state, clock) =>
      decideWrites(state, clock, [
        { kind: 'create', eventId: newUuid(), type: 'Patient', id: patient, resource },
      ]),
  });
}

async function restoreIn(resources: Streams<Resources>, patient: string): Promise<void> {
  const resource = { value: { resourceType: 'Patient' }, exact: false };
  await resources.handle({
    stream: recordStream(patient),
    metadata: METADATA,
    now: nowMicros,
    touches: [patient],
    decide: (state, clock) =>
      decideWrites(state, clock, [
        { kind: 'update', eventId: newUuid(), type: 'Patient', id: patient, resource },
      ]),
  });
}

async function request(store: EventStore, patient: string, project: string) {
  const stream = projectStream(project);
  await new Streams(new Kernel(store), PROJECT).handle<void>({
    stream,
    metadata: METADATA,
    now: nowMicros,
    decide: (_, clock) => ({
      drafts: [
        {
          id: newUuid(),
          at: clock.next(),
          event: { type: 'RecordErasureRequested', data: { patient, environment: 'sandbox' } },
        },
      ],
      result: undefined,
    }),
  });
  for await (const recorded of store.read(stream)) return understand(recorded);
  throw new Error('the request was not written');
}
