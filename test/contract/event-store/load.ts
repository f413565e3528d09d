/** Writers that keep writing despite faults. */
import { expect } from 'chai';
import { type EventStore, type Expected, type NewEvent, Unavailable } from '#src/events/store.ts';
import { all, newEvents, newStream } from './events.ts';

/** Waits for one turn of the event loop. */
export const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Appends to its own stream until it is stopped, sending each append again until it is acknowledged. */
class PersistentWriter {
  readonly stream = newStream();
  readonly acknowledged: string[] = [];
  going = true;
  #head: Expected = 'none';

  constructor(private readonly store: EventStore) {}

  async run(): Promise<void> {
    while (this.going) {
      const events = newEvents(1 + (this.acknowledged.length % 3));
      while (this.going && !(await this.#append(events))) await soon();
    }
  }

  async #append(events: readonly NewEvent[]): Promise<boolean> {
    try {
      ({ head: this.#head } = await this.store.append(this.stream, this.#head, events));
      this.acknowledged.push(...events.map(({ id }) => id));
      return true;
    } catch (error) {
      if (error instanceof Unavailable) return false;
      throw error;
    }
  }
}

/**
 * Writes while `disturb` runs, and checks that no acknowledged event is missing, duplicated or out of order.
 * @returns how many events were acknowledged
 */
export async function writesThrough(store: EventStore, disturb: () => Promise<void>): Promise<number> {
  const writers = Array.from({ length: 16 }, () => new PersistentWriter(store));
  const writing = Promise.all(writers.map((writer) => writer.run()));
  const advance = async (): Promise<void> => {
    const before = writers.map(({ acknowledged }) => acknowledged.length);
    while (writers.some(({ acknowledged }, n) => acknowledged.length === before[n])) await soon();
  };
  try {
    await Promise.race([writing, advance().then(disturb).then(advance)]);
  } finally {
    for (const writer of writers) writer.going = false;
  }
  await writing;
  let written = 0;
  for (const { stream, acknowledged } of writers) {
    const stored = (await all(store.read(stream))).map(({ id }) => id);
    expect(stored.slice(0, acknowledged.length)).to.deep.equal(acknowledged);
    written += acknowledged.length;
  }
  return written;
}
