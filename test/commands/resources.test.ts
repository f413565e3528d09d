/** Commands on records over a real log: conflicts between instances, snapshots, retries of the same request. */
import { expect } from 'chai';
import type { MetadataBase, Snapshots, WriteResult } from '#commands/command.ts';
import { Kernel } from '#commands/kernel/kernel.ts';
import { type StreamCommand, Streams } from '#commands/kernel/streams.ts';
import { decideWrites } from '#commands/resource/decide.ts';
import { findEntry, RESOURCES, type Resources, SnapshotLoader } from '#commands/resource/state.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { SNAPSHOT_VERSION } from '#src/events/snapshot-version.ts';
import { recordStream } from '#src/events/streams.ts';
import { PostgresSnapshots, SNAPSHOT_FOLD_SQL, SNAPSHOTS_SQL } from '#src/operations/snapshots.ts';
import { newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { createDatabase } from '#test/support/database.ts';

const OWNER = { project: 'proj_test', environment: 'sandbox' } as const;

describe('handling commands', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let stores: PostgresEventStore[];
  let snapshots: PostgresSnapshots;

  before(async () => {
    database = await createDatabase();
    await database.pool.query(`CREATE SCHEMA operations; ${SNAPSHOTS_SQL} ${SNAPSHOT_FOLD_SQL}`);
    snapshots = new PostgresSnapshots(database.pool);
    stores = [
      await PostgresEventStore.open({ url: database.url }),
      await PostgresEventStore.open({ url: database.url }),
    ];
  });

  after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await database.drop();
  });

  function instance(index = 0, kept: Snapshots = snapshots, maxBytes?: number): Streams<Resources> {
    const store = stores[index];
    if (store === undefined) throw new RangeError('no such store');
    return new Streams(new Kernel(store, maxBytes), RESOURCES, new SnapshotLoader(store, kept));
  }

  const entry = async (resources: Streams<Resources>, patient: string, id: string) =>
    findEntry((await resources.read(recordStream(patient), [id])).state, id);

  const metadata = (): MetadataBase => ({
    request_id: 'req_test',
    command_id: newUuid(),
    credential: { kind: 'api_key', ...OWNER, key_id: 'key_test' },
  });

  function command(
    patient: string,
    kind: 'create' | 'update',
    more: Partial<StreamCommand<Resources, unknown>> & { ifMatch?: number; id?: string } = {},
  ) {
    const { ifMatch, id = patient, ...rest } = more;
    const type = id === patient ? ('Patient' as const) : ('Observation' as const);
    const write = {
      kind,
      eventId: newUuid(),
      type,
      id,
      resource: { value: { resourceType: type }, exact: false },
      ...(ifMatch === undefined ? {} : { ifMatch }),
    };
    return {
      stream: recordStream(patient),
      metadata: metadata(),
      now: nowMicros,
      owner: OWNER,
      touches: [patient, id],
      decide: (...[state, clock]: Parameters<StreamCommand<Resources, unknown>['decide']>) =>
        decideWrites(state, clock, [write]),
      ...rest,
    } as StreamCommand<Resources, WriteResult[]>;
  }

  it('lets two instances write by turns with If-Match, without a false 412', async () => {
    const patient = newUuid();
    const handlers = [instance(0), instance(1)];
    await handlers[0]?.handle(command(patient, 'create'));
    for (let version = 1; version <= 20; version += 1) {
      const { result } =
        (await handlers[version % 2]?.handle(command(patient, 'update', { ifMatch: version }))) ?? {};
      expect(result?.[0]?.version).to.equal(version + 1);
    }
  });

  it('gives 40 racing updates from two instances 40 versions, and one If-Match one winner', async () => {
    const patient = newUuid();
    const handlers = [instance(0), instance(1)];
    await handlers[0]?.handle(command(patient, 'create'));
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, index) => handlers[index % 2]?.handle(command(patient, 'update'))),
    );
    const versions = results.map((handled) => handled?.result[0]?.version ?? 0).sort((a, b) => a - b);
    expect(versions).to.deep.equal(Array.from({ length: 40 }, (_, index) => index + 2));
    const races = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        handlers[index % 2]?.handle(command(patient, 'update', { ifMatch: 41 })),
      ),
    );
    expect(races.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    for (const race of races) {
      if (race.status === 'rejected')
        expect(race.reason).to.be.instanceOf(Refusal).with.property('status', 412);
    }
  });

  it('forgets the state used longest ago when another has grown beyond what states may take', async () => {
    const handler = instance(0, snapshots, 5_000);
    const [first, second] = [newUuid(), newUuid()];
    for (const patient of [first, second]) await handler.handle(command(patient, 'create'));
    expect(handler.peek(recordStream(first))).not.to.equal(undefined);
    for (let n = 0; n < 24; n += 1) await handler.handle(command(second, 'create', { id: newUuid() }));
    expect(handler.peek(recordStream(second))?.state.entries.size).to.equal(25);
    expect(handler.peek(recordStream(first))).to.equal(undefined);
  });

  it('takes snapshots, and a cold instance decides alike from them', async () => {
    const patient = newUuid();
    let saved: () => void = () => undefined;
    const done = new Promise<void>((resolve) => {
      saved = resolve;
    });
    const watched: Snapshots = {
      load: (stream, ids) => snapshots.load(stream, ids),
      save: async (...snapshot) => {
        const isStored = await snapshots.save(...snapshot);
        saved();
        return isStored;
      },
      forget: (stream) => snapshots.forget(stream),
    };
    const warm = instance(0, watched);
    const ids = Array.from({ length: 300 }, newUuid);
    await warm.handle(command(patient, 'create'));
    for (const id of ids) await warm.handle(command(patient, 'create', { id }));
    for (const id of ids) await warm.handle(command(patient, 'update', { id }));
    await done;
    const cold = instance(1);
    expect((await entry(cold, patient, ids[7] ?? ''))?.version).to.equal(2);
    expect(await entry(cold, patient, newUuid())).to.equal(undefined);
    const { result } = await cold.handle(command(patient, 'update', { id: ids[299] ?? '', ifMatch: 2 }));
    expect(result[0]?.version).to.equal(3);
    expect(
      (await warm.handle(command(patient, 'update', { id: ids[299] ?? '', ifMatch: 3 }))).result[0]?.version,
    ).to.equal(4);
  });

  it('saves no part of a snapshot that another instance has removed', async () => {
    const patient = newUuid();
    const stream = recordStream(patient);
    const saves: Promise<boolean>[] = [];
    const warm = instance(0, {
      load: (name, ids) => snapshots.load(name, ids),
      save: (...snapshot) => {
        const saving = snapshots.save(...snapshot);
        saves.push(saving);
        return saving;
      },
      forget: (name) => snapshots.forget(name),
    });
    const ids = Array.from({ length: 520 }, newUuid);
    await warm.handle(command(patient, 'create'));
    const updates = async (from: number, to: number): Promise<void> => {
      for (const id of ids.slice(from, to)) await warm.handle(command(patient, 'create', { id }));
      await Promise.all(saves);
    };
    await updates(0, 510);
    await snapshots.forget(stream);
    for (let n = 0; n < 510; n += 1) await warm.handle(command(patient, 'update', { id: ids[500] ?? '' }));
    expect(await Promise.all(saves)).to.include(false);
    await updates(510, 520);
    expect(await Promise.all(saves)).to.satisfy((saved: boolean[]) => saved.at(-1) === true);
    expect((await entry(instance(1), patient, ids[0] ?? ''))?.version).to.equal(1);
  });

  it('ignores snapshots of other folds, and replaces those of older ones only', async () => {
    const patient = newUuid();
    const stream = recordStream(patient);
    const warm = instance();
    await warm.handle(command(patient, 'create'));
    const before = await warm.read(stream);
    const { head: early, recordedAt, owner } = before;
    await warm.handle(command(patient, 'update'));
    const { head: late } = await warm.read(stream);
    if (early === undefined || late === undefined) throw new Error('the stream has no events');
    const save = (fold: number, head: typeof early, version: number) => {
      const entry = { type: 'Patient', version, deleted: false, revision: head.revision };
      return snapshots.save(stream, { fold, head, recordedAt, owner }, new Map([[patient, entry]]), -1);
    };
    const kept = async () => {
      const found = await snapshots.load(stream, [patient]);
      return [found?.fold, found?.head.revision, found?.entries.get(patient)?.version];
    };
    const [older, newer] = [SNAPSHOT_VERSION - 1, SNAPSHOT_VERSION + 1];
    // The snapshot isn't read: its version and time are wrong, so reading it would remove it.
    expect(await save(older, late, 41)).to.equal(true);
    expect((await entry(instance(1), patient, patient))?.version).to.equal(2);
    expect(await kept()).to.deep.equal([older, late.revision, 41]);
    expect(await save(SNAPSHOT_VERSION, early, 1)).to.equal(true);
    expect(await kept()).to.deep.equal([SNAPSHOT_VERSION, early.revision, 1]);
    expect(await save(older, late, 41)).to.equal(false);
    expect(await kept()).to.deep.equal([SNAPSHOT_VERSION, early.revision, 1]);
    expect(await save(newer, early, 42)).to.equal(true);
    const updated = await instance(1).handle(command(patient, 'update', { ifMatch: 2 }));
    expect(updated.result[0]?.version).to.equal(3);
    expect(await kept()).to.deep.equal([newer, early.revision, 42]);
  });

  it('takes nothing from a snapshot that the log does not bear out', async () => {
    const tampered = async (change: (stream: string, id: string, other: string) => Promise<unknown>) => {
      const patient = newUuid();
      const [id, other] = [newUuid(), newUuid()];
      const warm = instance();
      await warm.handle(command(patient, 'create'));
      await warm.handle(command(patient, 'create', { id }));
      await warm.handle(command(patient, 'create', { id: other }));
      for (let version = 2; version <= 3; version += 1) await warm.handle(command(patient, 'update', { id }));
      const stream = recordStream(patient);
      const { state, head, recordedAt, owner } = await warm.read(stream);
      if (head === undefined) throw new Error('the stream has no events');
      const kept = [...state.entries].flatMap(([key, entry]) =>
        entry === null ? [] : [[key, entry] as const],
      );
      const fold = SNAPSHOT_VERSION;
      await snapshots.save(stream, { fold, head, recordedAt, owner }, new Map(kept), -1);
      await change(stream, id, other);
      const cold = instance(1);
      const { result } = await cold.handle(command(patient, 'update', { id, ifMatch: 3 }));
      expect(result[0]?.version).to.equal(4);
      expect((await cold.read(stream)).owner).to.deep.equal(OWNER);
      const { rows } = await database.pool.query('select 1 from operations.snapshot where stream = $1', [
        stream,
      ]);
      return rows.length;
    };
    const entry = (set: string) => (stream: string, id: string) =>
      database.pool.query(`update operations.snapshot_entry set ${set} where stream = $1 and id = $2`, [
        stream,
        id,
      ]);
    const whole = (set: string) => (stream: string) =>
      database.pool.query(`update operations.snapshot set ${set} where stream = $1`, [stream]);
    expect(await tampered(async () => undefined), 'untouched').to.equal(1);
    const faults = [
      entry('version = 41'),
      entry('revision = 1'),
      entry('revision = 2'),
      entry('deleted = true'),
      entry("type = 'Condition'"),
      whole("hash = repeat('0', 64)"),
      whole("project = 'proj_other'"),
      whole('recorded_at = recorded_at + 1'),
      whole('revision = 99'),
    ];
    for (const [index, fault] of faults.entries()) {
      expect(await tampered(fault), `fault ${index}`).to.equal(0);
    }
  });

  it('refuses a command whose turn does not come within ten seconds, and takes the next', async () => {
    const patient = newUuid();
    const handler = instance();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { now } = performance;
    try {
      let first: ReturnType<typeof handler.handle<WriteResult[]>> | undefined;
      // The command has started its append and is blocked there.
      await new Promise<void>((entered) => {
        const note = async (): Promise<void> => {
          entered();
          await held;
        };
        first = handler.handle(
          command(patient, 'create', {
            retry: { earlier: new Map(), note, secret: async () => Buffer.alloc(32) },
          }),
        );
      });
      const second = handler.handle(command(patient, 'update')).catch((error: unknown) => error);
      // Simulates a first append that has been in the store for more than 10 s.
      performance.now = () => now.call(performance) + 10_001;
      release();
      expect((await first)?.result[0]?.version).to.equal(1);
      const refused = await second;
      expect(refused).to.be.instanceOf(Refusal).with.property('status', 503);
      expect((refused as Refusal).headers).to.have.property('Retry-After');
      expect((await handler.handle(command(patient, 'update'))).result[0]?.version).to.equal(2);
    } finally {
      performance.now = now;
    }
  });

  it('refuses what was erased', async () => {
    const patient = newUuid();
    const handlers = [instance(0), instance(1)];
    for (const handler of handlers) await handler.handle(command(patient, 'create')).catch(() => undefined);
    await handlers[0]?.erase(recordStream(patient));
    for (const handler of handlers) {
      const refused = await handler.handle(command(patient, 'update')).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(Refusal).with.property('status', 404);
    }
  });
});
