/** Turns refusals into responses. Internal errors return 500 without details. */
import { operationOutcome } from '#src/fhir/outcome.ts';
import { Refusal, STATUS_OF } from '#src/shared/refusal.ts';
import { type Answer, FHIR_JSON } from './answer/answer.ts';
import { docUrl } from './error-texts.ts';

/** Returns the refusal for an internal error, without details. */
export function internalError(): Refusal {
  return new Refusal('internal', {
    code: 'exception',
    diagnostics: 'internal error; the service logged it under the request id in Service-Request-Id',
  });
}

/** Returns a refusal as an OperationOutcome for the FHIR interface. */
export function fhirError(refusal: Refusal): Answer {
  return {
    status: refusal.status,
    headers: { 'Content-Type': FHIR_JSON, ...refusal.headers },
    body: operationOutcome(refusal.issues),
  };
}

/**
 * Returns a refusal's error type outside FHIR, where a deleted resource is treated as not found (docs/spec/decisions.md,
 * section 2).
 */
function errorType(refusal: Refusal): string {
  return refusal.kind === 'gone' ? 'not_found' : refusal.kind;
}

/** Headers that name people or organizations. */
const NAMING = new Set([
  'http.x-service-acting-as',
  'http.x-service-author-ref',
  'http.x-service-on-behalf-of',
]);

/**
 * Returns the response for a refusal outside FHIR. Faults in author headers are reported as an OperationOutcome even outside
 * FHIR (docs/spec/decisions.md, section 2).
 */
export function apiError(refusal: Refusal, requestId: string, baseUrl: string): Answer {
  const aboutAuthors =
    refusal.kind === 'invalid' && refusal.issues.some(({ expression }) => NAMING.has(expression ?? ''));
  return aboutAuthors ? fhirError(refusal) : jsonError(refusal, requestId, baseUrl);
}

/** Returns the field that an expression refers to: R4 names headers `http.<name>`, other interfaces `header.<name>`. */
function toField(expression: string): string {
  return expression.startsWith('http.') ? `header.${expression.slice(5)}` : expression;
}

/** Maximum number of a refusal's fields that the request log lists, and the form that names in our interfaces can have. */
const LOGGED_FIELDS = 20;
const NAMEABLE = /^(?:[\w.[\]-]|\.ofType\(\w+\)){1,100}$/;

/**
 * Returns a refusal for the request log: `{type, fields: [{field, code}]}` as JSON. The message is left out because it may
 * quote the request. Names that the client made up are replaced by `…`.
 */
export function describeError(refusal: Refusal): string {
  const fields = refusal.issues.flatMap(({ expression, code }, n) => {
    if (expression === undefined || n >= LOGGED_FIELDS) return [];
    const field = toField(expression);
    return [{ field: NAMEABLE.test(field) ? field : '…', code }];
  });
  return JSON.stringify({ type: errorType(refusal), fields });
}

/** Returns an error object: `{"error": {type, message, field?, errors?, request_id, doc_url}}`. */
export function jsonError(refusal: Refusal, requestId: string, baseUrl: string): Answer {
  const fields = refusal.issues.flatMap(({ expression, code, diagnostics }) =>
    expression === undefined ? [] : [{ field: toField(expression), code, message: diagnostics }],
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
