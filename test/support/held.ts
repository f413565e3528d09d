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
