/** The resource, and its version, that a PUT, PATCH or DELETE changes. */
import type { Target } from '#commands/commands.ts';
import { type IfMatch, parseETag } from '#src/fhir/bundle.ts';
import { methodNotAllowed } from '#src/shared/method-not-allowed.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { FhirRequest } from './request.ts';

/** Parameters of a URL that aren't criteria. */
const NOT_CRITERIA = new Set(['_format', '_pretty', '_purge']);

/**
 * Returns the id of the URL, or its query as criteria.
 * @throws Refusal method_not_allowed (405) without either, because a type can't be changed
 */
export function readTarget({ query }: FhirRequest, id: string | undefined): Target {
  if (id !== undefined) return { id };
  const criteria = new URLSearchParams([...query].filter(([name]) => !NOT_CRITERIA.has(name)));
  if (criteria.size > 0) return { criteria: criteria.toString() };
  throw methodNotAllowed('the URL must have an id or search criteria', 'GET, HEAD, POST, OPTIONS');
}

/**
 * Returns the version in `If-Match`.
 * @throws Refusal malformed (400) if it isn't an ETag, or with `If-None-Match`, a condition that writes don't take: RFC 9110,
 *   section 13.1.2, forbids to ignore it
 */
export function ifMatch({ header }: FhirRequest): IfMatch | undefined {
  if (header('if-none-match') !== undefined)
    throw new Refusal('malformed', {
      code: 'not-supported',
      diagnostics:
        'If-None-Match is supported for reads only; to create a resource only if there is none, send If-None-Exist with POST',
      expression: 'http.if-none-match',
    });
  const text = header('if-match');
  return text === undefined ? undefined : parseETag(text);
}
