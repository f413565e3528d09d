/** The work that a stop waits for: the HTTP server's pending responses, appends, and the read models that this instance writes. */
import type { Server } from 'node:http';
import type { Progress } from '#projections/progress.ts';
import type { Projector } from '#projections/projector.ts';
import type { EventStore } from '../events/store.ts';
import { wrappedStore } from '../events/wrapped-store.ts';
import { withTimeout } from '../shared/load/with-timeout.ts';
import { unavailable } from '../shared/refusal.ts';

/** Stops listening, and resolves when every request has been answered. Connections close as they fall idle. */
export async function drain(server: Server): Promise<void> {
  if (!server.listening) return;
  const closing = setInterval(() => server.closeIdleConnections(), 20);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(closing);
}

/** A store whose appends can be ended. */
export interface EndableAppends {
  readonly store: EventStore;
  /** Refuses appends from now on, and resolves when those under way have ended. */
  end(): Promise<void>;
}

/**
 * Returns the same store. After `end` its appends are refused: a process that was stopped within an event doesn't write
 * anymore.
 */
export function endableAppends(store: EventStore): EndableAppends {
  const running = new Set<Promise<unknown>>();
  let ended = false;
  return {
    store: wrappedStore(store, {
      append(stream, expected, events) {
        if (ended) return Promise.reject(unavailable('the service is stopping'));
        const append = store.append(stream, expected, events);
        running.add(append);
        const over = (): boolean => running.delete(append);
        append.then(over, over);
        return append;
      },
    }),
    async end() {
      ended = true;
      await Promise.allSettled(running);
    },
  };
}

/**
 * Waits until the read models that this instance writes have reached the log's head, so that a stopped database lacks
 * nothing. Those that stopped or that another instance writes aren't waited for, nor a log that doesn't answer.
 * @returns the names of those that didn't get there within `ms`
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
