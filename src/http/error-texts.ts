/** The errors of all interfaces, in words: for the OpenAPI document and the page of errors (docs/spec/decisions.md, section 2). */

/** A kind of error. */
export interface DescribedError {
  readonly status: number;
  /** `error.type` on the JSON interfaces. */
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
      'The request cannot be read: a body that is not a JSON object, a key twice in one object, two different credentials, a bad percent-encoding.',
    advice: 'Correct the request; sending it again unchanged fails again.',
  },
  {
    status: 401,
    type: 'unauthenticated',
    meaning:
      'There is no credential, or it is unknown, expired, revoked, or of a kind that this interface does not take.',
    advice:
      'Send `Authorization: Bearer` with an API key on the FHIR interface and below `/v1`, with an ID token below `/admin`.',
  },
  {
    status: 403,
    type: 'forbidden',
    meaning: 'The credential is good, but may not do this.',
    advice: 'Use a key with the scope that the message names, or ask an owner of the organization.',
  },
  {
    status: 404,
    type: 'not_found',
    meaning: 'Nothing exists at this URL, or it belongs to another project: the answer is the same.',
    advice: 'Check the id, and that the credential is of the same project and environment.',
  },
  {
    status: 405,
    type: 'method_not_allowed',
    meaning: 'The URL exists, but not with this method.',
    advice: 'The message and the header `Allow` list the methods that there are.',
  },
  {
    status: 406,
    type: 'not_acceptable',
    meaning: 'Nothing that `Accept` or `_format` asks for is served.',
    advice: 'Accept `application/json`, on the FHIR interface `application/fhir+json`.',
  },
  {
    status: 409,
    type: 'conflict',
    meaning:
      'The request contradicts what is there now; or the first request with this Idempotency-Key still runs, although this one waited up to ten seconds for it.',
    advice: 'With `Retry-After`, send it again then; else read the current state first.',
  },
  {
    status: 410,
    type: 'gone',
    meaning: 'The resource was deleted. On the FHIR interface alone; elsewhere it is not found.',
    advice: 'Its history is still there.',
  },
  {
    status: 412,
    type: 'precondition_failed',
    meaning:
      'A condition of the request does not hold: a stale `If-Match`, or several matches of criteria that must have one.',
    advice: 'Read the current version and decide again.',
  },
  {
    status: 413,
    type: 'too_large',
    meaning: 'The body, what it would write, or the answer is larger than the message says.',
    advice: 'Send it in parts; ask for less at a time.',
  },
  {
    status: 415,
    type: 'unsupported_media_type',
    meaning: 'The body has a `Content-Type` or `Content-Encoding` that is not taken.',
    advice: 'The header `Accept` of the answer lists what is.',
  },
  {
    status: 422,
    type: 'invalid',
    meaning:
      'The request was read, but inputs of it are wrong. Every one is listed in `errors`, by its place.',
    advice: 'Correct each of them; sending it again unchanged fails again.',
  },
  {
    status: 429,
    type: 'throttled',
    meaning:
      'The limit of requests per minute, of the key or of the client address, is reached; or too many sandboxes wait to be filled.',
    advice: 'Wait as many seconds as `Retry-After` says; `RateLimit` shows how many requests are left.',
  },
  {
    status: 500,
    type: 'internal',
    meaning: 'The service failed. Something may have been written.',
    advice: 'Send a POST again with the same Idempotency-Key; tell the operator the `request_id`.',
  },
  {
    status: 503,
    type: 'unavailable',
    meaning: 'A part of the service is away or catching up. Nothing is half-written.',
    advice: 'Send it again after `Retry-After` seconds, a POST with the same Idempotency-Key.',
  },
];

/**
 * Returns the URL that explains an error type.
 * @param baseUrl of the service, without a trailing slash
 */
export function docUrl(baseUrl: string, type: string): string {
  return `${baseUrl}/docs/errors#${type}`;
}
