/** Reads from the server. Each read is one call, which is retried if the connection breaks. */
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { readHash } from '../chain.ts';
import type { Identity } from '../refusal.ts';
import { BEGINNING, type Position, type RecordedEvent } from '../store.ts';
import type { Page } from '../subscription.ts';
import { end, type LogClient } from './client.ts';
import { inTime, persist } from './faults.ts';
import type { Heads } from './heads.ts';
import type { Answers } from './library.ts';
import { type Direction, eventIn, isInternal, readAll, readStream } from './messages.ts';
import { toWire } from './position.ts';
import { SharedRead } from './shared-read.ts';

/** How many events are read backwards at a time to find the newest event that isn't a statistic or a tombstone. */
const LOOK_BACK = [1, 32, 1_000] as const;

/** The part of a stream to read. */
export interface StreamPart {
  readonly stream: string;
  /** Revision, inclusive; if undefined, the first or the last event. */
  readonly from: number | undefined;
  readonly direction: Direction;
  readonly limit: number;
}

/** The result of a call. */
interface Read {
  readonly events: RecordedEvent[];
  /** True if the read stopped at the size limit, before the requested number of events. */
  readonly cut: boolean;
}

/** Reads streams and the total order. Every method throws `Unavailable` if the server remains unreachable. */
export class Reader {
  readonly #head = new SharedRead(() => this.#readHead());
  readonly #reached = new SharedRead(() => this.#readReached());

  /**
   * @param limits the approximate maximum number of body bytes in a page (one event may exceed it), and how long a page may
   *   take, in ms.
   */
  constructor(
    private readonly client: LogClient,
    private readonly heads: Heads,
    private readonly isErased: (stream: string) => boolean,
    private readonly limits: { readonly pageBytes: number; readonly answerWithin: number },
  ) {}

  /**
   * Returns a stream's next events, and whether there may be more.
   * @throws StreamDeleted
   */
  async stream({
    stream,
    from,
    direction,
    limit,
  }: StreamPart): Promise<{ events: RecordedEvent[]; ended: boolean }> {
    const { events, cut } = await this.#read(readStream(stream, direction, from, limit), stream);
    return { events, ended: !cut && events.length < limit };
  }

  /**
   * Returns a stream's last event; undefined if the stream was never written to.
   * @throws StreamDeleted
   */
  async last(stream: string): Promise<RecordedEvent | undefined> {
    const { events } = await this.#read(readStream(stream, 'backwards', undefined, 1), stream);
    return events[0];
  }

  /**
   * Returns the ids, revisions and hashes of the events in a stream between two revisions, both inclusive.
   * @throws StreamDeleted
   */
  async identities(stream: string, from: number, to: number): Promise<Identity[]> {
    const found: Identity[] = [];
    for (let next = Math.max(from, 0); next <= to; ) {
      const part = { stream, from: next, direction: 'forwards', limit: to - next + 1 } as const;
      const { events, ended } = await this.stream(part);
      for (const { revision, id, position, metadata } of events)
        found.push({ revision, id, position, hash: readHash({ metadata }) ?? '' });
      if (ended) break;
      next += events.length;
    }
    return found;
  }

  /** Reads the next `limit` events in all streams, and returns the events whose streams start with one of the prefixes. */
  async all(after: Position, limit: number, prefixes?: readonly string[]): Promise<Page> {
    // A read includes the event at its start position.
    const count = after === BEGINNING ? limit : limit + 1;
    const { events, cut } = await this.#read(readAll('forwards', toWire(after), count));
    return {
      events: events.filter(
        (event) =>
          event.position > after &&
          !isInternal(event) &&
          !this.isErased(event.stream) &&
          (prefixes?.some((prefix) => event.stream.startsWith(prefix)) ?? true),
      ),
      position: events.at(-1)?.position ?? after,
      ended: !cut && events.length < count,
    };
  }

  /**
   * Returns the position of the newest event that isn't the server's own. The server sends the event's body too, which may be
   * several megabytes, so concurrent callers share one read.
   */
  head(): Promise<Position> {
    return inTime(this.limits.answerWithin, this.#head.get());
  }

  /**
   * Returns the position of the newest event of any kind. It never goes back, because tombstones and the names of erased
   * streams are never removed.
   */
  reached(): Promise<Position> {
    return inTime(this.limits.answerWithin, this.#reached.get());
  }

  async #readHead(): Promise<Position> {
    let before: Position = BEGINNING;
    for (let look = 0; ; look += 1) {
      const count = LOOK_BACK[Math.min(look, LOOK_BACK.length - 1)] ?? 1;
      const { events } = await this.#read(readAll('backwards', toWire(before), count));
      const newest = events.find((event) => !isInternal(event));
      if (newest !== undefined || events.length < count) return newest?.position ?? BEGINNING;
      before = events.at(-1)?.position ?? before;
    }
  }

  async #readReached(): Promise<Position> {
    const { events } = await this.#read(readAll('backwards', undefined, 1));
    return events[0]?.position ?? BEGINNING;
  }

  #read(request: ReadReq, stream?: string): Promise<Read> {
    const read = persist(async () => this.#collect(await this.client.read(request)), { stream });
    return inTime(this.limits.answerWithin, read);
  }

  async #collect(answers: Answers): Promise<Read> {
    const events: RecordedEvent[] = [];
    let bytes = 0;
    for await (const answer of answers) {
      const event = eventIn(answer);
      if (event === undefined) continue;
      this.heads.see(event);
      events.push(event);
      bytes += event.data.length + event.metadata.length;
      if (bytes >= this.limits.pageBytes) {
        end(answers);
        return { events, cut: true };
      }
    }
    return { events, cut: false };
  }
}
