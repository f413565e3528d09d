/** Defines the error for events whose text doesn't have the form of their type. */
import { describeFailure } from '../database/failure.ts';
import type { RecordedEvent } from './store.ts';

/**
 * Thrown for an event that can't be read, because the event was altered or another program wrote it. The message never quotes
 * the event's text, which may contain a patient's data.
 */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent';
  /** The reason why the event can't be read. */
  readonly reason: string;

  /** @param reason a sentence, or the error thrown while reading the event. */
  constructor({ stream, revision }: Pick<RecordedEvent, 'stream' | 'revision'>, reason: unknown) {
    const said = typeof reason === 'string' ? reason : describeFailure(reason);
    super(`cannot read the event at revision ${revision} of ${stream}: ${said}`);
    this.reason = said;
  }
}
