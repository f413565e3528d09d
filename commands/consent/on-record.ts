/**
 * Runs decisions about grants and links on a record's stream. The state says which events started the grants and links; only
 * these events are read, one by one, and never the whole stream.
 */
import type { DomainEvent, PlainEvent, StoredEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import { StreamDeleted } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { notFound } from '#src/shared/refusal.ts';
import { type Micros, toMicros } from '#src/shared/time/time.ts';
import type { Done, RequestContext } from '../command.ts';
import type { Clock } from '../kernel/decision.ts';
import { MANY_TRIES, retry, Stale } from '../kernel/kernel.ts';
import type { Streams } from '../kernel/streams.ts';
import type { Resources } from '../resource/state.ts';

/**
 * Returns the event at a revision of the stream.
 * @throws Stale if the event must be read first
 */
export type Past = (revision: number) => DomainEvent;

/** A decision's events and its result. The n-th event gets the n-th time from `clock`. */
export interface Concluded<T> {
  readonly events: readonly PlainEvent[];
  readonly result: T;
}

/**
 * A pure decision on a record.
 * @throws Refusal
 */
export type Conclude<T> = (state: Resources, past: Past, at: Micros) => Concluded<T>;

/** A command about the grants or links of one record. */
export interface RecordCommand<T> {
  readonly record: string;
  /** Distinguishes the command from other commands of the same request on the same record. */
  readonly name: string;
  /** The entries that the decision looks at, other than the Patient's. */
  readonly keys: readonly string[];
  /** Given the state, returns the revisions of the events that the decision reads. */
  readonly reads: (state: Resources) => Iterable<number>;
  readonly conclude: Conclude<T>;
  /** Rebuilds the result from the events of an earlier attempt of this request. */
  readonly answer: (written: readonly StoredEvent[]) => T;
}

/**
 * Runs a command to completion, even while an application writes to the record constantly: an application must not be able to
 * delay the revocation of its own grant. `at` is the time of the first event; each later event follows one microsecond after
 * the previous one.
 * @throws Refusal that the decision throws; not_found for a purged record
 */
export async function onRecord<T>(
  resources: Streams<Resources>,
  by: RequestContext,
  command: RecordCommand<T>,
): Promise<Done<T>> {
  const { record, name, keys, reads, conclude, answer } = command;
  const { credential, requestId, ids, now, retry: notes } = by;
  const stream = recordStream(record);
  const metadata = { request_id: requestId, command_id: ids.at(0, `command/${stream}/${name}`), credential };
  const attempt = notes?.earlier.get(metadata.command_id);
  const earlier = attempt === undefined ? [] : await resources.written(attempt, metadata.command_id);
  const [first, last] = [earlier[0], earlier.at(-1)];
  if (first !== undefined && last !== undefined) {
    const at = toMicros(first.metadata.recorded_at);
    return { result: answer(earlier), wrote: { position: last.position, at } };
  }
  const past = new PastOf(resources, stream);
  return retry(Stale, async () => {
    await past.load(record);
    const { result, position } = await resources.handle({
      stream,
      metadata,
      now,
      retry: notes,
      touches: [record, ...keys, ...past.ids],
      tries: MANY_TRIES,
      decide(state, clock) {
        past.require(reads(state));
        const at = clock.next();
        const concluded = conclude(state, past.at, at);
        return {
          drafts: drafts(concluded.events, by, `${stream}/${name}`, at, clock),
          result: { ...concluded, at },
        };
      },
    });
    const wrote = position === undefined ? undefined : { position, at: result.at };
    return { result: result.result, wrote };
  });
}

function drafts(
  events: readonly PlainEvent[],
  { ids }: RequestContext,
  series: string,
  at: Micros,
  clock: Clock,
) {
  return events.map((event, index) => {
    return { id: ids.at(index, `event/${series}`), at: index === 0 ? at : clock.next(), event };
  });
}

/**
 * Returns the tenant that owns a record, and loads the entries that a following decision needs.
 * @throws Refusal not_found for a record that never existed or was purged
 */
export async function readOwner(
  resources: Streams<Resources>,
  record: string,
  keys: readonly string[],
): Promise<Tenant> {
  try {
    const { owner } = await resources.read(recordStream(record), [record, ...keys]);
    if (owner !== undefined) return owner;
  } catch (error) {
    if (!(error instanceof StreamDeleted)) throw error;
  }
  throw notFound('Patient', record);
}

/** The events of the stream that a decision has asked for. They never change, so each is read only once. */
export class PastOf {
  readonly #known = new Map<number, DomainEvent>();
  readonly #missing = new Set<number>();

  constructor(
    readonly resources: Streams<Resources>,
    readonly stream: string,
  ) {}

  /**
   * Returns the event at a revision.
   * @throws Stale
   */
  readonly at: Past = (revision) => {
    const event = this.#known.get(revision);
    if (event === undefined) {
      this.#missing.add(revision);
      throw new Stale();
    }
    return event;
  };

  /**
   * Ids that occur in the known events: the grants, links and shared links that they started, and the grant and resource that
   * a proposal is about. Separate entries say whether any of these have ended or changed.
   */
  get ids(): string[] {
    return [...this.#known.values()].flatMap((event) => {
      switch (event.type) {
        case 'ConsentGranted':
          return [event.data.grant_id];
        case 'RecordLinked':
        case 'SharedLinkCreated':
          return [event.data.link_id];
        case 'ProposalMade': {
          const { grant_id, resource_id } = event.data;
          return resource_id === undefined ? [grant_id] : [grant_id, resource_id];
        }
        default:
          return [];
      }
    });
  }

  /**
   * Checks that events are known; the next `load` reads all that aren't.
   * @throws Stale
   */
  require(revisions: Iterable<number>): void {
    for (const revision of revisions) if (!this.#known.has(revision)) this.#missing.add(revision);
    if (this.#missing.size > 0) throw new Stale();
  }

  /**
   * Reads the missing events.
   * @throws Refusal not_found for a purged record
   */
  async load(record: string): Promise<void> {
    const { store } = this.resources.kernel;
    try {
      for (const from of this.#missing) {
        for await (const recorded of store.read(this.stream, { from, limit: 1 }))
          this.#known.set(from, understand(recorded).event);
      }
    } catch (error) {
      if (error instanceof StreamDeleted) throw notFound('Patient', record);
      throw error;
    }
    this.#missing.clear();
  }
}
