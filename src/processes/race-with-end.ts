/**
 * Races work against an event that may end the work, such as a leader losing its session. `Promise.race` with such a
 * long-lived promise would leak memory on every call.
 */

/**
 * Returns a function that waits until the given work settles or the end comes, whichever is first.
 * @param end rejects when the end comes; it never resolves
 * @returns a function whose promise settles as the work does, or rejects as `end` does; the results of work that continues
 *   after the end are ignored
 */
export function raceWithEnd(end: Promise<never>): <T>(work: Promise<T>) => Promise<T> {
  const waiting = new Set<(error: unknown) => void>();
  let came: { readonly error: unknown } | undefined;
  end.catch((error: unknown) => {
    came = { error };
    for (const reject of waiting) reject(error);
    waiting.clear();
  });
  return (work) =>
    new Promise((resolve, reject) => {
      if (came === undefined) waiting.add(reject);
      else reject(came.error);
      work.then(resolve, reject).finally(() => waiting.delete(reject));
    });
}
