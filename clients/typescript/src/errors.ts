/** The client's errors. Each is an `AnnalError`. */

/** The type of a response's error: docs/api.md, "Errors". */
export type ErrorType =
  | 'malformed'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'conflict'
  | 'precondition_failed'
  | 'too_large'
  | 'unsupported_media_type'
  | 'invalid'
  | 'throttled'
  | 'internal'
  | 'unavailable';

/** An input that the service rejected. */
export interface FieldError {
  /** A dotted path into the body, or `query.`, `path.` or `header.` followed by a name; for FHIR, the element's path. */
  readonly field: string;
  /** A code from FHIR's issue types. */
  readonly code: string;
  readonly message: string;
}

/** The base class of all the client's errors. If your own signal aborts a request, the signal's reason is thrown instead. */
export class AnnalError extends Error {
  override readonly name: string = 'AnnalError';
}

/** The service returned an error. */
export class ApiError extends AnnalError {
  override readonly name: string = 'ApiError';
  readonly status: number;
  readonly type: ErrorType;
  /** Every input that is invalid. */
  readonly fields: readonly FieldError[];
  /** `Service-Request-Id`, for support. */
  readonly requestId: string;
  readonly docUrl: string | undefined;
  /** Seconds to wait, if the service specified them. */
  readonly retryAfter: number | undefined;
  readonly headers: Headers;
  /** The body as received. */
  readonly text: string;

  constructor(status: number, headers: Headers, text: string) {
    const found = readBody(text);
    super(found.message || `the service answered ${status}`);
    this.status = status;
    this.type = found.type ?? TYPES[status] ?? (status < 500 ? 'invalid' : 'internal');
    this.fields = found.fields;
    this.requestId = headers.get('Service-Request-Id') ?? '';
    this.docUrl = found.docUrl;
    this.retryAfter = readRetryAfter(headers);
    this.headers = headers;
    this.text = text;
  }
}

/**
 * No response arrived, so a write may or may not have been carried out. Repeating the write is safe only with the same
 * Idempotency-Key.
 */
export class ConnectionError extends AnnalError {
  override readonly name: string = 'ConnectionError';
}

/** No response arrived in time. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}

/** The authorization server refused, or the person denied access: RFC 6749, sections 4.1.2.1 and 5.2. */
export class OAuthError extends AnnalError {
  override readonly name = 'OAuthError';
  /** Such as `access_denied` or `invalid_grant`. */
  readonly error: string;
  readonly status: number;
  readonly requestId: string;

  constructor(error: string, description: string, status = 0, requestId = '') {
    super(description === '' ? error : description);
    this.error = error;
    this.status = status;
    this.requestId = requestId;
  }
}

/** A webhook delivery isn't genuine, or is too old. */
export class WebhookError extends AnnalError {
  override readonly name = 'WebhookError';
}

const TYPES: Readonly<Record<number, ErrorType>> = {
  400: 'malformed',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  409: 'conflict',
  410: 'not_found',
  412: 'precondition_failed',
  413: 'too_large',
  415: 'unsupported_media_type',
  422: 'invalid',
  429: 'throttled',
  503: 'unavailable',
};

/** Returns the number of seconds in `Retry-After`; undefined without the header. */
export function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('Retry-After');
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** Reads an error's body. It may come from a proxy and have a different form: nothing about it is certain. */
function readBody(text: string) {
  let body: Loose = {};
  try {
    body = asObject(JSON.parse(text));
  } catch {
    // It isn't JSON.
  }
  const error = asObject(body.error);
  const issues = asList(body.issue).map(({ code, diagnostics, details, expression, location }) => ({
    field: asText(asTexts(expression)[0] ?? asTexts(location)[0]) ?? '',
    code: asText(code) ?? '',
    message: asText(diagnostics) ?? asText(asObject(details).text) ?? '',
  }));
  return {
    type: asText(error.type) as ErrorType | undefined,
    message: asText(error.message) ?? issues[0]?.message,
    fields: Array.isArray(error.errors)
      ? (asList(error.errors) as unknown as FieldError[])
      : issues.filter(({ field }) => field !== ''),
    docUrl: asText(error.doc_url),
  };
}

type Loose = Readonly<Record<string, unknown>>;

const asObject = (value: unknown): Loose => Object(value) as Loose;
const asTexts = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const asList = (value: unknown): readonly Loose[] => asTexts(value).map(asObject);
const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
