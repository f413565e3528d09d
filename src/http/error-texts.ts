/**
 * Describes the errors of all interfaces in words, for the OpenAPI document and the page about errors (docs/spec/decisions.md,
 * section 2).
 */

/** A kind of error. */
export interface DescribedError {
  readonly status: number;
  /** `error.type` in the JSON interfaces. */
  readonly type: string;
  readonly meaning: string;
  /** Advice for the client. */
  readonly advice: string;
}

/** Errors by status. */
export const ERRORS: readonly DescribedError[] = [
  {
    status: 400,
    type: 'malformed',
    meaning:
      'The request is malformed: the body is not a JSON object, an object has a key twice, there are two different credentials, or the percent-encoding is invalid.',
    advice: 'Correct the request. The same request will fail again.',
  },
  {
    status: 401,
    type: 'unauthenticated',
    meaning: 'The credential is missing, unknown, expired or revoked.',
    advice:
      'Send `Authorization: Bearer` with an API key (FHIR interface and `/v1`) or an ID token (`/admin` and `/me`).',
  },
  {
    status: 403,
    type: 'forbidden',
    meaning:
      'The credential is valid, but isn’t allowed to do this, or this interface doesn’t accept its kind.',
    advice:
      'Use a credential of the kind or with the scope that the message names, or ask an owner of the organization.',
  },
  {
    status: 404,
    type: 'not_found',
    meaning:
      'Nothing exists at this URL, or it belongs to another project. Both cases return the same answer.',
    advice: 'Check the id, and check that the credential belongs to the same project and environment.',
  },
  {
    status: 405,
    type: 'method_not_allowed',
    meaning: 'The URL does not support this method.',
    advice: 'The message and the header `Allow` list the supported methods.',
  },
  {
    status: 406,
    type: 'not_acceptable',
    meaning: 'The service supports none of the formats that `Accept` or `_format` asks for.',
    advice: 'Accept `application/json`, or `application/fhir+json` on the FHIR interface.',
  },
  {
    status: 409,
    type: 'conflict',
    meaning:
      'The request conflicts with the current state. Or the first request with this Idempotency-Key is still running after this one waited up to ten seconds.',
    advice:
      'If the answer has `Retry-After`, retry after that many seconds; otherwise read the current state first.',
  },
  {
    status: 410,
    type: 'gone',
    meaning:
      'The resource was deleted. Only the FHIR interface returns this; the other interfaces return `not_found`.',
    advice: 'Its history is still available.',
  },
  {
    status: 412,
    type: 'precondition_failed',
    meaning:
      'A condition of the request failed: `If-Match` is stale, or criteria that must match one resource match several.',
    advice: 'Read the current version, apply the change to it, and retry.',
  },
  {
    status: 413,
    type: 'too_large',
    meaning:
      'The body, the events that it would write, or the answer exceeds the limit that the message names.',
    advice: 'Split the request, or ask for less at a time.',
  },
  {
    status: 415,
    type: 'unsupported_media_type',
    meaning: 'The `Content-Type` or `Content-Encoding` of the body is not supported.',
    advice: 'The header `Accept` of the answer lists the supported types.',
  },
  {
    status: 422,
    type: 'invalid',
    meaning:
      'The request is well-formed, but some inputs are invalid. `errors` lists each invalid input with its place.',
    advice: 'Correct each of them. The same request will fail again.',
  },
  {
    status: 429,
    type: 'throttled',
    meaning:
      'The API key or client address has reached its limit of requests per minute, or too many sandboxes are waiting to be filled.',
    advice: 'Retry after `Retry-After` seconds; `RateLimit` shows how many requests are left.',
  },
  {
    status: 500,
    type: 'internal',
    meaning: 'The service failed. The change may have been saved.',
    advice: 'Retry a POST with the same Idempotency-Key, and report the `request_id` to the operator.',
  },
  {
    status: 503,
    type: 'unavailable',
    meaning: 'A part of the service is unavailable or catching up. No change was saved partially.',
    advice: 'Retry after `Retry-After` seconds; retry a POST with the same Idempotency-Key.',
  },
];

/**
 * Returns the URL that explains an error type.
 * @param baseUrl the service's URL, without a trailing slash
 */
export function docUrl(baseUrl: string, type: string): string {
  return `${baseUrl}/docs/errors#${type}`;
}
