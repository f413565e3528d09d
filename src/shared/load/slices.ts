/**
 * Does long work in slices, so that one large request doesn't block the event loop for others. All long work of the process
 * shares the loop: one slice in each pass, and while others have requests under way a rest after it, four times as long
 * as the slice.
 */
import { presence } from './presence.ts';

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
