/**
 * The only way to write: load, decide, append; after a conflict, load and decide again. Nothing else calls `append`. A
 * decision that appends nothing is accepted only after it has been repeated on a state that was read to the end of the stream.
 */
import type { StoredEvent } from '#src/events/catalog.ts';
import { type Draft, newEvents, understand } from '#src/events/codec.ts';
import { Conflict, type NewEvent, type Position, StreamDeleted } from '#src/events/store.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { asSlice, inSlices } from '#src/shared/load/slices.ts';
import { Refusal, unavailable } from '#src/shared/refusal.ts';
import { type Micros, toMicros } from '#src/shared/time/time.ts';
import type { Attempt, MetadataBase, RequestContext, RetryNotes, Written, Wrote } from '../command.ts';
import type { Clock, Decide, Decision } from './decision.ts';
import type { Kernel } from './kernel.ts';
import { BUSY, type Fold, retry, Stale, Stream } from './kernel.ts';

export interface StreamCommand<S, T> {
  readonly stream: string;
  /** Its `command_id` marks the command's events; retries of the same request use the same command id. */
  readonly metadata: MetadataBase;
  readonly now: () => Micros;
  readonly retry?: RetryNotes | undefined;
  /** The owner of the record or directory; required if this command could write the stream's first event. */
  readonly owner?: Tenant;
  /** Ids that the decision depends on, for partial states. */
  readonly touches?: readonly string[];
  /** The maximum number of attempts when other commands write at the same time; 10 by default. */
  readonly tries?: number;
  /**
   * Makes the decision. Pure. Called again if the stream has changed.
   * @throws Refusal; Stale if the command must be prepared again
   */
  readonly decide: (state: S, clock: Clock) => Decision<T>;
}

/** A command's result. */
export interface Handled<T> extends Written<T> {
  /** The position of the stream's last event; if nothing was appended, the decision was made at that position. */
  readonly seen: Position | undefined;
}

/** Loads the states of streams that are too long to be folded from their first event. */
export interface Loader<S> {
  /** Moves an empty stream to its snapshot, if it has one, and loads the given ids into the state. */
  start(stream: Stream<S>, ids: readonly string[]): Promise<void>;
  /** Adds ids that a cached state lacks. Returns false if it can't add them; the stream is then loaded again. */
  complete(stream: Stream<S>, ids: readonly string[]): Promise<boolean>;
  /** Called after each append; takes a snapshot if one is due. Never throws. */
  advanced(stream: Stream<S>): void;
}

/** An append with this many characters or more takes its turn as a slice of long work. */
const LARGE = 500_000;

/** How long a command waits for its turn, in ms: as long as an append waits at most. */
const TURN_MS = 10_000;

/** Reads and writes the streams of one fold. */
export class Streams<S> {
  constructor(
    readonly kernel: Kernel,
    readonly fold: Fold<S>,
    private readonly loader?: Loader<S>,
  ) {}

  /**
   * Runs a command to completion.
   * @throws Refusal from `decide`; not_found for an erased stream; unavailable after ten conflicts or after waiting for 10 s;
   * Stale
   */
  handle<T>(command: StreamCommand<S, T>): Promise<Handled<T>> {
    const asked = performance.now();
    return this.kernel.inTurn(command.stream, async () => {
      // Without this check, if the store doesn't answer, each command in the queue would wait that long again after the
      // command before it.
      if (performance.now() - asked > TURN_MS) throw unavailable(BUSY);
      try {
        return await this.#decideAndAppend(command);
      } catch (error) {
        if (!isDecided(error)) this.#forget(command.stream);
        if (!(error instanceof StreamDeleted)) throw error;
        throw new Refusal('not_found', { code: 'not-found', diagnostics: 'the record was purged' });
      }
    });
  }

  /**
   * Runs a command whose result depends only on its request.
   * @returns undefined if there was nothing to do
   * @throws Refusal
   */
  async transact(stream: string, by: RequestContext, decide: Decide<S>): Promise<Wrote | undefined> {
    const { credential, requestId, ids, now, retry, cause } = by;
    const command_id = ids.at(0, `command/${stream}`);
    const metadata = {
      request_id: requestId,
      command_id,
      credential,
      ...(cause === undefined ? {} : { cause }),
    };
    const earlier = retry?.earlier.get(metadata.command_id);
    const [first, ...more] = earlier ? await this.written(earlier, metadata.command_id) : [];
    if (first !== undefined)
      return { position: (more.at(-1) ?? first).position, at: toMicros(first.metadata.recorded_at) };
    const command = { stream, metadata, now, retry };
    const { position, result: at } = await this.handle({
      ...command,
      decide: (state, clock) => {
        const drafts = decide(state).map((event, index) => {
          return { id: ids.at(index, `event/${stream}`), at: clock.next(), event };
        });
        return { drafts, result: drafts[0]?.at ?? 0 };
      },
    });
    return position === undefined ? undefined : { position, at };
  }

  /**
   * Reads a stream to its end.
   * @param ids the ids that the state must include, for partial states
   * @throws StreamDeleted
   */
  read(name: string, ids: readonly string[] = []): Promise<Readonly<Stream<S>>> {
    return this.kernel.inTurn(name, async () => {
      const stream = await this.#load(name, ids);
      await this.#readForward(stream);
      return stream;
    });
  }

