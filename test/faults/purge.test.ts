/** `_purge`: nothing of the record is left, wherever the purge was stopped, and other records aren't touched. */
import { expect } from 'chai';
import { openEventStore } from '#src/events/open.ts';
import { type EventStore, type Position, StreamDeleted } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { byPerson, grantBy, identityOf, openInstance } from '#test/support/consent-commands.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { itAtFullSize, someOf } from '#test/support/scale.ts';
import { type Service, startService } from '#test/support/service.ts';
import { tablesWith } from '#test/support/tables-with.ts';
import { wholeLog } from '#test/support/whole-log.ts';

const DIRECTORY = { system: 'urn:annal:test', value: 'directory' };

/** The log's tables, if the log is in PostgreSQL, and the tables of every read model. */
const TABLES_OF_A_RECORD = [
  ...(EVENTSTORE_URL === '' ? ['log.events'] : []),
  'resources.resource',
  'history.version',
  'search.string',
  'timeline.entry',
];

const ENTERED_IN_ERROR = {
  coding: [
    {
      system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-verification',
      code: 'entered-in-error',
    },
  ],
};

/** Returns a transaction for a new record in which every resource has the marker. */
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

describe('purge', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createMigratedDatabase();
  });
  after(() => database.drop());
  const openStore = (): Promise<EventStore> =>
    openEventStore({ url: database.url, eventStoreUrl: EVENTSTORE_URL });

  describe('by the service', () => {
    let service: Service;
    let store: EventStore;
    let began: Position;
    before(async () => {
      service = await startService({ databaseUrl: database.url });
      store = await openStore();
      began = await store.head();
    });
    after(async () => {
      await store?.close();
      await service.stop();
    });

    /** Returns the types of the project's events that refer to a record. */
    async function erasuresOf(id: string): Promise<string[]> {
      const events = await wholeLog(store, began);
      return events
        .filter(({ stream, data }) => stream.startsWith('project-') && data.includes(id))
        .map(({ type }) => type);
    }

    it('leaves nothing of the record in any table or in the log, and everything of others', async () => {
      const [gone, kept] = [`marker-${newUuid()}`, `marker-${newUuid()}`];
      const id = await createRecord(service, gone);
      await createRecord(service, kept);
      // The response to a write waits until reads show the write, but not until searches and lists do.
      await eventually(async () => {
        const tables = new Set(await tablesWith(database.pool, kept));
        return TABLES_OF_A_RECORD.every((table) => tables.has(table));
      });
      const before = await tablesWith(database.pool, kept);
      const answer = await service.fhir(`/Patient/${id}?_purge=true`, { method: 'DELETE' });
      expect(answer.status, answer.text).to.equal(204);
      expect(await tablesWith(database.pool, gone)).to.deep.equal([]);
      expect(await tablesWith(database.pool, kept)).to.deep.equal(before);
      expect(await lastOf(store, id)).to.equal('erased');
      // Reads the log as a process that starts now would. EventStoreDB keeps the bytes until `annal scavenge`
      // (faults/scavenge.test.ts).
      const later = await openStore();
      const events = await wholeLog(later, began);
      await later.close();
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

    itAtFullSize('is finished by the next start when the service is killed meanwhile', async () => {
      const stages: ((id: string) => Promise<boolean>)[] = [
        async (id) => (await erasuresOf(id)).length > 0,
        async (id) => ['erased', 'ResourceDeleted'].includes(await lastOf(store, id)),
        async (id) => (await lastOf(store, id)) === 'erased',
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
        await eventually(async () => (await erasuresOf(id)).includes('RecordErased'));
        await eventually(async () => (await tablesWith(database.pool, marker)).length === 0);
        expect((await service.fhir(`/Patient/${id}`)).status).to.equal(404);
      }
    });

    itAtFullSize(
      'of a record with twenty grants, killed at each stage, tells applications of each and leaves no person',
      async () => {
        const receiver = await startReceiver();
        const instance = await openInstance(database.url);
        try {
          const { rows } = await database.pool.query<{ project: string }>(
            "select project from projects.api_key where sha256 = encode(sha256($1::bytea), 'hex')",
            [Buffer.from(service.key)],
          );
          const project = rows[0]?.project ?? '';
          const asked = { url: `${receiver.url}/hook`, events: ['consent.revoked'] };
          const made = await fetch(`${service.url}/v1/webhooks`, {
            method: 'POST',
            body: JSON.stringify(asked),
            headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
          });
          expect(made.status).to.equal(201);
          /**
           * Returns the ends of grants that were delivered or are waiting in the ledger; after a kill, an attempt is repeated
           * later.
           */
          const told = async (): Promise<string[]> => {
            const { rows: due } = await database.pool.query<{ payload: string }>(
              'select payload from operations.webhook_delivery',
            );
            const payloads = [
              ...receiver.received.map(({ body }) => String(body)),
              ...due.map(({ payload }) => payload),
            ];
            return payloads.map((payload) => {
              const { data } = JSON.parse(payload) as { data: { grant_id: string; reason: string } };
              return `${data.reason} ${data.grant_id}`;
            });
          };
          const stages: ((id: string) => Promise<boolean>)[] = [
            async (id) => (await erasuresOf(id)).length > 0,
            async (id) => ['erased', 'ResourceDeleted'].includes(await lastOf(store, id)),
            async (id) => (await lastOf(store, id)) === 'erased',
            async (id) => (await erasuresOf(id)).includes('RecordErased'),
          ];
          for (const reached of someOf(stages, 2)) {
            const marker = `marker-${newUuid()}`;
            const id = await createRecord(service, marker);
            const person = identityOf(marker);
            const grants: string[] = [];
            for (let n = 0; n < 20; n += 1) {
              const application = {
                id: `app_${n}`,
                project,
                environment: 'sandbox',
                sector: `app_${n}`,
              } as const;
              const grant = { ...grantBy(person, id), application };
              grants.push((await instance.consents.grant(byPerson(person), grant)).result.grantId);
            }
            const purge = service
              .fhir(`/Patient/${id}?_purge=true`, { method: 'DELETE' })
              .catch(() => undefined);
            await eventually(() => reached(id));
            const { key } = service;
            await service.kill();
            await purge;
            service = await startService({ databaseUrl: database.url, key });
            await eventually(async () => (await erasuresOf(id)).includes('RecordErased'));
            await eventually(async () => (await tablesWith(database.pool, marker)).length === 0);
            const ends = await told();
            for (const grant of grants) expect(ends).to.include(`patient_purged ${grant}`);
            const erased = (await wholeLog(store, began)).findLast(
              ({ type, data }) => type === 'RecordErased' && data.includes(id),
            );
            const kept = JSON.parse(erased?.data ?? '{}') as { grants: { grant_id: string }[] };
            expect(kept.grants.map(({ grant_id }) => grant_id)).to.deep.equal(grants);
            const { rowCount } = await database.pool.query('select from consents.grants where record = $1', [
              id,
            ]);
            expect(rowCount).to.equal(0);
          }
        } finally {
          await instance.close();
          await receiver.stop();
        }
      },
    );
  });
});

/** Returns the type of a record's last event, or `erased`. */
async function lastOf(store: EventStore, id: string): Promise<string> {
  try {
    for await (const { type } of store.read(recordStream(id), { direction: 'backwards', limit: 1 }))
      return type;
    return '';
  } catch (error) {
    if (error instanceof StreamDeleted) return 'erased';
    throw error;
  }
}
