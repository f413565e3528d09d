/**
 * Races work against an event that may end it, such as the loss of a leader's session. `Promise.race` with such a
 * long-lived promise would leak memory at every call.
 */

/**
 * Returns a function that waits for work until it settles or the end comes, whichever is first.
 * @param end rejects when the end comes, and never resolves
 * @returns a function whose promise settles like the work, or rejects like `end`; work that continues after the end is
 * ignored
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
