/** One look for all who ask meanwhile: gauges that are collected together share what was found. */

/** `work`, not begun again while it runs. */
export function shareRunning<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Longest that a look may take, in ms: a scrape must end before the patience of Prometheus does (10 s). */
const PATIENCE_MS = 2_000;

/** What `work` finds; undefined when it fails, or takes longer than two seconds: then nothing is said. */
export async function resultInTime<T>(work: () => Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  });
  const found = await Promise.race([work().catch(() => undefined), late]);
  clearTimeout(timer);
  return found;
}
