/** One look for all who ask meanwhile: gauges that are collected together share what was found. */

/** `work`, not begun again while it runs. */
export function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}
