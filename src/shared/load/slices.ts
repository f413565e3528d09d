/**
 * Does long work in slices, so that one large request doesn't block the event loop for others. All long work of the process
 * shares the loop: one slice in each pass, and while others have requests under way a rest after it, four times as long
 * as the slice. `presence` knows who has requests under way.
 */

/** The shortest duration of a slice, in ms: yields within it cost next to nothing. */
const SLICE_MS = 10;
/** The rest after a slice while others have requests under way, as a multiple of the slice, and its bounds in ms. */
const REST = { times: 4, least: 20, most: 300 } as const;

/** Work that may be interrupted at each `yield`; its return value is the result. */
export type Steps<T> = Generator<undefined, T>;

/** Works that wait for their next slice, in order. */
const waiting: (() => void)[] = [];
/** True while one is about to get it. */
let due = false;
/** The end of the rest after the last slice, in ms. */
let rested = 0;

/** Waits for the next slice. @param took how long the last one took, in ms */
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
 * Does work in slices.
 * @param after gets the duration of each slice, in ms; its errors end the work
 * @throws the errors of the work or of `after`
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
 * Begins long work as a slice: the part before it first waits for something.
 * @throws the errors of the work
 */
export async function asSlice<T>(work: () => Promise<T>): Promise<T> {
  await turn();
  const since = performance.now();
  const working = work();
  rest(performance.now() - since);
  return working;
}

/**
 * Does work without pauses, when nothing else waits.
 * @throws the errors of the work
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

/** Requests of one caller. */
interface Visit {
  running: number;
  /** When the last request ended, in ms. */
  ended: number;
}

/** How long somebody counts as present after the last request, in ms. */
const LINGERS_MS = 250;

/** The number of callers that are remembered; above it those who left are forgotten. */
const REMEMBERED = 1_000;

/** The callers that have requests under way. */
export class Presence {
  readonly #visits = new Map<string, Visit>();
  readonly #now: () => number;

  /** @param now the clock, in ms; default: one that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Notes that a request begins. @param who its credential, or anything else that tells callers apart */
  enter(who: string): void {
    const visit = this.#visits.get(who);
    if (visit === undefined) this.#visits.set(who, { running: 1, ended: 0 });
    else visit.running += 1;
  }

  /** Notes that a request has ended. */
  leave(who: string): void {
    const visit = this.#visits.get(who);
    if (visit === undefined) return;
    visit.running -= 1;
    visit.ended = this.#now();
    if (this.#visits.size > REMEMBERED) this.#forget();
  }

  /** Tells whether more than one is present. */
  get several(): boolean {
    if (this.#visits.size > 1) this.#forget(2);
    return this.#visits.size > 1;
  }

  /** Forgets callers who left, until a number of present ones was seen. */
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

/** The callers that are present in this process: it has one event loop, which all share. */
export const presence = new Presence();
