/** `_purge`: nothing of the record is left, whatever it was stopped at; nobody else's is touched. */
import { expect } from 'chai';
import { lastValueFrom, takeWhile } from 'rxjs';
import { Handler } from '#commands/handle.ts';
import { type ErasureDeps, erase } from '#commands/record/erasure.ts';
import { decideWrites } from '#commands/resource/decide.ts';
import { States } from '#commands/resource/states.ts';
import { understand } from '#src/events/catalog.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { BEGINNING, type EventStore, type RecordedEvent } from '#src/events/store.ts';
import { projectStream, recordStream } from '#src/events/streams.ts';
import { PostgresSnapshots, SNAPSHOTS_SQL } from '#src/operations/snapshots.ts';
import { newUuid } from '#src/shared/ids.ts';
import { nowMicros } from '#src/shared/time.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/process.ts';
import { type Service, startService } from '#test/support/service.ts';

const DIRECTORY = { system: 'urn:annal:test', value: 'directory' };

const ENTERED_IN_ERROR = {
  coding: [
    {
      system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-verification',
      code: 'entered-in-error',
    },
  ],
};

/** A transaction over a new record, every resource of which bears the marker. */
function recordOf(marker: string): string {
  const patient = 'urn:uuid:11111111-1111-4111-8111-111111111111';
  const subject = { reference: patient };
  const text = `${marker} text`;
  const resources = [
    { resourceType: 'Organization', name: 'Shared', identifier: [DIRECTORY] },
    {
      resourceType: 'Patient',
      name: [{ family: marker }],
      identifier: [{ system: 'urn:annal:test', value: marker }],
    },
    { resourceType: 'Observation', status: 'final', code: { text }, subject },
    { resourceType: 'Condition', code: { text }, subject },
    {
      resourceType: 'Encounter',
      status: 'finished',
      class: { code: 'AMB' },
      subject,
      identifier: [{ value: marker }],
    },
    {
      resourceType: 'AllergyIntolerance',
      verificationStatus: ENTERED_IN_ERROR,
      code: { text },
      patient: subject,
    },
  ];
  const entry = resources.map((resource) => ({
    ...(resource.resourceType === 'Patient' ? { fullUrl: patient } : {}),
    resource,
    request: {
      method: 'POST',
      url: resource.resourceType,
      ...(resource.resourceType === 'Organization'
        ? { ifNoneExist: 'identifier=urn:annal:test|directory' }
        : {}),
    },
  }));
  return JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry });
}

async function createRecord(service: Service, marker: string): Promise<string> {
  const answer = await service.fhir('', {
    method: 'POST',
    body: recordOf(marker),
    headers: { 'Idempotency-Key': `key-of-${marker}`, Prefer: 'return=representation' },
  });
  expect(answer.status, answer.text).to.equal(200);
  const id = /"location":"Patient\/([^/]+)\//.exec(answer.text)?.[1] ?? '';
  const changed = { resourceType: 'Patient', id, name: [{ family: `${marker} changed` }] };
  const updated = await service.fhir(`/Patient/${id}`, { method: 'PUT', body: JSON.stringify(changed) });
  expect(updated.status, updated.text).to.equal(200);
  return id;
}

/** Tables of every schema that have a row in which the text stands. */
async function tablesWith(database: TestDatabase, text: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await database.pool.query(
      `SELECT 1 FROM ${name} t WHERE strpos(t::text, $1) > 0 LIMIT 1`,
      [text],
    );
    if (rowCount !== 0) found.push(name);
  }
  return found;
}

async function wholeLog(store: EventStore): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  const head = await store.head();
  const reading = store.subscribe({
    after: BEGINNING,
    handle: async (batch) => void events.push(...batch.events),
  });
  await lastValueFrom(reading.pipe(takeWhile((position) => position < head, true)));
  return events;
}

