/** For how long a process's event loop is held at a time. */
const EVERY_MS = 2;

/** What was measured while work ran. */
export interface Held {
  /** The longest time for which nothing else could run, in ms. */
  readonly longest: number;
}

/**
 * Runs work and measures for how long it held the event loop of this process at a time. A wait of the process for the
 * processor does not count: of the time that passed and the processor time that the process used, the less is taken.
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

/** What was measured of work in steps. */
export interface Stepped<T> {
  readonly value: T;
  /** Processor time of all steps, in ms. */
  readonly ms: number;
  /** Processor time of the longest step, as a part of that of all. */
  readonly longest: number;
}

/** Does work in steps and measures them. */
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
