/**
 * Writes log lines: JSON on standard error. Lines about a request have its id; none contains a credential or clinical content.
 */
import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';

/** Members that contain credentials, at any place in a logged object (two levels deep). */
const SECRET = [
  'authorization',
  'cookie',
  '["x-api-key"]',
  '["idempotency-key"]',
  'password',
  'secret',
  'token',
  'sandbox_key',
  'databaseUrl',
  'DATABASE_URL',
];

/**
 * Creates the service's logger. Callers log ids, types, counts and durations, but never a body, a query string or a name.
 * `err` members are written without the data that PostgreSQL and JSON.parse quote.
 * @param destination receives the lines instead of standard error, in tests
 */
export function createLogger(
  level: Config['logLevel'],
  destination: { write(line: string): void } = pino.destination({ fd: 2, sync: false }),
): Logger {
  const redact = SECRET.flatMap((name) => {
    const member = name.startsWith('[') ? name : `.${name}`;
    return [name, `*${member}`, `*.*${member}`];
  });
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redact, censor: '[redacted]' },
      serializers: { err: describeError },
    },
    destination,
  );
}

/** An error in a log line: kind, message and location, without quoted data. */
export interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: LoggedError;
}

/** Describes an error for the log. */
function describeError(error: unknown): LoggedError {
  if (!(error instanceof Error))
    return { type: typeof error, message: 'a value that is not an Error was thrown' };
  const { code } = error as { code?: unknown };
  const message = withoutData(error);
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at '));
  return {
    type: error.name,
    message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(frames === undefined ? {} : { stack: frames.join('\n') }),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

/** PostgreSQL quotes the invalid value (`invalid input syntax for type date: "…"`), and JSON.parse quotes the invalid text. */
function withoutData(error: Error): string {
  if (error instanceof SyntaxError) return 'a text could not be parsed';
  const fromPostgres = 'severity' in error;
  return fromPostgres ? error.message.replace(/: ".*"/s, ': "…"') : error.message;
}
