/** Long work in slices, between which others have the event loop: a request of megabytes does not stop all the others. */
import { setImmediate } from 'node:timers/promises';

/** How long a slice takes at least, in ms: what is yielded within it costs nothing more than the yield. */
const SLICE_MS = 10;

/** Work that says where it may be interrupted, by a `yield`, and returns what it came to. */
export type Steps<T> = Generator<undefined, T>;

/** Does work in slices. @throws what the work throws */
export async function inSlices<T>(steps: Steps<T>): Promise<T> {
  let since = performance.now();
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (performance.now() - since < SLICE_MS) continue;
    await setImmediate();
    since = performance.now();
  }
}

/** Does work without a pause: where nothing else waits. @throws what the work throws */
export function atOnce<T>(steps: Steps<T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** `map`, an item a step. */
export function* mapSteps<A, B>(items: readonly A[], to: (item: A, index: number) => B): Steps<B[]> {
  const all: B[] = [];
  for (const [index, item] of items.entries()) {
    all.push(to(item, index));
    yield;
  }
  return all;
}
