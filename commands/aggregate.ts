/**
 * Commands on the small streams (organization, project, application): decided on a fold of their own over all of the
 * stream's events, appended by the one handler.
 *
 * What a command answers comes from its request alone (ids, a secret), never from what it met: so a retry that finds its
 * events written has nothing to rebuild.
 */
import { LRUCache } from 'lru-cache';
import type { DomainEvent, PlainEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import type { Position } from '#src/events/store.ts';
import type { IdSource } from '#src/shared/ids.ts';
import { unavailable } from '#src/shared/refusal.ts';
import { type Micros, toMicros } from '#src/shared/time.ts';
import type { MetadataBase, RetryNotes } from './command.ts';
import type { Handler } from './handle.ts';
import { TURN_MS } from './queues.ts';

/** How the events of a kind of stream become the state that its decisions need. Pure. */
export interface Fold<S> {
  readonly initial: () => S;
  /** Takes the next event in; events of other kinds leave the state as it is. */
  readonly evolve: (state: S, event: DomainEvent) => void;
  /** About how many bytes the state keeps in memory. */
  readonly sizeOf: (state: S) => number;
}

/** Who asks, under which request, and where ids and time come from. */
export interface Circumstances {
  readonly credential: MetadataBase['credential'];
  readonly requestId: string;
  readonly ids: IdSource;
  /** Microseconds. */
  readonly now: () => Micros;
  /** Set when an `Idempotency-Key` came with the request. */
  readonly retry?: RetryNotes;
}

/** What a request wrote: where its last event stands, and when its first was recorded. */
export interface Wrote {
  readonly position: Position;
  readonly at: Micros;
}

/** What is decided on a stream: the events to append, none when there is nothing to do. Pure. @throws Refusal */
export type Decide<S> = (state: S) => readonly PlainEvent[];

/** The handler's state and the fold are of different revisions. */
class Moved extends Error {
  override readonly name = 'Moved';
}

interface Folded<S> {
  readonly state: S;
  /** Of the last event taken in; -1 before the first. */
  revision: number;
}

const TRIES = 10;

/** One kind of small stream. */
export class Aggregate<S> {
  readonly #cache: LRUCache<string, Folded<S>>;

  /** @param maxBytes how much memory the folded states may take together. */
  constructor(
    readonly handler: Handler,
    readonly fold: Fold<S>,
    maxBytes = 4 * 1024 * 1024,
  ) {
    this.#cache = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ state }) => 200 + fold.sizeOf(state),
    });
  }

  /**
   * Decides on a stream as it is at its end, and appends. Of those who ask at once here, each finds what the one before
   * wrote: only other instances move a stream under them.
   * @returns undefined when nothing was to be done.
   * @throws Refusal what `decide` refuses; unavailable when the stream does not hold still.
   */
  write(stream: string, circumstances: Circumstances, decide: Decide<S>): Promise<Wrote | undefined> {
    const asked = performance.now();
    return this.handler.readers.take(stream, () => {
      if (performance.now() - asked > TURN_MS)
        throw unavailable('too many requests are changing this at once; retry in a second');
      return this.#write(stream, circumstances, decide);
    });
  }

  async #write(stream: string, circumstances: Circumstances, decide: Decide<S>): Promise<Wrote | undefined> {
    const { credential, requestId, ids, now, retry } = circumstances;
    const commandId = ids.at(0, `command/${stream}`);
    const earlier = retry?.earlier.get(commandId);
    if (earlier !== undefined) {
      const events = await this.handler.eventsOf(earlier, commandId);
      const [first, last] = [events[0], events.at(-1)];
      if (first !== undefined && last !== undefined) {
        return { position: last.position, at: toMicros(first.metadata.recorded_at) };
      }
    }
    const metadata = {
      request_id: requestId,
      command_id: commandId,
      credential,
    } as const;
    for (let tries = 1; ; tries += 1) {
      const folded = await this.#read(stream);
      try {
        const { position, result: at } = await this.handler.handle<Micros>({
          stream,
          metadata,
          now,
          retry,
          touches: [],
          decide: ({ head }, clock) => {
            if ((head?.revision ?? -1) !== folded.revision) throw new Moved();
            const drafts = decide(folded.state).map((event, index) => ({
              id: ids.at(index, `event/${stream}`),
              at: clock.next(),
              event,
            }));
            return { drafts, result: drafts[0]?.at ?? 0 };
          },
        });
        return position === undefined ? undefined : { position, at };
      } catch (error) {
        if (!(error instanceof Moved)) throw error;
        this.#cache.delete(stream);
        if (tries === TRIES)
          throw unavailable('too many requests are changing this at once; retry in a second');
      }
    }
  }

  /** A stream's state at its end, not to be changed. */
  async state(stream: string): Promise<Readonly<S>> {
    return (await this.#read(stream)).state;
  }

  /** The fold at the stream's end. */
  async #read(stream: string): Promise<Folded<S>> {
    const folded = this.#cache.get(stream) ?? { state: this.fold.initial(), revision: -1 };
    for await (const recorded of this.handler.store.read(stream, { from: folded.revision + 1 })) {
      // Another command may have taken it in meanwhile.
      if (recorded.revision !== folded.revision + 1) continue;
      this.fold.evolve(folded.state, understand(recorded).event);
      folded.revision = recorded.revision;
    }
    // Of a value that is there already the cache would not count anew how large it has grown.
    this.#cache.delete(stream);
    this.#cache.set(stream, folded);
    return folded;
  }
}
