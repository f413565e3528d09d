/**
 * Commands that report a change as already made. Reads must show the change, too, even if another request wrote it only a
 * moment ago.
 */
import { expect } from 'chai';
import type { Snapshots } from '#commands/command.ts';
import { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { decideWrites, type Write } from '#commands/resource/decide.ts';
import { RESOURCES, type Resources, SnapshotLoader } from '#commands/resource/state.ts';
import { recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { Database } from '#test/simulation/database.ts';
import { MemoryEventStore } from '#test/simulation/memory-store.ts';

describe('a command that has nothing to do', () => {
  const database = new Database({});
  const store = new MemoryEventStore({ log: database.log });
  const snapshots: Snapshots = {
    load: async (stream, ids) => database.loadSnapshot(stream, ids),
    save: async (...snapshot) => database.saveSnapshot(...snapshot),
    forget: async (stream) => database.forgetSnapshot(stream),
  };
  const instance = (): Streams<Resources> =>
    new Streams(new Kernel(store), RESOURCES, new SnapshotLoader(store, snapshots, 2));
  const patient = newUuid();
  const handle = (resources: Streams<Resources>, write: Write) =>
    resources.handle({
      stream: recordStream(patient),
      metadata: { request_id: 'req_1', command_id: newUuid(), credential: { kind: 'system' } },
      now: nowMicros,
      owner: { project: 'proj_1', environment: 'sandbox' },
      touches: [patient],
      decide: (state, clock) => decideWrites(state, clock, [write]),
    });
  const base = () => ({ eventId: newUuid(), type: 'Patient' as const, id: patient });

  it('says where the last event of its stream is, which it read, heard of, wrote, or knows by a snapshot', async () => {
    const [writer, other] = [instance(), instance()];
    const resource = { value: { resourceType: 'Patient' }, exact: false };
    await handle(writer, { kind: 'create', ...base(), resource });
    await handle(other, { kind: 'update', ...base(), resource });
    const { position } = await handle(writer, { kind: 'remove', ...base() });
    for (const resources of [writer, other, instance()]) {
      const again = await handle(resources, { kind: 'remove', ...base() });
      expect(again.result[0]?.outcome).to.equal('unchanged');
      expect(again).to.include({ position: undefined, seen: position });
    }
    expect(database.loadSnapshot(recordStream(patient), [])?.head.revision).to.equal(2);
  });
});
