/** The parts that the descriptions of `/oauth` and of the discovery documents share. */
import type { Part } from './schemas.ts';

/** The header that every answer has. */
export const REQUEST_ID = { 'Service-Request-Id': { $ref: '#/components/headers/Service-Request-Id' } };
/** Schemas of a text, of several, and of an address. */
export const TEXT = { type: 'string' };
export const URL = { type: 'string', format: 'uri' };
export const TEXTS = { type: 'array', items: TEXT };
/** The group of all of these operations. */
export const TAG = 'OAuth';

/** Returns the description of an answer in JSON. */
export function json(description: string, schema: Part, type = 'application/json'): Part {
  return { description, headers: REQUEST_ID, content: { [type]: { schema } } };
}

/** The schema of an error. */
export const ERROR = {
  type: 'object',
  description: 'RFC 6749, section 5.2.',
  properties: { error: TEXT, error_description: TEXT },
  required: ['error', 'error_description'],
  additionalProperties: false,
};

/** Descriptions of errors, by status. */
export const ERRORS = {
  400: json('The request, the code or the refresh token is invalid: `error` says which', ERROR),
  401: json('`invalid_client`: client authentication failed', ERROR),
  405: json('Another method', ERROR),
  413: json('The form is too long', ERROR),
  415: json('The body is not a form', ERROR),
  429: json('Too many requests, or too many failed authentications; see `Retry-After`', ERROR),
  500: json('`server_error`', ERROR),
  503: json('`temporarily_unavailable`; see `Retry-After`', ERROR),
};
