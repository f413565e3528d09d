/**
 * Works beside something that may come to an end, such as the session that makes an instance the leader. `Promise.race`
 * with a promise that lives for as long would leave something behind in it at every work.
 */

/**
 * Waits for works, each until it has an outcome or the end has come, whichever is first.
 * @param end rejects when it comes, and never resolves.
 * @returns what gives a work's own outcome, or rejects as `end` did. What the work itself does then is nobody's business.
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
