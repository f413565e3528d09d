/** Runs a limited number of workers on items that arrive one by one. */

/**
 * Runs `work` on each item, at most `workers` at a time; takes the next item only when a worker is free. After the first
 * error, it takes no more items, waits for the running workers, and rethrows the error.
 */
export async function forEachConcurrently<T>(
  items: AsyncIterable<T> | Iterable<T>,
  workers: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const item of items) {
    if (failures.length > 0) break;
    const task = work(item)
      .catch((error: unknown) => {
        failures.push(error);
      })
      .finally(() => running.delete(task));
    running.add(task);
    if (running.size >= workers) await Promise.race(running);
    if (failures.length > 0) break;
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
