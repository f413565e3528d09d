/** Runs replays: reads the log from its beginning and queues the requested events, a few at a time. */
import { setTimeout as delay } from 'node:timers/promises';
import { lastValueFrom, takeWhile } from 'rxjs';
import { understand } from '#src/events/codec.ts';
import { isErased } from '#src/events/erased.ts';
import { NewerEvent } from '#src/events/newer.ts';
import type { EventStore, Position, RecordedEvent } from '#src/events/store.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { type Delivery, granteesAmong, makeDeliveries } from './fan-out.ts';
import type { Grantees } from './grantees.ts';
import { type GrantRows, KnownGrants } from './known-grants.ts';

/** An unfinished replay. */
export interface Replay {
  readonly id: string;
  readonly endpointId: string;
  readonly project: string;
  readonly environment: Environment;
  readonly from: number;
  readonly to: number;
  readonly types: readonly string[];
  readonly head: string;
  readonly position: string;
}

/** The store of replays. */
export interface Replays {
  running(id?: string): Promise<readonly Replay[]>;
  unsent(id: string): Promise<number>;
  queue(id: string, deliveries: readonly Delivery[], position: string): Promise<void>;
  /** Drops a replay's deliveries that are about the given records. */
  leaveOut(id: string, records: readonly string[]): Promise<void>;
  done(id: string): Promise<void>;
  dropIfCancelled(id: string): Promise<void>;
}

const LOOK_MS = 1_000;
/** The maximum number of deliveries of a replay that are queued but not sent. */
const QUEUED = 50;
/** Pause before checking for room again, in ms. */
const ROOM_MS = 50;

/** How long an instance that is too old to read an event leaves a replay to others, in ms. */
const NEWER_PAUSE_MS = 30_000;

/** Thrown if the replay was cancelled, its endpoint was deleted, or this instance is stopping. */
class Over extends Error {
  override readonly name = 'Over';
}

/** Runs replays on one instance. */
export class Replayer {
  readonly #own = new Map<string, Promise<void>>();
  /** Replays with events that this instance is too old to read → when the instance may try again, by `performance.now()`. */
  readonly #left = new Map<string, number>();
  #looking: NodeJS.Timeout | undefined;

  constructor(
    readonly deps: {
      readonly store: Pick<EventStore, 'subscribe' | 'read'>;
      readonly replays: Replays;
      readonly grants: GrantRows;
      readonly grantees: Grantees;
      /** Waits until the grants up to a position have been stored; false if that takes too long. */
      readonly followed: (position: Position) => Promise<boolean>;
      /** Acquires the right to run a replay, which only one instance can have; undefined while another instance has it. */
      readonly stand: (
        name: string,
      ) => Promise<{ readonly lost: Promise<never>; release(): void } | undefined>;
      readonly wake: (endpointIds: readonly string[]) => void;
      readonly log: { warn(details: object, message: string): void };
    },
  ) {}

  /** Begins. */
  start(): void {
    this.#looking ??= setInterval(() => void this.look(), LOOK_MS).unref();
    void this.look();
  }

