/** A start that needs to know which projects there are. */
import type { Position } from '../events/store.ts';
import { unavailable } from '../shared/refusal.ts';

/** How many waits in a row may end without progress: ten seconds each, for one batch on a busy machine. */
const WAITS = 6;

/** The parts with which a start waits. */
export interface Waiting {
  readonly head: () => Promise<Position>;
  /** Waits until read models have passed a position; false when it takes too long. */
  readonly waitFor: (position: Position, models: readonly string[]) => Promise<boolean>;
  /** Returns the position of the read model of projects; undefined while it is unknown. */
  readonly projectsAt: () => Position | undefined;
}

/**
 * Waits until the read model of projects shows all that is in the log, as long as it comes nearer: on a new database it
 * begins with the first event.
 * @throws Refusal unavailable when it comes no nearer.
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
