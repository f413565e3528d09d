/**
 * The error for a log that accepts no events because it has been moved or is being moved. Each adapter closes a log in its own
 * way (`closing.ts`).
 */

/** Thrown when the log in the settings is no longer in use, or is about to be replaced. */
export class LogClosed extends Error {
  override readonly name = 'LogClosed';
  /** @param where the log's new location, if known. */
  constructor(where?: string) {
    super(
      'the event log named by the settings is closed: `annal migrate-log` is moving it or has moved it' +
        `${where === undefined ? '' : ` to ${where}`}. Set EVENTSTORE_URL to where it is now; see docs/migrate-log.md`,
    );
  }
}
