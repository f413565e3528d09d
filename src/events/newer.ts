/** Handles events that a newer version of Annal wrote and this version can't read. */
import { CATALOG } from './catalog.ts';
import type { RecordedEvent } from './store.ts';

/** An event's location and type. */
type Place = Pick<RecordedEvent, 'stream' | 'revision' | 'type'>;

/**
 * Thrown for an event whose type or version this instance doesn't know. Readers stop and leave the work to a newer instance,
 * because skipping the event would lose its content.
 */
export class NewerEvent extends Error {
  override readonly name = 'NewerEvent';
  /** The problem and its solution. Doesn't contain the event's location, because this text is public. */
  readonly summary: string;

  /**
   * @param version the version of the event's type according to its metadata.
   * @param known the newest version that this instance can read; undefined if the type isn't known.
   */
  constructor(
    { stream, revision, type }: Place,
    readonly version: number | undefined,
    known: number | undefined,
  ) {
    const event = version === undefined ? type : `${type} version ${version}`;
    const reads = known === undefined ? `doesn't know ${type}` : `reads ${type} up to version ${known}`;
    const summary = `a newer version of Annal wrote ${event}; this one ${reads}: upgrade this instance`;
    super(`cannot read the event at revision ${revision} of ${stream}: ${summary}`);
    this.summary = summary;
  }
}

/**
 * Throws if the event's type isn't in the catalogue. Doesn't check the version.
 * @throws NewerEvent
 */
export function requireKnownType(event: Place): void {
  if (!Object.hasOwn(CATALOG, event.type)) throw new NewerEvent(event, undefined, undefined);
}

/** Summaries of events, each with the projection or process that stopped at the event. */
export type Summaries = readonly (readonly [reader: string, summary: string])[];

/**
 * The events that this instance couldn't read because a newer version wrote them, with the projection or process that stopped
 * at each. `/health/ready` reports them.
 */
export class NewerEvents {
  readonly #met = new Map<string, string>();
  /** Summaries from other processes on this machine, by process name. */
  readonly #heard = new Map<string, ReadonlyMap<string, string>>();

  /** Takes note that a reader stopped at an event. */
  note(reader: string, { summary }: Pick<NewerEvent, 'summary'>): void {
    this.#met.set(reader, summary);
  }

  /** Returns the summaries of the events at which this process stopped, for the other processes on this machine. */
  own(): Summaries {
    return [...this.#met];
  }

  /** Takes note of the events at which another process on this machine stopped; replaces what that process reported before. */
  hear(process: string, summaries: Summaries): void {
    this.#heard.set(process, new Map(summaries));
  }

  /** Forgets the event at which a reader stopped, because the reader has now passed it. */
  clear(reader: string): void {
    this.#met.delete(reader);
  }

  /** Returns a sentence about the event at which a reader stopped; undefined if the reader is running. */
  at(reader: string): string | undefined {
    for (const met of [this.#met, ...this.#heard.values()]) if (met.has(reader)) return met.get(reader);
    return undefined;
  }

  /** Returns the summary of an event at which some reader stopped; undefined if no reader has stopped. */
  get notice(): string | undefined {
    for (const met of [this.#met, ...this.#heard.values()])
      for (const summary of met.values()) return summary;
    return undefined;
  }
}
