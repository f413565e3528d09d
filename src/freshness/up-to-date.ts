/** Makes startup wait until it is known which projects exist. */
import type { Position } from '../events/store.ts';
import { unavailable } from '../shared/refusal.ts';

/** How many waits in a row may end without progress. Each wait lasts ten seconds, enough for one batch on a busy machine. */
const WAITS = 6;

/** The functions that startup uses while it waits. */
export interface Waiting {
  readonly head: () => Promise<Position>;
  /** Waits until read models have passed a position; resolves to false if that takes too long. */
  readonly waitFor: (position: Position, models: readonly string[]) => Promise<boolean>;
  /** Returns the position of the `projects` read model; undefined while it is unknown. */
  readonly projectsAt: () => Position | undefined;
}

/**
 * Waits until the `projects` read model includes everything in the log. It keeps waiting as long as that read model makes
 * progress, because on a new database the read model starts from the first event.
 * @throws Refusal unavailable when progress stops.
 */
export async function upToDate({ head, waitFor, projectsAt }: Waiting): Promise<void> {
  const end = await head();
  let last = projectsAt();
  for (let waits = 0; waits < WAITS; waits += 1) {
    if (await waitFor(end, ['projects'])) return;
    const now = projectsAt();
    if (now !== last) waits = -1;
    last = now;
  }
  throw unavailable('projects lag behind the log');
}
