/** The reason why a projection stopped: a temporary condition, or an event that it can't apply. */
import { describeFailure, isPassingInDatabase } from '#src/database/failure.ts';
import { NewerEvent } from '#src/events/newer.ts';
import { type RecordedEvent, Unavailable } from '#src/events/store.ts';
import { UnreadableEvent } from '#src/events/unreadable.ts';
import { CheckpointMoved } from './checkpoint.ts';

export { describeFailure } from '#src/database/failure.ts';

/** An event's location and type, without its data. */
export type EventName = Pick<RecordedEvent, 'id' | 'type' | 'stream' | 'revision' | 'position'>;

/** Thrown for an event that a projection can't apply. Names the event and never quotes its data. */
export class CannotApply extends Error {
  override readonly name = 'CannotApply';
  readonly event: EventName;
  /** Set if a newer version of the software wrote the event: a newer instance can apply it. */
  readonly newer: NewerEvent | undefined;

  /**
   * @param event may be a whole event; only its location and type are kept
   * @param reason the error, kept as `cause` without quoted data
   */
  constructor(
    readonly projection: string,
    event: EventName,
    reason: unknown,
  ) {
    const { id, type, stream, revision, position } = event;
    super(
      `projection ${projection} cannot apply event ${id} (${type}, ${stream} revision ` +
        `${revision}, position ${position}): ${withoutPlace(reason)}`,
      { cause: withoutData(reason) },
    );
    this.newer = reason instanceof NewerEvent ? reason : undefined;
    this.event = { id, type, stream, revision, position };
  }
}

/** Returns an error's message without the event's stream and revision, which precede it. */
function withoutPlace(error: unknown): string {
  if (error instanceof NewerEvent) return error.summary;
  return error instanceof UnreadableEvent ? error.reason : describeFailure(error);
}

/** Returns an error with the same class and stack, but without the data that it quotes. */
function withoutData(error: unknown): Error {
  const told = new Error(describeFailure(error));
  if (!(error instanceof Error)) return told;
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  told.name = error.name;
  told.stack = [`${told.name}: ${told.message}`, ...frames].join('\n');
  return told;
}

/** Returns true if a later attempt may succeed without any change. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Unavailable || error instanceof CheckpointMoved) return true;
  return isPassingInDatabase(error);
}
