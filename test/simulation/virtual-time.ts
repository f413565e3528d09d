/**
 * Virtual time: while a simulation runs, it controls the clocks, timers and random numbers of this process. Events run one at
 * a time, earliest first. The next event runs only after the continuations of all settled promises have run. Nothing depends
 * on real time, so the seed determines everything.
 */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { makeChance } from '#test/support/chance.ts';

/** The time at which virtual time begins, in ms since 1970. */
const EPOCH_MS = Date.UTC(2026, 0, 1);

interface Event {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** The running simulation. */
let current: VirtualTime | undefined;
let isInstalled = false;

const realImmediate = globalThis.setImmediate;

/** Waits until the continuations of all promises that can settle now have run. */
const settled = (): Promise<void> => new Promise((resolve) => realImmediate(resolve));

/** A simulation's clocks, timers and random numbers. */
export class VirtualTime {
  /** Returns the next random number from 0 to 1. */
  readonly chance: () => number;
  /** Milliseconds since the beginning. */
  now = 0;
  /** Number of events that have run. */
  steps = 0;
  #order = 0;
  /** A heap: each event comes before the events at twice its index. */
  readonly #queue: Event[] = [];

  constructor(seed: number) {
    this.chance = makeChance(seed);
  }

  /** Returns the wall clock's time, in microseconds since 1970. */
  get micros(): number {
    return Math.floor((EPOCH_MS + this.now) * 1_000);
  }

  /** Runs a function after the given number of ms, unless the returned function is called before then. */
  after(ms: number, run: () => void): () => void {
    const event: Event = { at: this.now + Math.max(0, ms), order: this.#order++, run };
    this.#push(event);
    return () => {
      event.run = undefined;
    };
  }

  /** Resolves after the given number of ms. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /**
   * Runs work until it ends; call it within `inVirtualTime`.
   * @param most the number of virtual ms after which the work counts as stuck
   * @throws Error if the work is stuck; also the work's own errors
   */
  async run<T>(work: () => Promise<T>, most: number): Promise<T> {
    if (!isInstalled) throw new TypeError('the clocks of this process are real');
    current = this;
    try {
      let end: { readonly value: T } | { readonly error: unknown } | undefined;
      work().then(
        (value) => {
          end = { value };
        },
        (error: unknown) => {
          end = { error };
        },
      );
      await settled();
      while (end === undefined) {
        const next = this.#pop();
        if (next === undefined || next.at > most)
          throw new Error(`it is stuck after ${Math.round(this.now)} ms`);
        this.now = next.at;
        if (next.run === undefined) continue;
        this.steps += 1;
        next.run();
        await settled();
      }
      if ('error' in end) throw end.error;
      return end.value;
    } finally {
      current = undefined;
    }
  }

  #push(event: Event): void {
    const queue = this.#queue;
    let n = queue.length;
    queue.push(event);
    while (n > 0) {
      const parent = (n - 1) >> 1;
      const above = queue[parent] as Event;
      if (isBefore(above, event)) break;
      queue[n] = above;
      n = parent;
    }
    queue[n] = event;
  }

  #pop(): Event | undefined {
    const queue = this.#queue;
    const first = queue[0];
    const last = queue.pop();
    if (first === undefined || last === undefined || queue.length === 0) return first;
    let n = 0;
    for (let child = 1; child < queue.length; child = 2 * n + 1) {
      const [one, other] = [queue[child] as Event, queue[child + 1]];
      const isOther = other !== undefined && isBefore(other, one);
      const least = isOther ? other : one;
      if (isBefore(last, least)) break;
      queue[n] = least;
      n = isOther ? child + 1 : child;
    }
    queue[n] = last;
    return first;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/**
 * Runs work while the simulation controls the clocks, timers and random numbers of this process. Timers that were set before
 * continue in real time.
 */
export async function inVirtualTime<T>(work: () => Promise<T>): Promise<T> {
  const restore = [
    replace(globalThis, { ...TIMERS }),
    replace(timers, { setTimeout: promise, setImmediate: (value?: unknown) => promise(0, value) }),
    replace(performance, { now: () => current?.now ?? 0 }),
    replace(Date, { now: () => EPOCH_MS + Math.floor(current?.now ?? 0) }),
    replace(Math, { random: () => current?.chance() ?? 0.5 }),
  ];
  syncBuiltinESMExports();
  isInstalled = true;
  try {
    return await work();
  } finally {
    isInstalled = false;
    for (const each of restore) each();
    syncBuiltinESMExports();
  }
}

type Run = (...args: never[]) => void;

const clear = (handle?: { cancel?: () => void }): void => handle?.cancel?.();

const TIMERS = {
  setTimeout: (run: Run, ms = 0, ...args: never[]) => later(ms, () => run(...args)),
  setImmediate: (run: Run, ...args: never[]) => later(0, () => run(...args)),
  setInterval: (run: () => void, ms: number) => {
    let cancel = (): void => undefined;
    const next = (): void => {
      cancel = after(ms, () => {
        next();
        run();
      });
    };
    next();
    return new Timer(() => cancel());
  },
  ...{ clearTimeout: clear, clearImmediate: clear, clearInterval: clear },
};

/**
 * Runs a function after the given number of ms in the running simulation. If no simulation is running, the function never
 * runs.
 */
function after(ms: number, run: () => void): () => void {
  return current?.after(ms, run) ?? (() => undefined);
}

function later(ms: number, run: () => void): Timer {
  return new Timer(after(ms, run));
}

function promise(ms = 0, value?: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const cancel = after(ms, () => resolve(value));
    const stop = (): void => {
      cancel();
      reject(signal?.reason);
    };
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * Replaces members of an object.
 * @returns a function that restores the members
 */
function replace(holder: object, own: Readonly<Record<string, unknown>>): () => void {
  const before = Object.keys(own).map(
    (name) => [name, Object.getOwnPropertyDescriptor(holder, name)] as const,
  );
  for (const [name, value] of Object.entries(own))
    Object.defineProperty(holder, name, { value, configurable: true, writable: true });
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(holder, name);
      else Object.defineProperty(holder, name, descriptor);
    }
  };
}

/** A timer, as used by callers of `setTimeout`. */
class Timer {
  constructor(readonly cancel: () => void) {}
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}
