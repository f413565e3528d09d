/** Does long work in slices, so that one large request doesn't block the event loop for others. */
import { setImmediate } from 'node:timers/promises';

/** Shortest duration of a slice, in ms: yields within it cost next to nothing. */
const SLICE_MS = 10;

/** Work that may be interrupted at each `yield`; its return value is the result. */
export type Steps<T> = Generator<undefined, T>;

/**
 * Does work in slices.
 * @param after is told after each slice how long it took, in ms; what it throws ends the work
 * @throws what the work or `after` throws
 */
export async function inSlices<T>(steps: Steps<T>, after?: (ms: number) => void): Promise<T> {
  let since = performance.now();
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    const took = performance.now() - since;
    if (took < SLICE_MS) continue;
    after?.(took);
    await setImmediate();
    since = performance.now();
  }
}

/**
 * Does work without pauses, when nothing else waits.
 * @throws what the work throws
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
