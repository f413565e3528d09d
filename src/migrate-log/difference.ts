/** Two logs that cannot be made the same, and the words for it. */
import type { RecordedEvent } from '#src/events/store.ts';

/** The two logs cannot be made the same. Names the event at fault. */
export class LogsDiffer extends Error {
  override readonly name = 'LogsDiffer';
}

/**
 * Tells whether two events are equal except for their position. The hash in the metadata covers everything before in
 * the stream.
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

/** An event in a sentence. */
export const describeEvent = ({ id, type, stream, revision }: RecordedEvent): string =>
  `event ${id} (${type}, ${stream} revision ${revision})`;

/** Returns the error for an event of the target that differs from the source. */
export function differ(original: RecordedEvent | undefined, copy: RecordedEvent): LogsDiffer {
  return new LogsDiffer(
    original === undefined
      ? `the target has ${describeEvent(copy)}, which the source lacks`
      : `the logs differ: the source has ${describeEvent(original)} where the target has ${describeEvent(copy)}`,
  );
}

/**
 * Returns the error for a target whose history isn't the one that the next append continues.
 * @param first the append's first event
 */
export function gap(first: RecordedEvent): LogsDiffer {
  return new LogsDiffer(
    `the target does not continue with ${describeEvent(first)}: it has a different history`,
  );
}
