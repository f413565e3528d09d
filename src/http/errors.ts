/** Every error becomes an answer here: refusals by their catalogue, faults of ours as 500 without a word of their cause. */
import { isTableMissing } from '#src/database/failure.ts';
import { NewerEvent } from '#src/events/newer.ts';
import { Conflict, StreamDeleted, TooLarge, Unavailable } from '#src/events/store.ts';
import { operationOutcome } from '#src/fhir/outcome.ts';
import { Refusal, STATUS_OF, tablesMissing, unavailable } from '#src/shared/refusal.ts';
import { type Answer, FHIR_JSON } from './answer.ts';
import { docUrl } from './error-texts.ts';

/**
 * What a caller is told of an error. Errors of the event store's port and a database that is away have their refusals;
 * undefined for a fault of ours.
 */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof TooLarge) {
    return new Refusal('too_large', {
      code: 'too-long',
      diagnostics: `what one request writes may be ${error.limit} bytes at most; this is ${error.bytes}`,
    });
  }
  if (error instanceof StreamDeleted) {
    return new Refusal('not_found', { code: 'not-found', diagnostics: "the record doesn't exist" });
  }
  if (error instanceof Conflict) return unavailable('the record is being written by others; try again');
  if (error instanceof NewerEvent) return unavailable(error.summary);
  if (error instanceof Unavailable) return unavailable('the event store is not available');
  if (isDatabaseAway(error)) return unavailable('the database is not available');
  if (isTableMissing(error)) return tablesMissing([]);
  if (isUnstorable(error)) {
    return new Refusal('malformed', {
      code: 'value',
      diagnostics: 'a text of the request holds a NUL character',
    });
  }
  return undefined;
}

/** The refusal of a fault of ours: it names nothing but itself. */
export function internalError(): Refusal {
  return new Refusal('internal', {
    code: 'exception',
    diagnostics: 'the service failed; the fault is logged',
  });
}

/**
 * SQLSTATE classes: connection exceptions, insufficient resources, operator intervention (shutdown, crash, a statement's time over). Not 08P01,
 * protocol violation: what we sent was wrong, and is so the next time.
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
/** What pg says without a code when a connection ends, none comes, or no answer does. */
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

/** Whether the database was asked about a NUL character, as such or as JSON's escape, which no text there can hold. */
function isUnstorable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '22021' || error.code === '22P05');
}

/** The answer of a refusal on the FHIR interface: an OperationOutcome. */
export function fhirError(refusal: Refusal): Answer {
  return {
    status: refusal.status,
    headers: { 'Content-Type': FHIR_JSON, ...refusal.headers },
    body: operationOutcome(refusal.issues),
  };
}

/** The name of a refusal where no FHIR is spoken; a deleted resource is simply not found there (docs/spec/decisions.md, section 2). */
function errorType(refusal: Refusal): string {
  return refusal.kind === 'gone' ? 'not_found' : refusal.kind;
}

/** Headers whose persons and organizations are looked up. */
const NAMING = new Set([
  'http.x-service-acting-as',
  'http.x-service-author-ref',
  'http.x-service-on-behalf-of',
]);

/**
 * The answer of a refusal where no FHIR is spoken. Whom the author headers name is refused by an OperationOutcome there, too
 * (docs/spec/decisions.md, section 2).
 */
export function apiError(refusal: Refusal, requestId: string, baseUrl: string): Answer {
  const aboutAuthors =
    refusal.kind === 'invalid' && refusal.issues.some(({ expression }) => NAMING.has(expression ?? ''));
  return aboutAuthors ? fhirError(refusal) : jsonError(refusal, requestId, baseUrl);
}

/** R4 names headers `http.<name>` in an expression; elsewhere they are `header.<name>`. */
function fieldOf(expression: string): string {
  return expression.startsWith('http.') ? `header.${expression.slice(5)}` : expression;
}

/** An error object: `{"error": {type, message, field?, errors?, request_id, doc_url}}`. */
export function jsonError(refusal: Refusal, requestId: string, baseUrl: string): Answer {
  const fields = refusal.issues.flatMap(({ expression, code, diagnostics }) =>
    expression === undefined ? [] : [{ field: fieldOf(expression), code, message: diagnostics }],
  );
  const [first] = fields;
  const more = refusal.issues.find(({ unlisted }) => unlisted !== undefined);
  const error = {
    type: errorType(refusal),
    message: more === undefined ? refusal.message : `${refusal.message} (${more.diagnostics})`,
    ...(first === undefined ? {} : { field: first.field, errors: fields }),
    request_id: requestId,
    doc_url: docUrl(baseUrl, errorType(refusal)),
  };
  return {
    status: refusal.kind === 'gone' ? STATUS_OF.not_found : refusal.status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...refusal.headers },
    body: JSON.stringify({ error }),
  };
}
