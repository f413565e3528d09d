/**
 * Copies a log into another store. The copy has the same streams, revisions, ids, bytes and hashes, in the same order and the
 * same appends. The target's content is first compared with the source, so that an interrupted copy can be resumed. Copied
 * events are read back before they count as copied.
 */
import { LRUCache } from 'lru-cache';
import { readHash } from '#src/events/chain.ts';
import { understand } from '#src/events/codec.ts';
import { isErased } from '#src/events/erased.ts';
import {
  BEGINNING,
  Conflict,
  type EventStore,
  type Expected,
  type NewEvent,
  type Position,
  type RecordedEvent,
  StreamDeleted,
  type StreamHead,
} from '#src/events/store.ts';
import { recordPatient, recordStream } from '#src/events/streams.ts';
import { differ, gap, isSame } from './difference.ts';
import { batches, events } from './pull.ts';
import { unsealed, type Whole, wholes } from './whole.ts';

/** A copy's source and target. */
export interface LogMoveOptions {
  readonly source: EventStore;
  readonly target: EventStore;
  /** Maximum number of appends in flight; may be more than one only if the target keeps their order. */
  readonly window: number;
  readonly signal?: AbortSignal | undefined;
  /** Called regularly with the number of events compared or copied so far, and the position in the source. */
  readonly onProgress?: (events: number, position: Position) => void;
}

/** Number of events between two pairs of positions that are remembered. */
const SAMPLE = 10_000;
const WINDOW_BYTES = 8_000_000;
/** Maximum number of heads of target streams to remember. */
const HEADS = 200_000;

type Pair = readonly [source: Position, target: Position];

/** A copy. Calls of its methods must not overlap. */
export class LogMove {
  /** Number of events found to be the same in both logs, and number of streams whose first event is among them. */
  events = 0;
  streams = 0;
  /** Both logs are the same up to these positions. */
  #same: Pair = [BEGINNING, BEGINNING];
  readonly #samples: Pair[] = [[BEGINNING, BEGINNING]];
  readonly #heads = new LRUCache<string, StreamHead>({ max: HEADS });
  /** Patients whose erasure was requested and has not been repeated in the target yet. */
  readonly #erasures = new Set<string>();
  /** Streams that are known to be erased in the source. */
  readonly #erased = new Set<string>();

  constructor(private readonly options: LogMoveOptions) {}

  /**
   * Compares the logs, copies events and reads them back, until a round finds at most `few` new events.
   * @throws LogsDiffer; Unavailable; the signal's reason
   */
  async catchUp(few: number): Promise<void> {
    let copied: number;
    do {
      await this.#compare();
      copied = await this.#copy();
    } while (copied > few);
    if (copied > 0) await this.#compare();
  }

