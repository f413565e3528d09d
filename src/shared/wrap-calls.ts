/** Wraps every method of an object, for metrics and tracing. */

/** Runs `call` synchronously, and settles as it does. */
export type CallWrapper = <R>(name: string, call: () => Promise<R>) => Promise<R>;

/** An object whose members are asynchronous functions. */
type Asynchronous<T> = { readonly [K in keyof T]: (...args: never[]) => Promise<unknown> };

/**
 * Returns the same functions, each of them called through `run` with its name.
 * @param target a plain object whose functions don't use `this`
 */
export function wrapCalls<T extends Asynchronous<T>>(target: T, run: CallWrapper): T {
  const wrapped = Object.entries<(...args: never[]) => Promise<unknown>>(target).map(([name, own]) => [
    name,
    (...args: never[]) => run(name, () => own(...args)),
  ]);
  return Object.fromEntries(wrapped) as T;
}

/** Returns a wrapper that nests one wrapper in another. */
export function nestWrappers(outer: CallWrapper, inner: CallWrapper): CallWrapper {
  return (name, call) => outer(name, () => inner(name, call));
}
