/** Measures the longest time for which a process's event loop is blocked without interruption. */
const EVERY_MS = 2;

/** The measurement taken while work ran. */
export interface Held {
  /** The longest time during which nothing else could run, in ms. */
  readonly longest: number;
}

/**
 * Runs work and measures the longest time for which it blocks this process's event loop. Waiting for the processor doesn't
 * count: the result is the smaller of the elapsed time and the processor time used.
 */
export async function heldBy(work: () => Promise<unknown>): Promise<Held> {
  let longest = 0;
  let at = performance.now();
  let used = process.cpuUsage();
  const look = (): void => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(used);
    longest = Math.max(longest, Math.min(now - at, (user + system) / 1_000));
    at = now;
    used = process.cpuUsage();
  };
  const ticks = setInterval(look, EVERY_MS);
  try {
    await work();
    await new Promise((resolve) => setTimeout(resolve, 2 * EVERY_MS));
    look();
  } finally {
    clearInterval(ticks);
  }
  return { longest };
}

/** The measurement of work that runs in steps. */
export interface Stepped<T> {
  readonly value: T;
  /** Processor time of all steps, in ms. */
  readonly ms: number;
  /** Processor time of the longest step, as a fraction of the total. */
  readonly longest: number;
}

/** Runs work in steps, and measures the steps. */
export function stepped<T>(steps: Generator<undefined, T>): Stepped<T> {
  let [whole, longest] = [0, 0];
  for (;;) {
    const { user, system } = process.cpuUsage();
    const step = steps.next();
    const now = process.cpuUsage();
    const took = now.user + now.system - user - system;
    whole += took;
    longest = Math.max(longest, took);
    if (step.done === true) return { value: step.value, ms: whole / 1_000, longest: longest / whole };
  }
}
