/** A time limit on a promise. */

/**
 * Returns the promise's value.
 * @throws Error if it takes longer than `ms`; otherwise the error of the promise
 */
export function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error(`no answer within ${ms} ms`));
    // After the whole process was paused, answers that arrived meanwhile are handled first.
    const timeout = setTimeout(() => setImmediate(late), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timeout));
  });
}
