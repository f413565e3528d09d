/**
 * Runs long work in slices, so that one large request doesn't block the event loop for others. All of the process's long work
 * shares the loop: each pass runs one slice. While other callers have requests in progress, the slice is followed by a rest
 * four times as long. `presence` keeps track of who has requests in progress.
 */

/** Minimum duration of a slice, in ms; yields within a slice cost next to nothing. */
const SLICE_MS = 10;
/**
 * The rest after a slice while other callers have requests in progress: a multiple of the slice's duration, with its limits in
 * ms.
 */
const REST = { times: 4, least: 20, most: 300 } as const;

/** Work that may be interrupted at each `yield`; its return value is the result. */
export type Steps<T> = Generator<undefined, T>;

/** The work that is waiting for its next slice, in order. */
const waiting: (() => void)[] = [];
/** True while the next slice is scheduled. */
let due = false;
/** When the rest after the last slice ends, in ms. */
let rested = 0;

/**
 * Waits for the next slice.
 * @param took how long the last slice took, in ms
 */
function pause(took: number): Promise<void> {
  rest(took);
  return turn();
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    schedule();
  });
}

function rest(took: number): void {
  rested = Math.max(rested, performance.now() + Math.min(REST.most, Math.max(REST.least, REST.times * took)));
}

function schedule(): void {
  if (due) return;
  due = true;
  const ms = presence.several ? rested - performance.now() : 0;
  if (ms > 0) setTimeout(next, ms);
  else setImmediate(next);
}

function next(): void {
  due = false;
  waiting.shift()?.();
  if (waiting.length > 0) schedule();
}

/**
 * Runs work in slices.
 * @param after receives the duration of each slice, in ms; if it throws, the work ends
 * @throws the errors from the work or from `after`
 */
export async function inSlices<T>(steps: Steps<T>, after?: (ms: number) => void): Promise<T> {
  let since = performance.now();
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    const took = performance.now() - since;
    if (took < SLICE_MS) continue;
    after?.(took);
    await pause(took);
    since = performance.now();
  }
}

/**
 * Starts long work in a slice, which ends when the work first waits for something.
 * @throws the errors from the work
 */
export async function asSlice<T>(work: () => Promise<T>): Promise<T> {
  await turn();
  const since = performance.now();
  const working = work();
  rest(performance.now() - since);
  return working;
}

/**
 * Runs work without pauses, for use when nothing else is waiting.
 * @throws the errors from the work
 */
export function atOnce<T>(steps: Steps<T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** Maps items, one per step. */
export function* mapSteps<A, B>(items: readonly A[], to: (item: A, index: number) => B): Steps<B[]> {
  const all: B[] = [];
  for (const [index, item] of items.entries()) {
    all.push(to(item, index));
    yield;
  }
  return all;
}

/** One caller's requests. */
interface Visit {
  running: number;
  /** When the last request ended, in ms. */
  ended: number;
}

/** How long a caller counts as present after its last request has ended, in ms. */
const LINGERS_MS = 250;

/** The maximum number of callers to remember; if there are more, callers who have left are forgotten. */
const REMEMBERED = 1_000;

/** Keeps track of the callers that have requests in progress. */
export class Presence {
  readonly #visits = new Map<string, Visit>();
  readonly #now: () => number;

  /** @param now the clock, in ms; by default, a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Records that a request begins.
   * @param who the request's credential, or anything else that distinguishes callers
   */
  enter(who: string): void {
    const visit = this.#visits.get(who);
    if (visit === undefined) this.#visits.set(who, { running: 1, ended: 0 });
    else visit.running += 1;
  }

  /** Records that a request has ended. */
  leave(who: string): void {
    const visit = this.#visits.get(who);
    if (visit === undefined) return;
    visit.running -= 1;
    visit.ended = this.#now();
    if (this.#visits.size > REMEMBERED) this.#forget();
  }

  /** Returns whether more than one caller is present. */
  get several(): boolean {
    if (this.#visits.size > 1) this.#forget(2);
    return this.#visits.size > 1;
  }

  /** Forgets callers who have left, until it has found `enough` callers who are present. */
  #forget(enough = Number.POSITIVE_INFINITY): void {
    const since = this.#now() - LINGERS_MS;
    let present = 0;
    for (const [who, { running, ended }] of this.#visits) {
      if (running > 0 || ended > since) present += 1;
      else this.#visits.delete(who);
      if (present >= enough) return;
    }
  }
}

/** The callers who are present in this process and so share its event loop. */
export const presence = new Presence();