  /** Stops; the replays continue after a restart, or on another instance. */
  async stop(): Promise<void> {
    clearInterval(this.#looking);
    this.#looking = undefined;
    await Promise.all(this.#own.values());
  }

  /** Takes over replays that aren't running on any instance. */
  async look(): Promise<void> {
    try {
      for (const replay of await this.deps.replays.running()) {
        if (this.#looking === undefined || this.#own.has(replay.id)) continue;
        if (performance.now() < (this.#left.get(replay.id) ?? 0)) continue;
        const work = this.#carryOn(replay).finally(() => this.#own.delete(replay.id));
        this.#own.set(replay.id, work);
      }
    } catch (error) {
      this.#warn(error);
    }
  }

  async #carryOn({ id, endpointId }: Replay): Promise<void> {
    this.#left.delete(id);
    try {
      const lead = await this.deps.stand(`replay/${endpointId}`);
      if (lead === undefined) return;
      try {
        // Read again, because another instance may have advanced the replay.
        const [replay] = await this.deps.replays.running(id);
        if (replay !== undefined) await Promise.race([this.#run(replay), lead.lost]);
      } finally {
        lead.release();
      }
    } catch (error) {
      if (error instanceof NewerEvent) this.#left.set(id, performance.now() + NEWER_PAUSE_MS);
      if (error instanceof Over) await this.deps.replays.dropIfCancelled(id).catch(() => undefined);
      else this.#warn(error);
    }
  }

  async #run(replay: Replay): Promise<void> {
    const { store, replays, followed } = this.deps;
    const head = replay.head as Position;
    if (replay.position < head) {
      while (!(await followed(head))) await this.#pause(replay);
      const grants = new KnownGrants(this.deps.grants);
      const reading = store.subscribe({
        name: 'webhook replay',
        after: replay.position as Position,
        prefixes: ['record-', 'directory-'],
        handle: ({ events, position }) => this.#queue(replay, grants, events, position),
      });
      await lastValueFrom(reading.pipe(takeWhile((position) => position < head)), {
        defaultValue: undefined,
      });
    }
    while ((await replays.unsent(replay.id)) > 0) await this.#pause(replay);
    await replays.done(replay.id);
  }

  /** Queues a batch's matching events as room becomes available. */
  async #queue(
    replay: Replay,
    grants: KnownGrants,
    events: readonly RecordedEvent[],
    position: Position,
  ): Promise<void> {
    const { replays, wake } = this.deps;
    const deliveries = await this.#readDeliveries(replay, grants, events);
    for (let next = 0; next < deliveries.length; ) {
      const room = QUEUED - (await replays.unsent(replay.id));
      if (room > 0) {
        // The position moves only after the batch's last delivery. Until then, the same deliveries may be queued again, which
        // has no effect.
        const queued = deliveries.slice(next, next + room);
        await replays.queue(replay.id, queued, replay.position);
        await this.#leaveOutPurged(replay, queued);
        next += room;
        wake([replay.endpointId]);
      }
      await this.#pause(replay);
    }
    await replays.queue(replay.id, [], position);
  }

  /**
   * Drops deliveries whose record was purged after the log was read; the purge could not find them because they weren't queued
   * yet.
   */
  async #leaveOutPurged({ id }: Replay, queued: readonly Delivery[]): Promise<void> {
    const purged: string[] = [];
    for (const record of new Set(queued.flatMap((delivery) => delivery.record ?? [])))
      if (await isErased(this.deps.store, record)) purged.push(record);
    if (purged.length > 0) await this.deps.replays.leaveOut(id, purged);
  }

  async #readDeliveries(
    replay: Replay,
    grants: KnownGrants,
    events: readonly RecordedEvent[],
  ): Promise<Delivery[]> {
    const endpoints = [{ ...replay, events: replay.types }];
    const asked = events
      .filter((event) => event.position <= replay.head)
      .map(understand)
      .filter(({ metadata }) => {
        const at = toMicros(metadata.recorded_at);
        return at >= replay.from && at <= replay.to;
      });
    await grants.load(asked);
    const deliveries: Delivery[] = [];
    for (const stored of asked) {
      const grantees = await granteesAmong(this.deps.grantees, stored, grants.on(stored.stream), endpoints);
      deliveries.push(...makeDeliveries(stored, endpoints, grantees, replay.id));
    }
    grants.trim();
    return deliveries;
  }

  async #pause({ id }: Replay): Promise<void> {
    await delay(ROOM_MS);
    if (this.#looking === undefined || (await this.deps.replays.running(id)).length === 0) throw new Over();
  }

  #warn(error: unknown): void {
    this.deps.log.warn(
      { reason: error instanceof Error ? error.message : String(error) },
      'a replay of webhook events was interrupted and will continue',
    );
  }
}
