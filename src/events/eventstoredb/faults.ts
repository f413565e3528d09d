/** Translates errors from the client library into errors of the port. */
import {
  AccessDeniedError,
  convertToCommandError,
  ErrorType,
  isCommandError,
  MaxAppendSizeExceededError,
  StreamDeletedError,
} from '@eventstore/db-client';
import { persist as tryAgain } from '../persist.ts';
import { Conflict, InvalidPosition, StreamDeleted, TooLarge, Unavailable } from '../store.ts';

/** Errors that refuse a command permanently. Any other failure may be temporary. */
const FINAL: ReadonlySet<ErrorType> = new Set([
  ErrorType.ACCESS_DENIED,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.STREAM_DELETED,
  ErrorType.UNSUPPORTED,
  ErrorType.WRONG_EXPECTED_VERSION,
]);

/** Errors of the port that give a reason for the refusal, unlike `Unavailable`. */
const ANSWERS = [Conflict, StreamDeleted, TooLarge];
const MISTAKES = [TypeError, RangeError, ReferenceError, SyntaxError];

/** How long calls are retried, in ms; based on elections, which take two seconds or more. */
const PATIENCE_MS = 3_000;

/** Matches the servers' error for a position between two events; this error has no code. */
const INVALID_POSITION = /InvalidPosition|invalid position/;

/**
 * Returns true if an error means that the server is unreachable. The library also throws plain errors when a connection is
 * refused.
 */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error) || INVALID_POSITION.test(error.message)) return false;
  const command = convertToCommandError(error);
  if (isCommandError(command)) return !FINAL.has(command.type);
  return ![...ANSWERS, ...MISTAKES].some((kind) => error instanceof kind);
}

/** Translates an error from the library into an error of the port; returns it unchanged if the port has no equivalent. */
export function translate(error: unknown, stream = ''): unknown {
  if (!(error instanceof Error) || error instanceof Unavailable) return error;
  const command = convertToCommandError(error);
  if (command instanceof StreamDeletedError) return new StreamDeleted(stream);
  if (command instanceof MaxAppendSizeExceededError) {
    return new TooLarge(command.maxAppendSize, command.maxAppendSize);
  }
  if (command instanceof AccessDeniedError) {
    return new Unavailable(
      'EventStoreDB rejected the credentials; check the user and password in EVENTSTORE_URL',
      { cause: error },
    );
  }
  if (INVALID_POSITION.test(error.message)) return new InvalidPosition({ cause: error });
  if (!isAway(error)) return error;
  return new Unavailable(`EventStoreDB does not answer: ${error.message}`, { cause: error });
}

/**
 * Returns the result of `work` if it arrives in time. A late result is discarded, even though it may mean that an append was
 * written.
 * @throws Unavailable after `ms`.
 */
export async function inTime<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unavailable(`EventStoreDB does not answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Retries an operation until it succeeds, or until it fails for a reason other than an unreachable server.
 * @param stream the stream that the operation is about.
 * @throws Unavailable, StreamDeleted, TooLarge; other errors unchanged.
 */
export async function persist<T>(
  attempt: () => Promise<T>,
  { stream, onRetry }: { stream?: string | undefined; onRetry?: (error: unknown) => void } = {},
): Promise<T> {
  try {
    return await tryAgain(attempt, { isAway, onRetry, patience: PATIENCE_MS });
  } catch (error) {
    throw translate(error, stream);
  }
}
