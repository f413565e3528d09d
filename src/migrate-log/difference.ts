/** Errors for two logs that can't be reconciled. */
import type { RecordedEvent } from '#src/events/store.ts';

/** Thrown when the two logs can't be reconciled. Names the event at fault. */
export class LogsDiffer extends Error {
  override readonly name = 'LogsDiffer';
}

/**
 * Returns whether two events are equal except for their position. The hash in the metadata covers all earlier events in the
 * stream.
 */
export function isSame(a: RecordedEvent, b: RecordedEvent): boolean {
  return (
    a.id === b.id &&
    a.revision === b.revision &&
    a.stream === b.stream &&
    a.type === b.type &&
    a.metadata === b.metadata &&
    a.data === b.data
  );
}

/** Describes an event in a sentence. */
export const describeEvent = ({ id, type, stream, revision }: RecordedEvent): string =>
  `event ${id} (${type}, ${stream} revision ${revision})`;

/** Returns the error for an event in the target that differs from the source. */
export function differ(original: RecordedEvent | undefined, copy: RecordedEvent): LogsDiffer {
  return new LogsDiffer(
    original === undefined
      ? `the target has ${describeEvent(copy)}, which the source lacks`
      : `the logs differ: the source has ${describeEvent(original)} where the target has ${describeEvent(copy)}`,
  );
}

/**
 * Returns the error for a target that lacks the events before the next append.
 * @param first the append's first event
 */
export function gap(first: RecordedEvent): LogsDiffer {
  return new LogsDiffer(
    `the target does not continue with ${describeEvent(first)}: it has a different history`,
  );
}
