/** Maps errors of the event store and the database to the refusals that clients get. */
import { KeyFault } from '../audit/key.ts';
import { isTableMissing } from '../database/failure.ts';
import { NewerEvent } from '../events/newer.ts';
import { Conflict, StreamDeleted, TooLarge, Unavailable } from '../events/store.ts';
import { UnreadableEvent } from '../events/unreadable.ts';
import { fullDisk, fullDiskIn } from '../shared/load/full-disks.ts';
import { Refusal, tablesMissing, unavailable } from '../shared/refusal.ts';

/**
 * Returns the refusal that a client gets for an error. A refusal with a `cause` is logged together with the cause, because an
 * operator has to act.
 * @returns undefined if the error is a fault of the service
 */
export function toRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof TooLarge) {
    return new Refusal('too_large', {
      code: 'too-long',
      diagnostics: `the request writes ${error.bytes} bytes; the limit of one request is ${error.limit}`,
    });
  }
  if (error instanceof StreamDeleted) {
    return new Refusal('not_found', { code: 'not-found', diagnostics: "the record doesn't exist" });
  }
  const disk = fullDiskIn(error);
  if (disk !== undefined) return Object.assign(unavailable(fullDisk(disk), 60), { cause: error });
  if (error instanceof Conflict)
    return unavailable('other requests are writing this record; retry in a second');
  if (error instanceof NewerEvent) return Object.assign(unavailable(error.summary), { cause: error });
  if (error instanceof UnreadableEvent) return Object.assign(unavailable(UNREADABLE, 60), { cause: error });
  if (error instanceof KeyFault) return Object.assign(unavailable(KEY_FAULT, 60), { cause: error });
  if (error instanceof Unavailable) return unavailable('the event store is unavailable; retry in a second');
  if (isDatabaseAway(error)) return unavailable('the database is unavailable; retry in a second');
  if (isTableMissing(error)) return tablesMissing([]);
  if (isUnstorable(error)) {
    return new Refusal('malformed', {
      code: 'value',
      diagnostics: 'a text in the request contains a NUL character',
    });
  }
  return undefined;
}

/** The message doesn't name the event, because it may go to someone who can't see the event's record. */
const UNREADABLE =
  'an event in the log cannot be read, so this cannot be answered; an operator must run annal verify, which names the event';

/** The message doesn't name the file; the service's log does. */
const KEY_FAULT =
  'the key that signs exports and checkpoints cannot be used; an operator must correct AUDIT_KEY_FILE, or the key in DATA_DIR';

/**
 * SQLSTATE classes: connection exceptions, insufficient resources, operator intervention (shutdown, crash, statement timeout).
 * 08P01 (protocol violation) is excluded: it means that our message was wrong, so a retry would fail too.
 */
const AWAY = /^(?:08(?!P01)|53|57P|57014)/;
const SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
]);
/** Messages from pg that have no code: a connection ended, couldn't be opened, or didn't respond. */
const ENDED =
  /^(?:Connection terminated|timeout (?:expired|exceeded when trying to connect)|Query read timeout|Client (?:has encountered a connection|was closed))/;

function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (typeof code !== 'string') return ENDED.test(error.message);
  return (
    AWAY.test(code) ||
    (SOCKET.has(code) && (syscall === 'connect' || syscall === 'read' || syscall === 'write'))
  );
}

/**
 * Returns true if the database rejected a NUL character, literal or as a JSON escape, because its text types can't store it.
 */
function isUnstorable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '22021' || error.code === '22P05');
}
