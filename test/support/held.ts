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

/**
 * Runs the same work in steps several times and measures the steps. A garbage collection may lengthen any step of one run,
 * so each step counts with its shortest time.
 */
export function stepped<T>(start: () => Generator<undefined, T>, runs = 3): Stepped<T> {
  const [first, ...others] = Array.from({ length: runs }, () => timed(start()));
  if (first === undefined) throw new Error('no run was asked for');
  const least = first.times.map((time, at) =>
    Math.min(time, ...others.map(({ times }) => times[at] ?? time)),
  );
  const whole = least.reduce((sum, time) => sum + time, 0);
  return { value: first.value, ms: whole / 1_000, longest: Math.max(...least) / whole };
}

/** Runs all steps, and returns the processor time of each, in µs. */
function timed<T>(steps: Generator<undefined, T>): { value: T; times: number[] } {
  const times: number[] = [];
  for (;;) {
    const { user, system } = process.cpuUsage();
    const step = steps.next();
    const now = process.cpuUsage();
    times.push(now.user + now.system - user - system);
    if (step.done === true) return { value: step.value, times };
  }
}
