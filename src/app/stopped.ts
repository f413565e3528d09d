/** Read models that lag because their projection can't continue. */
import type { ProjectionStatus } from '#projections/projector.ts';
import type { NewerEvents } from '../events/newer.ts';

/**
 * Returns why one of these read models can't catch up until someone acts; undefined if none has stopped. A projection
 * that stopped here and doesn't lag runs on another instance.
 * @param stale names of the read models that lag.
 */
export function stoppedReason(
  all: readonly Pick<ProjectionStatus, 'name' | 'state'>[],
  stale: readonly string[],
  models: readonly string[],
  newer: Pick<NewerEvents, 'at'>,
): string | undefined {
  const stopped = all.find(
    ({ name, state }) => state === 'failed' && stale.includes(name) && models.includes(name),
  );
  if (stopped === undefined) return undefined;
  const why = newer.at(stopped.name)?.summary;
  return why === undefined
    ? `the read model ${stopped.name} stopped at an event that it can't apply; an operator must run annal verify, which names the event`
    : `the read model ${stopped.name} stopped: ${why}`;
}
