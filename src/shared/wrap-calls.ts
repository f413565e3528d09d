/** Something done around every call of an object: how measuring and tracing stay out of what they look at. */

/** Runs `call`, resolves or rejects as it does, and calls it before anything asynchronous. */
export type CallWrapper = <R>(name: string, call: () => Promise<R>) => Promise<R>;

/** An object of asynchronous functions. */
type Asynchronous<T> = { readonly [K in keyof T]: (...args: never[]) => Promise<unknown> };

/**
 * The same functions, each run through `run` under its name.
 * @param target a plain object: nothing in it needs `this`.
 */
export function wrapCalls<T extends Asynchronous<T>>(target: T, run: CallWrapper): T {
  const wrapped = Object.entries<(...args: never[]) => Promise<unknown>>(target).map(([name, own]) => [
    name,
    (...args: never[]) => run(name, () => own(...args)),
  ]);
  return Object.fromEntries(wrapped) as T;
}

/** Both, one inside the other. */
export function nestWrappers(outer: CallWrapper, inner: CallWrapper): CallWrapper {
  return (name, call) => outer(name, () => inner(name, call));
}
