/** One stream in memory: its state and the head that the next append expects. */
import type { DomainEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import { requireEventOf, type StreamKind } from '#src/events/kinds.ts';
import type { EventStore, StreamHead } from '#src/events/store.ts';
import type { Tenant } from '#src/shared/tenant.ts';
import { type Micros, toMicros } from '#src/shared/time.ts';

/**
 * A pure function from events to the state that decisions need. `default: event satisfies never` makes the
 * compiler check that it handles every kind of event.
 */
export interface Fold<S, E extends DomainEvent = DomainEvent> {
  /** Unique among folds: states are cached by fold and stream. */
  readonly name: string;
  /** The kinds of streams that it reads. */
  readonly kinds: readonly StreamKind[];
  /** The state of a stream without events. */
  initial(stream: string): S;
  /** Changes the state by the stream's next event, which was recorded at a time. */
  evolve(state: S, event: E, revision: number, at: Micros): void;
  /** About how many bytes of memory a state takes. */
  sizeOf(state: S): number;
}

/** A stream up to the revision that was read: its state, and what its next append needs. */
export class Stream<S> {
  head: StreamHead | undefined;
  /** Time of the last event: the next one is later. */
  recordedAt: Micros = 0;
  /** The tenant that owns the record or directory. */
  owner: Tenant | undefined;
  readonly state: S;

  constructor(
    readonly fold: Fold<S>,
    readonly name: string,
  ) {
    if (!fold.kinds.some((kind) => name.startsWith(`${kind}-`)))
      throw new TypeError(`the fold ${fold.name} does not read ${name}`);
    this.state = fold.initial(name);
  }

  /** Returns the revision of the last event; -1 before the first. */
  get revision(): number {
    return this.head?.revision ?? -1;
  }

  /** Takes in the next event. @throws ForeignEvent */
  evolve(head: StreamHead, at: Micros, owner: Tenant | undefined, event: DomainEvent): void {
    requireEventOf(this.name, event.type);
    this.fold.evolve(this.state, event, head.revision, at);
    this.head = head;
    this.recordedAt = at;
    this.owner ??= owner;
  }

  /** Takes in the events after the last one, at most `limit`. @returns whether there were any. @throws StreamDeleted, ForeignEvent */
  async readForward(store: EventStore, limit?: number): Promise<boolean> {
    const from = this.revision + 1;
    for await (const recorded of store.read(this.name, { from, ...(limit !== undefined && { limit }) })) {
      const { id, revision, metadata, event } = understand(recorded);
      const { hash, owner, recorded_at } = metadata;
      if (hash === undefined) throw new TypeError(`event ${id} has no hash`);
      this.evolve({ revision, hash }, toMicros(recorded_at), owner, event);
    }
    return this.revision >= from;
  }
}
