/** A time limit on a promise. */

/**
 * Returns the promise's value.
 * @throws Error if it takes longer than `ms`; otherwise the promise's own error
 */
export function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error(`no answer within ${ms} ms`));
    // If the whole process was paused, answers that arrived during the pause are handled first.
    const timeout = setTimeout(() => setImmediate(late), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timeout));
  });
}