  /**
   * Returns the position in the target that corresponds to a position in the source, found by event ids.
   * @param position at or before the point up to which both logs were found to be equal
   */
  async translate(position: Position): Promise<Position> {
    const sample = this.#samples.findLast(([source]) => source <= position) ?? [BEGINNING, BEGINNING];
    let [, found] = sample;
    const until: Pair = [position < this.#same[0] ? position : this.#same[0], this.#same[1]];
    for await (const [, copy] of this.#pairs(sample, until)) found = copy.position;
    return found;
  }

  /** Compares the part that both logs have, and repeats the source's erasures in the target. */
  async #compare(): Promise<void> {
    const { source, target, onProgress } = this.options;
    const until: Pair = [await source.head(), await target.head()];
    for await (const [original, copy] of this.#pairs(this.#same, until, 'whole target')) {
      this.#same = [original.position, copy.position];
      this.events += 1;
      if (original.revision === 0) this.streams += 1;
      if (this.events % SAMPLE === 0) this.#samples.push(this.#same);
      if (this.events % 1_000 === 0) onProgress?.(this.events, original.position);
      const patient = erasedBy(original);
      if (patient !== undefined) this.#erasures.add(patient);
    }
    for (const patient of this.#erasures) {
      if (!(await isErased(source, patient))) continue;
      await target.erase(recordStream(patient));
      this.#erasures.delete(patient);
    }
  }

  /**
   * Yields events from both logs in parallel. Accepts differences that are explained by an erasure during the comparison.
   * @param whole true: stops at the end of the target, which must contain nothing more; false: stops at the end of the source
   */
  async *#pairs(
    [sourceAt, targetAt]: Pair,
    [sourceEnd, targetEnd]: Pair,
    whole?: 'whole target',
  ): AsyncGenerator<readonly [RecordedEvent, RecordedEvent], undefined> {
    const { source, target, signal } = this.options;
    const originals = events(source, sourceAt, sourceEnd);
    const copies = events(target, targetAt, targetEnd);
    try {
      let original = (await originals.next()).value;
      let copy = (await copies.next()).value;
      while (copy !== undefined && (original !== undefined || whole !== undefined)) {
        signal?.throwIfAborted();
        if (original !== undefined && isSame(original, copy)) {
          yield [original, copy];
          original = (await originals.next()).value;
          copy = (await copies.next()).value;
        } else if (await this.#isErased(copy.stream)) {
          await target.erase(copy.stream);
          copy = (await copies.next()).value;
        } else if (original !== undefined && (await this.#isErased(original.stream))) {
          original = (await originals.next()).value;
        } else throw differ(original, copy);
      }
    } finally {
      await originals.return(undefined);
      await copies.return(undefined);
    }
  }

  /**
   * Copies the remaining events.
   * @returns the number of events copied
   */
  async #copy(): Promise<number> {
    const { source, window, signal, onProgress } = this.options;
    let gathered: Whole[] = [];
    let bytes = 0;
    let copied = 0;
    const flush = async (): Promise<void> => {
      copied += await this.#append(gathered);
      gathered = [];
      bytes = 0;
    };
    for await (const batch of batches(source, this.#same[0], await source.head())) {
      for (const whole of wholes(batch.events)) {
        // A second append to a stream waits for the first append, and so do all later appends.
        const full = gathered.length >= window || bytes + whole.bytes > WINDOW_BYTES;
        if (full || gathered.some(({ stream }) => stream === whole.stream)) await flush();
        signal?.throwIfAborted();
        gathered.push(whole);
        bytes += whole.bytes;
      }
      onProgress?.(this.events + copied, batch.position);
    }
    await flush();
    return copied;
  }

  /**
   * Writes appends to distinct streams, in order.
   * @returns how many events were appended
   */
  async #append(all: readonly Whole[]): Promise<number> {
    const ready: { readonly whole: Whole; readonly expected: Expected; readonly events: NewEvent[] }[] = [];
    const expected = await Promise.all(all.map((whole) => this.#expected(whole)));
    for (const [i, whole] of all.entries()) {
      const before = expected[i];
      if (before !== undefined && whole.complete) {
        ready.push({ whole, expected: before, events: unsealed(whole, before) });
      } else if (!(await this.#isErased(whole.stream))) throw gap(whole.events[0]);
    }
    // Submitted in the same turn of the event loop, so that the target takes them in this order.
    const counts = await Promise.all(
      ready.map(async (each) => {
        const { stream } = each.whole;
        try {
          const { head } = await this.options.target.append(stream, each.expected, each.events);
          this.#heads.set(stream, head);
          return each.events.length;
        } catch (error) {
          const explained = error instanceof Conflict || error instanceof StreamDeleted;
          if (explained && (await this.#isErased(stream))) return 0;
          throw error instanceof Conflict ? gap(each.whole.events[0]) : error;
        }
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Returns the head in the target that an append follows; undefined if the target doesn't have it. */
  async #expected({ stream, events: [first] }: Whole): Promise<Expected | undefined> {
    if (first.revision === 0) return 'none';
    const revision = first.revision - 1;
    const known = this.#heads.get(stream);
    if (known?.revision === revision) return known;
    try {
      for await (const event of this.options.target.read(stream, { from: revision, limit: 1 })) {
        const hash = readHash(event);
        return event.revision === revision && hash !== undefined ? { revision, hash } : undefined;
      }
    } catch (error) {
      if (!(error instanceof StreamDeleted)) throw error;
    }
    return undefined;
  }

  /** Returns whether a stream was erased in the source; only records are erased. */
  async #isErased(stream: string): Promise<boolean> {
    if (this.#erased.has(stream)) return true;
    const patient = recordPatient(stream);
    if (patient === undefined || !(await isErased(this.options.source, patient))) return false;
    this.#erased.add(stream);
    return true;
  }
}

/** Returns the patient of a record whose erasure an event reports. */
function erasedBy(recorded: RecordedEvent): string | undefined {
  if (recorded.type !== 'RecordErasureRequested' && recorded.type !== 'RecordErased') return undefined;
  const { event } = understand(recorded);
  return event.type === 'RecordErasureRequested' || event.type === 'RecordErased'
    ? event.data.patient
    : undefined;
}
