/**
 * Plans take-backs, carries them out and undoes them, one record at a time, while the service is answering requests. Each of
 * these can be stopped at any time. When it is run again, it continues, because it determines from the versions themselves
 * what has already been written.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { Stale } from '#commands/kernel/kernel.ts';
import type { Streams } from '#commands/kernel/streams.ts';
import type { Resources } from '#commands/resource/state.ts';
import type { Selected, Selection } from '#commands/takeback/selection.ts';
import type { Staying, Step } from '#commands/takeback/steps.ts';
import { type Order, writeSteps } from '#commands/takeback/write-steps.ts';
import { notedPositions } from '#projections/checkpoint.ts';
import type { Position } from '#src/events/store.ts';
import { directoryStream, recordStream } from '#src/events/streams.ts';
import type { Sums, TakebackStream, Takebacks } from '#src/operations/takebacks/takebacks.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import type { Person } from '#src/shared/access/member.ts';
import type { NamedVersion } from '#src/shared/access/receipt.ts';
import type { Takeback } from '#src/shared/access/takeback.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { findSelected, readBodies, readResources } from './history.ts';
import { decideStream } from './record-fates.ts';
import { countTold, type Told, type ToldRecord } from './told.ts';

/** The dependencies of the work. */
export interface Work {
  readonly pool: Pool;
  readonly resources: Streams<Resources>;
  readonly takebacks: Takebacks;
  /** Called with the amount that is done and the total. */
  readonly onProgress: (done: number, total: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/** The effect that a take-back would have. */
export interface Plan {
  readonly versions: number;
  readonly records: number;
  readonly resources: number;
  /** Number of resources that will get the content of an earlier version. */
  readonly restored: number;
  readonly removed: number;
  readonly stays: number;
  /** The first of the resources that will stay unchanged. */
  readonly staying: readonly {
    readonly resource: string;
    readonly version: number;
    readonly because: string;
  }[];
  readonly told: Told;
}

/** Thrown when the work has been asked to stop. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** The maximum number of resources that a plan lists as staying unchanged. */
const MOST_NAMED = 200;
/** Number of streams that are looked up in one statement. */
const AT_A_TIME = 50;
/**
 * Number of versions after which the work waits until all read models show them, so that reads by other callers don't have to
 * wait.
 */
const VERSIONS_AHEAD = 200;
/** The pause after some work, as a multiple of the work's duration. */
const REST = 1;
/** Read models of records. */
const RECORD_MODELS = ['resources', 'history', 'search', 'timeline'];
/** How long read models may take to show what has been written, in ms. */
const SHOWN_MS = 120_000;
const LOOK_MS = 20;

/** A stream's selected versions. */
interface Found {
  readonly record: string | null;
  readonly resources: Set<string>;
  readonly versions: NamedVersion[];
  since: Micros;
}

/**
 * Plans a take-back.
 * @throws Stopped
 */
export async function plan(given: Work, takeback: Takeback): Promise<Plan> {
  const { pool, takebacks, onProgress } = given;
  await shown(given, ['history', 'resources']);
  const asked = { id: takeback.id, kind: 'start' as const, selection: readSelection(takeback) };
  const streams = new Map<string, Found>();
  let looked = 0;
  for await (const page of findSelected(pool, tenantId(takeback), asked.selection)) {
    for (const { id, version, record, at } of page.found) {
      const stream = record === null ? directoryStream(takeback) : recordStream(record);
      const known = streams.get(stream) ?? { record, since: at, resources: new Set(), versions: [] };
      known.resources.add(id);
      known.versions.push({ id, version });
      known.since = Math.min(known.since, at);
      streams.set(stream, known);
    }
    looked += page.looked;
    onProgress(looked, looked);
    await rest(given, () => undefined);
  }
  const sums = { versions: 0, records: 0, resources: 0, restored: 0, removed: 0, stays: 0 };
  const staying: Staying[] = [];
  const kept: TakebackStream[] = [];
  const told: ToldRecord[] = [];
  for (const [stream, { record, since, resources, versions }] of streams) {
    const own = { stream, record, resources: [...resources] };
    const fate = await rest(given, () => decideStream(pool, own, asked));
    if (fate.selected === 0) continue;
    kept.push(own);
    if (record !== null) told.push({ record, since, resources: own.resources, versions });
    const removed = fate.steps.filter(({ removes }) => removes).length;
    sums.versions += fate.selected;
    sums.records += 1;
    sums.resources += fate.steps.length + fate.stays.length;
    sums.restored += fate.steps.length - removed;
    sums.removed += removed;
    sums.stays += fate.stays.length;
    staying.push(...fate.stays.slice(0, MOST_NAMED - staying.length));
  }
  await takebacks.setStreams(takeback.id, kept);
  const made: Plan = {
    ...sums,
    staying: staying.map(({ type, id, version, because }) => ({
      resource: `${type}/${id}`,
      version,
      because,
    })),
    told: await countTold(pool, takeback.project, told),
  };
  await takebacks.planned(takeback.id, made);
  return made;
}

/**
 * Takes back, or undoes, everything that isn't done yet.
 * @throws Stopped
 */
export async function carryOut(given: Work, takeback: Takeback, kind: Order['kind']): Promise<Sums> {
  const { pool, resources, takebacks, onProgress } = given;
  const { id, created_at: at } = takeback;
  const owner = { project: takeback.project, environment: takeback.environment };
  const by = kind === 'start' ? takeback.started_by : takeback.undone_by;
  const order: Order = { id, kind, owner, credential: makeCredential(by, owner), at };
  const asked = { id, kind, selection: readSelection(takeback) };
  // The read models must show what an earlier attempt has written.
  await shown(given, ['history', 'resources']);
  const { total, done } = await takebacks.progress(id, kind);
  let [finished, ahead, after] = [done, 0, ''];
  for (;;) {
    const some = await takebacks.open(id, kind, after, AT_A_TIME);
    if (some.length === 0) break;
    for (const stream of some) {
      const outcome = await rest(given, () => workOn(stream));
      await takebacks.done(id, kind, stream.stream, outcome);
      finished += 1;
      ahead += outcome.written;
      onProgress(finished, total);
      if (ahead < VERSIONS_AHEAD) continue;
      ahead = 0;
      await shown(given);
    }
    after = some.at(-1)?.stream ?? after;
  }
  await shown(given);
  return takebacks.finish(id, kind);

  async function workOn(
    stream: TakebackStream,
  ): Promise<{ readonly written: number; readonly stays: number }> {
    for (;;) {
      const { steps, stays, written, current } = await decideStream(pool, stream, asked);
      const restored = steps.filter(({ removes }) => !removes);
      const bodies = await readBodies(
        pool,
        restored.map(({ id: resource, restores: version }) => ({ id: resource, version })),
      );
      try {
        const ready = steps.map((step) => ({
          ...step,
          body: step.removes ? undefined : findBody(bodies, `${step.id}/${step.restores}`),
        }));
        const now = await writeSteps(resources, order, stream.stream, ready, current);
        return { written: written + now, stays: stays.length };
      } catch (error) {
        // The record has been purged in the meantime.
        if (error instanceof Refusal && error.kind === 'not_found') return { written: 0, stays: 0 };
        if (error instanceof NoContent && (await isPurged(pool, steps))) return { written: 0, stays: 0 };
        if (!(error instanceof Stale)) throw error;
        // Others have written to the stream, or one of this work's appends was carried out only in part.
        await shown(given, ['history', 'resources']);
      }
    }
  }
}

/** Thrown for a version that the read model doesn't have. */
class NoContent extends TypeError {
  override readonly name = 'NoContent';
}

/** @throws NoContent */
function findBody(bodies: ReadonlyMap<string, string>, version: string): string {
  const body = bodies.get(version);
  if (body === undefined) throw new NoContent(`version ${version} has no content`);
  return body;
}

/** Returns whether all of the given resources are gone from the read model. */
async function isPurged(pool: Pool, steps: readonly Step[]): Promise<boolean> {
  const ids = steps.map(({ id }) => id);
  return (await readResources(pool, ids)).length === 0;
}

/** Returns a take-back's selection. */
function readSelection({ selected, since_at, until_at }: Takeback): Selection {
  return { ...(selected as Selected), since: since_at, until: until_at };
}

/** Returns the credential of the person who ordered the work. Without a person, the operator ordered it on the command line. */
function makeCredential(by: Person | null, owner: Order['owner']): Order['credential'] {
  if (by === null) return { kind: 'system' };
  return { kind: 'id_token', issuer: by.issuer, subject: by.subject, ...owner };
}

/**
 * Runs work, then pauses.
 * @throws Stopped
 */
async function rest<T>({ signal }: Work, work: () => Promise<T> | T): Promise<T> {
  if (signal?.aborted) throw new Stopped();
  const began = performance.now();
  const result = await work();
  await delay((performance.now() - began) * REST);
  return result;
}

/**
 * Waits until read models show everything that is in the log now.
 * @throws Stopped
 */
async function shown(
  { pool, resources, signal }: Work,
  names: readonly string[] = RECORD_MODELS,
): Promise<void> {
  const head: Position = await resources.kernel.store.head();
  for (const began = performance.now(); ; await delay(LOOK_MS)) {
    if (signal?.aborted) throw new Stopped();
    const positions = await notedPositions(pool, names);
    if (names.every((name) => (positions.get(name) ?? '') >= head)) return;
    if (performance.now() - began > SHOWN_MS)
      throw new Refusal('unavailable', {
        code: 'transient',
        diagnostics: 'the read models lag behind the log; is the service running?',
      });
  }
}
