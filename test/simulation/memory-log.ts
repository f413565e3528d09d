/**
 * A log in memory that works like PostgreSQL's (`src/events/postgres/schema.ts`). Each method is one transaction, and methods
 * that write run one after another.
 */
import type { Append } from '#src/events/append.ts';
import { readHash } from '#src/events/chain.ts';
import { toNumber, toPosition } from '#src/events/position.ts';
import type { BatchOutcome } from '#src/events/postgres/append-queue.ts';
import type { StreamPart } from '#src/events/postgres/reader.ts';
import type { Identity } from '#src/events/refusal.ts';
import { BEGINNING, type Position, type RecordedEvent } from '#src/events/store.ts';
import type { Page } from '#src/events/subscription.ts';

/** Deliberate faults, to prove that the simulation finds them. */
export interface LogFlaws {
  /** If true, appends are written regardless of the stream's head. */
  readonly ignoresExpected?: boolean;
  /** One append in this many is acknowledged but not written. */
  readonly losesEvery?: number;
}

/** A notice to listeners: the position of the newest event, or the fact that a stream was erased. */
export type Notice = Position | 'erased';

/** A log's tables. */
export class MemoryLog {
  /** All events, in the total order. */
  readonly events: RecordedEvent[] = [];
  readonly #streams = new Map<string, RecordedEvent[]>();
  readonly #erased = new Set<string>();
  readonly #listeners = new Map<object, (notice: Notice) => void>();
  /** The last position that was assigned. */
  #drawn = 0;
  #appends = 0;

  constructor(private readonly flaws: LogFlaws = {}) {}

  /**
   * Writes appends to different streams; each append is accepted or refused on its own.
   * @param by the caller, which isn't notified
   */
  append(by: object, appends: readonly Append[]): BatchOutcome {
    const previous = this.head();
    const fits = appends.map((append) => this.#fits(append));
    const base = this.#drawn + 1;
    if (fits.includes(true)) this.#drawn += appends.reduce((sum, { events }) => sum + events.length, 0);
    let next = base;
    const outcomes = appends.map((append, n) => {
      const positions = append.events.map((_, at) => toPosition(next + at));
      next += append.events.length;
      const { stream } = append;
      if (fits[n] !== true) {
        const actual = this.#streams.get(stream)?.at(-1)?.revision ?? ('none' as const);
        return { append, written: false as const, actual, erased: this.#erased.has(stream) };
      }
      this.#appends += 1;
      if (this.#appends % (this.flaws.losesEvery ?? Number.POSITIVE_INFINITY) !== 0)
        this.#write(append, positions);
      return { append, written: true as const, positions };
    });
    if (fits.includes(true)) this.#tell(by, this.head());
    return { previous, outcomes };
  }

  /** Removes a stream permanently. */
  erase(by: object, stream: string): void {
    this.#erased.add(stream);
    this.#streams.delete(stream);
    const left = this.events.filter((event) => event.stream !== stream);
    this.events.length = 0;
    for (const event of left) this.events.push(event);
    this.#tell(by, 'erased');
  }

  stream({ stream, from, direction, limit }: StreamPart): RecordedEvent[] {
    const all = this.#streams.get(stream) ?? [];
    const count = Math.min(limit, all.length);
    if (direction === 'forwards') return all.slice(from, from + count);
    const end = Math.min(from + 1, all.length);
    return all.slice(Math.max(0, end - count), end).reverse();
  }

  /** Reads the next `limit` events, skipping streams that weren't requested. */
  all(after: Position, limit: number, bytes: number, prefixes?: readonly string[]): Page {
    const page: RecordedEvent[] = [];
    let read = 0;
    let size = 0;
    let position = after;
    for (let n = this.#firstAfter(after); n < this.events.length && read < limit && size < bytes; n += 1) {
      const event = this.events[n] as RecordedEvent;
      read += 1;
      position = event.position;
      if (prefixes?.some((prefix) => event.stream.startsWith(prefix)) === false) continue;
      size += event.data.length + event.metadata.length;
      page.push(event);
    }
    return { events: page, position, ended: read < limit && size < bytes };
  }

  head(): Position {
    return this.events.at(-1)?.position ?? BEGINNING;
  }

  reached(): Position {
    return toPosition(this.#drawn);
  }

  isErased(stream: string): boolean {
    return this.#erased.has(stream);
  }

  identities(stream: string, from: number, to: number): Identity[] {
    return (this.#streams.get(stream) ?? []).slice(Math.max(0, from), to + 1).map((event) => {
      const { revision, id, position } = event;
      return { revision, id, position, hash: readHash(event) ?? '' };
    });
  }

  /**
   * Notifies a listener of everything that others write.
   * @returns a function that stops the notifications
   */
  listen(by: object, tell: (notice: Notice) => void): () => void {
    this.#listeners.set(by, tell);
    return () => this.#listeners.delete(by);
  }

  #fits({ stream, base }: Append): boolean {
    if (this.#erased.has(stream)) return false;
    if (this.flaws.ignoresExpected === true) return true;
    const last = this.#streams.get(stream)?.at(-1);
    if (last === undefined) return base.revision === -1;
    return last.revision === base.revision && readHash(last) === base.hash;
  }

  #write({ stream, events }: Append, positions: readonly Position[]): void {
    const own = this.#streams.get(stream) ?? [];
    this.#streams.set(stream, own);
    events.forEach(({ id, type, data, metadata, revision }, at) => {
      const position = positions[at] ?? BEGINNING;
      const event = { id, type, stream, revision, position, data, metadata };
      own.push(event);
      this.events.push(event);
    });
  }

  #tell(by: object, notice: Notice): void {
    for (const [listener, tell] of this.#listeners) if (listener !== by) tell(notice);
  }

  #firstAfter(position: Position): number {
    let [low, high] = [0, this.events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (toNumber(this.events[middle]?.position ?? BEGINNING) <= toNumber(position)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
