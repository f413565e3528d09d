/** A purge that a crash stops before or after any of its steps is carried out all the same. */
import { expect } from 'chai';
import { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { PROJECT } from '#commands/project/state.ts';
import { type ErasureDeps, erase } from '#commands/record/erasure.ts';
import { decideWrites } from '#commands/resource/decide.ts';
import { SnapshotLoader } from '#commands/resource/snapshots.ts';
import { RESOURCES, type Resources } from '#commands/resource/state.ts';
import { understand } from '#src/events/codec.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import type { EventStore } from '#src/events/store.ts';
import { projectStream, recordStream } from '#src/events/streams.ts';
import { PostgresSnapshots, SNAPSHOT_FOLD_SQL, SNAPSHOTS_SQL } from '#src/operations/snapshots.ts';
import { newUuid } from '#src/shared/ids.ts';
import { nowMicros } from '#src/shared/time.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { wholeLog } from '#test/support/whole-log.ts';

describe('a purge that is stopped at each step', () => {
  let store: PostgresEventStore;
  let snapshots: PostgresSnapshots;
  let other: TestDatabase;
  before(async () => {
    other = await createDatabase();
    await other.pool.query(`CREATE SCHEMA operations; ${SNAPSHOTS_SQL} ${SNAPSHOT_FOLD_SQL}`);
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
        await createIn(resourcesIn(store, snapshots), patient, project);
        const requested = await request(store, patient, project);
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
    resources: resourcesIn(stopping, snapshots),
    projects: new Streams(new Kernel(stopping), PROJECT),
    now: nowMicros,
    reacted: () => port('reacted', async () => undefined),
    forget: (patient) => port('forget', () => snapshots.forget(recordStream(patient))),
    visible: () => port('visible', async () => undefined),
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

async function request(store: PostgresEventStore, patient: string, project: string) {
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
