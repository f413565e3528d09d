/**
 * The one way to write: load → decide → append, and decide again on a conflict. The only caller of `append`.
 *
 * Commands on a stream queue within the process; across instances ten tries with jitter, then 503. A decision that
 * appends nothing is retaken on state read forward to the stream's end before it counts.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { CATALOG, type DomainEvent, type StoredEvent } from '#src/events/catalog.ts';
import { encode, understand } from '#src/events/codec.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import {
  type AppendResult,
  Conflict,
  type EventStore,
  type NewEvent,
  type Position,
  StreamDeleted,
} from '#src/events/store.ts';
import { Refusal, unavailable } from '#src/shared/refusal.ts';
import { inSlices, mapSteps, type Steps } from '#src/shared/slices.ts';
import type { Tenant } from '#src/shared/tenant.ts';
import { type Micros, toInstant } from '#src/shared/time.ts';
import type { Attempt, MetadataBase, RetryNotes } from './command.ts';
import { Queues, TURN_MS } from './queues.ts';
import { type Entry, entryOf, evolve, expectedOf, type StreamState } from './resource/state.ts';
import type { States } from './resource/states.ts';

/** An event as a decision drafts it. */
export interface Draft {
  /** The event's id, derived from the command's seed. */
  readonly id: string;
  /** From `Clock.next`: bodies bear it, so a decision asks for it before it prints them. */
  readonly at: Micros;
  readonly event: DomainEvent;
}

/** What a decision says: the events to append (none: nothing to do) and the answer if they are. */
export interface Decision<T> {
  readonly drafts: readonly Draft[];
  readonly result: T;
}

/** Times of a decision's events: each is later than the one before it in the stream. */
export class Clock {
  #last: Micros;

  constructor(
    state: StreamState,
    readonly now: Micros,
  ) {
    this.#last = state.recordedAt;
  }

  /** max(clock, previous + 1 µs). */
  next(): Micros {
    this.#last = Math.max(this.now, this.#last + 1);
    return this.#last;
  }
}

/** A command on one stream. */
export interface StreamCommand<T> {
  readonly stream: string;
  /** Its `command_id` distinguishes the command's events; a retry of the same request has the same. */
  readonly metadata: MetadataBase;
  readonly now: () => Micros;
  readonly retry?: RetryNotes | undefined;
  /** Whose record or directory the stream is, when this command may be the one that founds it. */
  readonly owner?: Tenant;
  /** Ids whose entries the decision looks at. */
  readonly touches: readonly string[];
  /** Pure. Called again whenever the state has moved. @throws Refusal */
  readonly decide: (state: StreamState, clock: Clock) => Decision<T>;
}

/** What `handle` did. `position` is undefined when nothing was appended. */
export interface Handled<T> {
  readonly result: T;
  readonly position: Position | undefined;
}

const TRIES = 10;

/** Handles commands over one store. */
export class Handler {
  /** Of those who read a stream themselves before they ask here (`Aggregate`); never taken by the handler. */
  readonly readers = new Queues();
  readonly #turns = new Queues();

  constructor(
    readonly store: EventStore,
    readonly states: States,
  ) {}

