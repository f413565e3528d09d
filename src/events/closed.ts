/** A log that takes no events: it is being moved, or was. Each adapter has its own way to close one (`closing.ts`). */

/** The log that the settings name is not in use any more, or is about to be left. */
export class LogClosed extends Error {
  override readonly name = 'LogClosed';
  /** @param where it was moved to, if that is known. */
  constructor(where?: string) {
    super(
      'the event log named by the settings is closed: `annal migrate-log` is moving it or has moved it' +
        `${where === undefined ? '' : ` to ${where}`}. Set EVENTSTORE_URL to where it is now; see docs/migrate-log.md`,
    );
  }
}