  /** Returns a stream's cached state, which may be behind the store; undefined if nothing is cached. */
  peek(name: string): Readonly<Stream<S>> | undefined {
    const stream = this.kernel.cache.get(this.#key(name));
    return stream !== undefined && hasFold(this.fold, stream) ? stream : undefined;
  }

  /** Returns a stream as of a revision (-1: before the first event), read only from its events. */
  async at(name: string, revision: number): Promise<Readonly<Stream<S>>> {
    const past = new Stream(this.fold, name);
    if (revision >= 0) await past.readForward(this.kernel.store, revision + 1);
    return past;
  }

  /** Returns the events that an attempt of a command wrote; empty if it wrote nothing. */
  async written({ stream, expectedRevision }: Attempt, commandId: string): Promise<StoredEvent[]> {
    const own: StoredEvent[] = [];
    for await (const recorded of this.kernel.store.read(stream, { from: expectedRevision + 1 })) {
      const stored = understand(recorded);
      if (stored.metadata.command_id !== commandId) break;
      own.push(stored);
    }
    return own;
  }

  /** Erases a stream physically and removes it from the cache. */
  erase(name: string): Promise<void> {
    return this.kernel.inTurn(name, () => this.kernel.store.erase(name).finally(() => this.#forget(name)));
  }

  async #decideAndAppend<T>(command: StreamCommand<S, T>): Promise<Handled<T>> {
    const stream = await this.#load(command.stream, command.touches ?? []);
    return retry(
      Conflict,
      async (conflict) => {
        if (conflict !== undefined && !(await this.#readForward(stream))) {
          // The stream in memory is ahead of the store, because the store was restored from a backup.
          this.#forget(stream.name);
          if (conflict.actual !== (stream.head?.revision ?? 'none'))
            throw unavailable('two reads of the event store returned different results; retry in a second');
        }
        let decided = decideOn(stream, command);
        const appends = !(decided instanceof Error) && decided.drafts.length > 0;
        if (!appends && (await this.#readForward(stream))) decided = decideOn(stream, command);
        if (decided instanceof Error) throw decided;
        const { drafts, result } = decided;
        const position = drafts.length === 0 ? undefined : await this.#append(stream, command, drafts);
        return { result, position, seen: stream.position };
      },
      command.tries,
    );
  }

  /**
   * Appends the events.
   * @returns the position of the last event
   * @throws Conflict, ForeignEvent
   */
  async #append<T>(stream: Stream<S>, command: StreamCommand<S, T>, drafts: readonly Draft[]) {
    const { name, revision, head: expected = 'none', owner = command.owner } = stream;
    const { metadata, retry } = command;
    const events = await inSlices(newEvents(name, drafts, { owner, ...metadata }));
    await retry?.note(metadata.command_id, { stream: name, expectedRevision: revision });
    const append = () => this.kernel.store.append(name, expected, events);
    const { head, position } = await (isLarge(events) ? asSlice(append) : append());
    drafts.forEach(({ at, event }, index) => {
      stream.evolve({ revision: revision + 1 + index, hash: head.hash }, at, owner, event);
    });
    stream.position = position;
    this.#keep(stream);
    this.loader?.advanced(stream);
    return position;
  }

  /** Returns a stream with the given ids in its state. A cached stream may be behind the store. */
  async #load(name: string, ids: readonly string[]): Promise<Stream<S>> {
    const cached = this.peek(name);
    if (cached !== undefined && (await (this.loader?.complete(cached, ids) ?? true))) {
      if (!this.kernel.catchUp(cached)) await this.#readForward(cached);
      return cached;
    }
    const stream = new Stream(this.fold, name);
    await this.loader?.start(stream, ids);
    await this.#readForward(stream);
    return stream;
  }

  /**
   * Reads a stream to its end.
   * @returns true if the stream has grown
   */
  async #readForward(stream: Stream<S>): Promise<boolean> {
    const grown = await stream.readForward(this.kernel.store);
    this.#keep(stream);
    return grown;
  }

  #keep(stream: Stream<S>): void {
    this.#forget(stream.name); // the cache counts the size of a value only when it is new
    if (stream.head !== undefined) this.kernel.cache.set(this.#key(stream.name), stream);
  }

  #forget(name: string): void {
    this.kernel.cache.delete(this.#key(name));
  }

  #key(name: string): string {
    return `${this.fold.name} ${name}`;
  }
}

/** Returns true if sealing the events will take long. */
function isLarge(events: readonly NewEvent[]): boolean {
  let characters = 0;
  for (const { data } of events) characters += data.length;
  return characters > LARGE;
}

function hasFold<S>(fold: Fold<S>, stream: Stream<unknown>): stream is Stream<S> {
  return stream.fold === fold;
}

/** Returns the decision, or the refusal that the decision threw. */
function decideOn<S, T>({ state, recordedAt }: Stream<S>, { decide, now }: StreamCommand<S, T>) {
  let time = Math.max(now(), recordedAt + 1);
  try {
    return decide(state, { next: () => time++ });
  } catch (error) {
    if (isDecided(error)) return error;
    throw error;
  }
}

function isDecided(error: unknown): error is Refusal | Stale {
  return error instanceof Refusal || error instanceof Stale;
}
