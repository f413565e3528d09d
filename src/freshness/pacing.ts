/**
 * Applies back-pressure to large appends. Read models process about a thousand events per second, and the log accepts more.
 * Without a limit, one client's bulk load would leave the read models so far behind that searches and lists in every project
 * return 503 (`projections/freshness.ts`). So a large append waits until the read models contain enough of the earlier large
 * appends.
 */
import { parseMetadata } from '#src/events/metadata.ts';
import type { EventStore, NewEvent, Position } from '#src/events/store.ts';
import { wrappedStore } from '#src/events/wrapped-store.ts';
import { Admission, type Lease } from '#src/shared/load/admission.ts';
import { type Refusal, unavailable } from '#src/shared/refusal.ts';

/** The number of events at which an append is treated as large. Smaller appends are never delayed. */
export const LARGE = 64;
/** Maximum lag of read models after large appends, in ms: half the lag up to which reads are served. */
const BEHIND_MS = 4_000;
/** Retry-After, in seconds, if someone has to act before the request can succeed. */
const STOPPED_SECONDS = 30;
/** How long a large append waits for its turn, in ms. */
const WAIT_MS = 10_000;
/** Minimum and maximum for the number of events from large appends that the read models may be missing. */
const LEAST = 2_000;
const MOST = 50_000;
/** Events per ms that read models are assumed to process before the rate has been measured. */
const FIRST_RATE = 1;
/** The weight of a new measurement of the rate. */
const WEIGHT = 0.3;

/** Dependencies of `Pacing`. */
export interface PacingDeps {
  /** Resolves when all read models contain a position, or when its own timeout has expired. Never rejects. */
  readonly passed: (position: Position) => Promise<unknown>;
  /** Returns why the read models can't catch up until someone acts; undefined if none has stopped, which is the default. */
  readonly stopped?: () => string | undefined;
  /** Returns a monotonic clock's time, in ms. */
  readonly now?: () => number;
  /** How long a large append waits for its turn, in ms. Default: ten seconds. */
  readonly waitMs?: number;
}

/** Counts the events from large appends that read models don't contain yet, and makes further large appends wait. */
export class Pacing {
  readonly #deps: Required<Omit<PacingDeps, 'waitMs'>>;
  /** Events from large appends that are being written, or that read models don't contain yet. */
  readonly #admission: Admission;
  #rate = FIRST_RATE;
  /** When read models last caught up with a large append, by the same clock as `now`. */
  #lastShown = Number.NEGATIVE_INFINITY;
  readonly #batch = { events: 0, began: 0 };

  constructor({
    passed,
    stopped = () => undefined,
    now = () => performance.now(),
    waitMs = WAIT_MS,
  }: PacingDeps) {
    this.#deps = { passed, stopped, now };
    const total = (): number => Math.min(MOST, Math.max(LEAST, this.#rate * BEHIND_MS));
    const [ofOne, waiting] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    this.#admission = new Admission({ total, ofOne, waiting, waitMs, late: () => this.#late() });
  }

  /** Number of large appends that are waiting. */
  get waiting(): number {
    return this.#admission.waiting;
  }

  /**
   * Runs an append, after waiting for its turn if it is large. The owner with the fewest outstanding events goes first; if
   * several have the fewest, the one whose last turn was longest ago. So a project's bulk load delays its own appends before
   * it delays those of other projects. An append larger than the bound is written by itself.
   * @param owner identifies the project; any text.
   * @throws Refusal unavailable (503, Retry-After) if its turn doesn't come in time; rethrows errors of the append.
   */
  async run<T extends { readonly position: Position }>(
    owner: string,
    events: number,
    append: () => Promise<T>,
  ): Promise<T> {
    if (events < LARGE) return append();
    const lease = await this.#admission.enter(owner, events);
    const began = this.#deps.now();
    try {
      const appended = await append();
      void this.#deps.passed(appended.position).then(() => this.#shown(lease, events, began));
      return appended;
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  /** Returns the refusal for an append whose turn didn't come in time. */
  #late(): Refusal {
    const why = this.#deps.stopped();
    if (why !== undefined)
      return unavailable(
        `${why}; until then, only requests that write fewer than ${LARGE} events are accepted`,
        STOPPED_SECONDS,
      );
    return unavailable(
      'read models are still catching up with earlier large writes; retry in a few seconds',
      5,
    );
  }

  /**
   * Read models process several appends as one batch, so the rate is measured over all appends that become visible together.
   */
  #shown(lease: Lease, events: number, began: number): void {
    if (this.#batch.events === 0) {
      this.#batch.began = began;
      setImmediate(() => this.#measure());
    }
    this.#batch.events += events;
    this.#batch.began = Math.min(this.#batch.began, began);
    lease.release();
  }

  #measure(): void {
    const now = this.#deps.now();
    const took = now - Math.max(this.#batch.began, this.#lastShown);
    if (took > 0) this.#rate += WEIGHT * (this.#batch.events / took - this.#rate);
    this.#lastShown = now;
    this.#batch.events = 0;
  }
}

/** Returns the given store, in which large appends wait for their turn. */
export function paced(store: EventStore, pacing: Pacing): EventStore {
  return wrappedStore(store, {
    append: (stream, expected, events) =>
      events.length < LARGE
        ? store.append(stream, expected, events)
        : pacing.run(readOwnerText(events), events.length, () => store.append(stream, expected, events)),
  });
}

/** Returns the project that the events belong to, as a string. */
function readOwnerText([first]: readonly NewEvent[]): string {
  const owner = first === undefined ? undefined : parseMetadata(first.metadata).owner;
  return owner === undefined ? '' : JSON.stringify(owner);
}
