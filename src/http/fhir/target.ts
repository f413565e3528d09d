/** The resource, and its version, that a PUT, PATCH or DELETE changes. */
import type { Target } from '#commands/commands.ts';
import { methodNotAllowed } from '#src/shared/method-not-allowed.ts';
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