describe('purge', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
  });
  after(() => database.drop());

  describe('by the service', () => {
    let service: Service;
    before(async () => {
      service = await startService({ databaseUrl: database.url });
    });
    after(() => service.stop());

    it('leaves nothing of the record in any table or in the log, and everything of others', async () => {
      const [gone, kept] = [`marker-${newUuid()}`, `marker-${newUuid()}`];
      const id = await createRecord(service, gone);
      await createRecord(service, kept);
      const before = await tablesWith(database, kept);
      expect(before).to.include.members([
        'log.events',
        'resources.resource',
        'search.string',
        'history.version',
      ]);
      const answer = await service.fhir(`/Patient/${id}?_purge=true`, { method: 'DELETE' });
      expect(answer.status, answer.text).to.equal(204);
      expect(await tablesWith(database, gone)).to.deep.equal([]);
      expect(await tablesWith(database, kept)).to.deep.equal(before);
      const store = await PostgresEventStore.open({ url: database.url });
      const events = await wholeLog(store);
      await store.close();
      expect(events.filter(({ data, metadata }) => `${data}${metadata}`.includes(gone))).to.deep.equal([]);
      expect(events.filter(({ data }) => data.includes(id)).map(({ type }) => type)).to.deep.equal([
        'RecordErasureRequested',
        'RecordErased',
      ]);
      for (const path of [`/Patient/${id}`, `/Patient/${id}/_history`, `/Patient/${id}/Provenance`]) {
        expect((await service.fhir(path)).status, path).to.equal(404);
      }
      expect((await service.fhir(`/Patient/${id}?_purge=true`, { method: 'DELETE' })).status).to.equal(404);
    });

    it('purges a deleted Patient too, and no other type', async () => {
      const id = await createRecord(service, `marker-${newUuid()}`);
      expect((await service.fhir(`/Patient/${id}`, { method: 'DELETE' })).status).to.equal(204);
      expect((await service.fhir(`/Patient/${id}?_purge=true`, { method: 'DELETE' })).status).to.equal(204);
      expect(
        (await service.fhir(`/Observation/${newUuid()}?_purge=true`, { method: 'DELETE' })).status,
      ).to.equal(400);
    });

    it('is finished by the next start when the service is killed meanwhile', async () => {
      const stages: ((id: string) => Promise<boolean>)[] = [
        async (id) => (await erasuresOf(database, id)).length > 0,
        async (id) =>
          (await isWritten(
            database,
            `SELECT 1 FROM log.events WHERE stream = $1 AND type = 'ResourceDeleted'`,
            id,
          )) || (await isErased(database, id)),
        (id) => isErased(database, id),
      ];
      for (const reached of stages) {
        const marker = `marker-${newUuid()}`;
        const id = await createRecord(service, marker);
        const asked = service.fhir(`/Patient/${id}?_purge=true`, { method: 'DELETE' }).catch(() => undefined);
        await eventually(() => reached(id));
        const { key } = service;
        await service.kill();
        await asked;
        service = await startService({ databaseUrl: database.url, key });
        await eventually(async () => (await erasuresOf(database, id)).includes('RecordErased'));
        await eventually(async () => (await tablesWith(database, marker)).length === 0);
        expect((await service.fhir(`/Patient/${id}`)).status).to.equal(404);
      }
    });
  });

  describe('stopped at each step', () => {
    let store: PostgresEventStore;
    let snapshots: PostgresSnapshots;
    let other: TestDatabase;
    before(async () => {
      other = await createDatabase();
      await other.pool.query(`CREATE SCHEMA operations; ${SNAPSHOTS_SQL}`);
      snapshots = new PostgresSnapshots(other.pool);
      store = await PostgresEventStore.open({ url: other.url });
    });
    after(async () => {
      await store.close();
      await other.drop();
    });

    const STEPS = ['append 1', 'reacted', 'forget 1', 'erase', 'forget 2', 'append 2', 'visible', 'forget 3'];
    for (const step of STEPS) {
      for (const moment of ['before', 'after'] as const) {
        it(`${moment} ${step}, the next run ends it`, async () => {
          const patient = newUuid();
          const project = `proj_${newUuid()}`;
          await createIn(new Handler(store, new States(store, snapshots)), patient, project);
          const requested = await request(store, snapshots, patient, project);
          const stopped = await erase(depsThatStop(store, snapshots, step, moment), requested).catch(
            (error: unknown) => error,
          );
          expect(stopped).to.be.instanceOf(Stopped);
          await erase(depsThatStop(store, snapshots), requested);
          await erase(depsThatStop(store, snapshots), requested);
          const left = (await wholeLog(store))
            .filter(({ data }) => data.includes(patient))
            .map(({ type }) => type);
          expect(left).to.deep.equal(['RecordErasureRequested', 'RecordErased']);
        });
      }
    }
  });
});

async function erasuresOf(database: TestDatabase, id: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ type: string }>(
    `SELECT type FROM log.events WHERE stream LIKE 'project-%' AND strpos(data, $1) > 0`,
    [id],
  );
  return rows.map(({ type }) => type);
}

async function isWritten(database: TestDatabase, query: string, id: string): Promise<boolean> {
  return (await database.pool.query(query, [recordStream(id)])).rowCount === 1;
}

const isErased = (database: TestDatabase, id: string): Promise<boolean> =>
  isWritten(database, 'SELECT 1 FROM log.erased WHERE stream = $1', id);

/** As if the process had ended here. */
class Stopped extends Error {}

/** The real ports, of which one stops the process before or after its work. */
function depsThatStop(
  store: PostgresEventStore,
  snapshots: PostgresSnapshots,
  step = '',
  moment: 'before' | 'after' = 'before',
): ErasureDeps {
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
    handler: new Handler(stopping, new States(stopping, snapshots)),
    now: nowMicros,
    reacted: () => port('reacted', async () => undefined),
    forget: (patient) => port('forget', () => snapshots.forget(recordStream(patient))),
    visible: () => port('visible', async () => undefined),
  };
}

const METADATA = {
  schema_version: 1,
  request_id: 'req_test',
  command_id: newUuid(),
  credential: { kind: 'api_key', project: 'proj_test', environment: 'sandbox' },
} as const;

async function createIn(handler: Handler, patient: string, project: string): Promise<void> {
  const resource = { value: { resourceType: 'Patient' }, exact: false };
  await handler.handle({
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

async function request(
  store: PostgresEventStore,
  snapshots: PostgresSnapshots,
  patient: string,
  project: string,
) {
  const stream = projectStream(project);
  await new Handler(store, new States(store, snapshots)).handle<void>({
    stream,
    metadata: METADATA,
    now: nowMicros,
    touches: [],
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
