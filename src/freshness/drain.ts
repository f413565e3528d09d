/** Waits for read models before a shutdown. */
import type { Progress } from '#projections/progress.ts';
import type { Projector } from '#projections/projector.ts';
import type { EventStore } from '../events/store.ts';
import { withTimeout } from '../shared/load/with-timeout.ts';

/**
 * Waits until the read models that this instance writes have reached the log's head, so that the database is complete when it
 * is stopped. It doesn't wait for read models that have stopped or that another instance writes, and it doesn't wait if the
 * log doesn't answer.
 * @returns the names of the read models that didn't reach the head within `ms`
 */
export async function drainProjections(
  {
    store,
    projector,
    progress,
  }: {
    readonly store: Pick<EventStore, 'head'>;
    readonly projector: Pick<Projector, 'status'>;
    readonly progress: Pick<Progress, 'waitFor'>;
  },
  ms: number,
): Promise<string[]> {
  const own = projector.status().flatMap(({ name, state }) => (state === 'running' ? [name] : []));
  const until = performance.now() + ms;
  const head = await withTimeout(ms, store.head()).catch(() => undefined);
  if (head === undefined) return own;
  const left = Math.max(0, until - performance.now());
  const passed = await Promise.all(
    own.map(async (name) => [name, await progress.waitFor(head, [name], left)] as const),
  );
  return passed.flatMap(([name, there]) => (there ? [] : [name]));
}
