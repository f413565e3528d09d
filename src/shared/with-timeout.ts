/** A limit on how long something may take. */

/** Returns the promise's value. @throws Error when it takes longer than `ms`; what the promise rejects with. */
export function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error(`no answer within ${ms} ms`));
    // After a pause of the whole process, what has arrived meanwhile is taken first.
    const timeout = setTimeout(() => setImmediate(late), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timeout));
  });
}
