/** The events of a batch that a projection takes. The others are neither decoded nor handed over. */
import { requireKnownType } from '#src/events/newer.ts';
import type { RecordedEvent } from '#src/events/store.ts';
import { CannotApply } from './failure.ts';
import type { Projection } from './projection.ts';

/**
 * Returns the events whose types a projection takes; all of them if it doesn't name types.
 * @throws CannotApply for a type that this software doesn't know: a later version of the projection may take it
 */
export function ownEvents(
  { name, types }: Pick<Projection, 'name' | 'types'>,
  events: readonly RecordedEvent[],
): readonly RecordedEvent[] {
  if (types === undefined) return events;
  return events.filter((event) => {
    if (types.has(event.type)) return true;
    try {
      requireKnownType(event);
    } catch (error) {
      throw new CannotApply(name, event, error);
    }
    return false;
  });
}
