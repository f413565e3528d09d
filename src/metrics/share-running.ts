/** Shares one lookup among gauges that are collected at the same time. */

/** Returns a function that runs `work`, or, while a run is in progress, returns that run's promise. */
export function shareRunning<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** The maximum duration of a lookup, in ms: a scrape must end before Prometheus's timeout (10 s). */
const PATIENCE_MS = 2_000;

/** Returns the result of `work`; undefined if it fails or takes longer than two seconds. */
export async function resultInTime<T>(work: () => Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  });
  const found = await Promise.race([work().catch(() => undefined), late]);
  clearTimeout(timer);
  return found;
}
