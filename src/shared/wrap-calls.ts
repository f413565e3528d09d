/** Wraps every method of an object, for metrics and tracing. */

/** Runs `call` synchronously and settles as the call does. */
export type CallWrapper = <R>(name: string, call: () => Promise<R>) => Promise<R>;

/** An object whose members are asynchronous functions. */
type Asynchronous<T> = { readonly [K in keyof T]: (...args: never[]) => Promise<unknown> };

/**
 * Returns the same functions, but each is called through `run`, which receives its name.
 * @param target a plain object whose functions don't use `this`
 */
export function wrapCalls<T extends Asynchronous<T>>(target: T, run: CallWrapper): T {
  const wrapped = Object.entries<(...args: never[]) => Promise<unknown>>(target).map(([name, own]) => [
    name,
    (...args: never[]) => run(name, () => own(...args)),
  ]);
  return Object.fromEntries(wrapped) as T;
}

/** Returns a wrapper that nests the inner wrapper in the outer one. */
export function nestWrappers(outer: CallWrapper, inner: CallWrapper): CallWrapper {
  return (name, call) => outer(name, () => inner(name, call));
}
