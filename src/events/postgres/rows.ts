/** Converts rows of `log.events` to events. */
import type pg from 'pg';
import { toPosition } from '../position.ts';
import type { RecordedEvent } from '../store.ts';

/** The columns for an event, in the order of `EventRow`. */
export const COLUMNS = 'position, stream, revision, id, type, data, metadata';

/** An event as returned by the server: unparsed text. */
export type EventRow = [
  position: string,
  stream: string,
  revision: string,
  id: string,
  type: string,
  data: string,
  metadata: string,
];

/** Keeps values as the text that the server sent. */
export const AS_TEXT: pg.CustomTypesConfig = { getTypeParser: () => (text: string) => text };

/** Returns the event in a row. */
export function toEvent([position, stream, revision, id, type, data, metadata]: EventRow): RecordedEvent {
  return {
    id,
    type,
    stream,
    revision: Number(revision),
    position: toPosition(position),
    data,
    metadata,
  };
}