  /**
   * Runs a command to its end.
   * @throws Refusal what `decide` refuses; not_found for an erased stream; unavailable when conflicts do not end, or when
   *   the turn does not come.
   */
  handle<T>(command: StreamCommand<T>): Promise<Handled<T>> {
    const asked = performance.now();
    return this.#turns.take(command.stream, () => {
      // Behind commands that the store leaves without an answer, each would wait as long again.
      if (performance.now() - asked > TURN_MS) throw unavailable('the record is busy; retry in a second');
      return this.#run(command);
    });
  }

  /** A resource's entry as it is at the stream's end, undefined when it never was. Takes its turn in the queue. */
  async entry(stream: string, id: string): Promise<Entry | undefined> {
    return this.#turns.take(stream, async () => {
      const { state, fresh } = await this.states.get(stream, [id]);
      if (!fresh) await this.states.refresh(state);
      return entryOf(state, id);
    });
  }

  /** The events that an attempt of a command has written, none when it did not come to that. */
  async eventsOf({ stream, expectedRevision }: Attempt, commandId: string): Promise<StoredEvent[]> {
    const own: StoredEvent[] = [];
    for await (const recorded of this.store.read(stream, { from: expectedRevision + 1 })) {
      const stored = understand(recorded);
      if (stored.metadata.command_id !== commandId) break;
      own.push(stored);
    }
    return own;
  }

  /** Whose stream it is. */
  async owner(stream: string, id: string): Promise<Tenant | undefined> {
    return this.#turns.take(stream, async () => (await this.states.get(stream, [id])).state.owner);
  }

  /** Erases a stream physically and forgets what this process knows of it. */
  async erase(stream: string): Promise<void> {
    await this.#turns.take(stream, async () => {
      await this.store.erase(stream);
      this.states.drop(stream);
    });
  }

  async #run<T>(command: StreamCommand<T>): Promise<Handled<T>> {
    try {
      return await this.#decideAndAppend(command);
    } catch (error) {
      if (!(error instanceof Refusal)) this.states.drop(command.stream);
      if (error instanceof StreamDeleted) {
        throw new Refusal('not_found', { code: 'not-found', diagnostics: 'the record was purged' });
      }
      throw error;
    }
  }

  async #decideAndAppend<T>(command: StreamCommand<T>): Promise<Handled<T>> {
    let { state, fresh } = await this.states.get(command.stream, command.touches);
    for (let tries = 1; ; tries += 1) {
      let decision: Decision<T>;
      try {
        decision = command.decide(state, new Clock(state, command.now()));
      } catch (error) {
        if (fresh || !(error instanceof Refusal) || !(await this.states.refresh(state))) throw error;
        fresh = true;
        continue;
      }
      if (decision.drafts.length === 0) {
        if (fresh || !(await this.states.refresh(state)))
          return { result: decision.result, position: undefined };
        fresh = true;
        continue;
      }
      const owner = state.owner ?? command.owner;
      const expected = expectedOf(state);
      const events = await inSlices(dress(command, decision.drafts, owner));
      await command.retry?.note(command.metadata.command_id, {
        stream: command.stream,
        expectedRevision: state.head?.revision ?? -1,
      });
      let appended: AppendResult;
      try {
        appended = await this.store.append(command.stream, expected, events);
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        if (tries >= TRIES)
          throw unavailable('too many requests are writing this record at once; retry in a second');
        if (tries > 1) await delay(Math.random() * 2 ** Math.min(tries, 6));
        await this.#catchUp(state, error);
        fresh = true;
        continue;
      }
      this.#advance(state, decision.drafts, appended, owner);
      return { result: decision.result, position: appended.position };
    }
  }

  /** After a conflict: reads forward. A state that turns out to be ahead of the store (a restored store) is forgotten. */
  async #catchUp(state: StreamState, conflict: Conflict): Promise<void> {
    if (await this.states.refresh(state)) return;
    this.states.drop(state.stream);
    if (conflict.actual !== (state.head?.revision ?? 'none')) {
      throw unavailable('two reads of the event store returned different results; retry in a second');
    }
  }

  /** Moves the state past what was appended, without reading it back. */
  #advance(
    state: StreamState,
    drafts: readonly Draft[],
    appended: AppendResult,
    owner: Tenant | undefined,
  ): void {
    const first = appended.head.revision - drafts.length + 1;
    drafts.forEach((draft, index) => {
      evolve(state, {
        revision: first + index,
        hash: appended.head.hash,
        at: draft.at,
        owner,
        event: draft.event,
      });
    });
    this.states.moved(state);
  }
}

/**
 * Gives drafts their metadata, a draft a step: the version of their type, whose stream it is, their time and their place
 * in the append.
 */
function dress<T>(
  command: StreamCommand<T>,
  drafts: readonly Draft[],
  owner: Tenant | undefined,
): Steps<NewEvent[]> {
  return mapSteps(drafts, ({ id, at, event }, index) => {
    const metadata: EventMetadata = {
      schema_version: CATALOG[event.type].version,
      ...command.metadata,
      recorded_at: toInstant(at),
      append: [index, drafts.length],
      ...(owner === undefined ? {} : { owner }),
    };
    return { id, type: event.type, data: encode(event), metadata: JSON.stringify(metadata) };
  });
}
