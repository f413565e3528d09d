/** Answers of refusals; what fails inside the service is answered 500 without a word about its cause. */
import { operationOutcome } from '#src/fhir/outcome.ts';
import { Refusal, STATUS_OF } from '#src/shared/refusal.ts';
import { type Answer, FHIR_JSON } from './answer.ts';
import { docUrl } from './error-texts.ts';

/** The refusal of a fault of ours: it names nothing but itself. */
export function internalError(): Refusal {
  return new Refusal('internal', {
    code: 'exception',
    diagnostics: 'internal error; the service logged it under the request id in Service-Request-Id',
  });
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
