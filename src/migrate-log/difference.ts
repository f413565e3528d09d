/** Two logs that cannot be made the same, and the words for it. */
import type { RecordedEvent } from '#src/events/store.ts';

/** The two logs cannot be made the same. Names the event at fault. */
export class LogsDiffer extends Error {
  override readonly name = 'LogsDiffer';
}

/** Whether two events are the same: everything but the position. The hash in the metadata is over all that came before in the stream. */
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
export const nameOf = ({ id, type, stream, revision }: RecordedEvent): string =>
  `event ${id} (${type}, ${stream} revision ${revision})`;

/** What the target has where the source has another event, or none. */
export function differ(original: RecordedEvent | undefined, copy: RecordedEvent): LogsDiffer {
  return new LogsDiffer(
    original === undefined
      ? `the target has ${nameOf(copy)}, which the source has not`
      : `the logs differ: the source has ${nameOf(original)} where the target has ${nameOf(copy)}`,
  );
}

/** The target has another history than an append of the source continues, which begins with an event. */
export function gap(first: RecordedEvent): LogsDiffer {
  return new LogsDiffer(`the target does not continue with ${nameOf(first)}: it has another history`);
}
