/** Finds the resource that a PUT, PATCH or DELETE changes, and handles the parameters of writes that aren't criteria. */
import type { Target } from '#commands/commands.ts';
import { cut } from '#src/shared/cut.ts';
import { methodNotAllowed } from '#src/shared/method-not-allowed.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { FhirRequest } from './request.ts';

/** General parameters (https://hl7.org/fhir/R4/http.html#parameters); writes ignore the last two. */
const GENERAL = ['_format', '_pretty', '_summary', '_elements'];
/** URL parameters that aren't criteria. */
const NOT_CRITERIA = new Set(['_format', '_pretty']);
const PURGE = '_purge';

/**
 * Returns the id in the URL, or the criteria in its query.
 * @throws Refusal method_not_allowed (405) if there is neither, because a whole type can't be changed
 */
export function readTarget({ query }: Pick<FhirRequest, 'query'>, id: string | undefined): Target {
  if (id !== undefined) return { id };
  const criteria = new URLSearchParams([...query].filter(([name]) => !NOT_CRITERIA.has(name)));
  if (criteria.size > 0) return { criteria: criteria.toString() };
  throw methodNotAllowed('the URL must have an id or search criteria', 'GET, HEAD, POST, OPTIONS');
}

/**
 * Returns whether a DELETE purges, and the rest of its query.
 * @throws Refusal malformed (400) for a value other than true and false, or for several values
 */
export function readPurge(query: URLSearchParams): {
  readonly purges: boolean;
  readonly rest: URLSearchParams;
} {
  const values = query.getAll(PURGE).filter((value) => value !== '');
  const [value = 'false'] = values;
  if (values.length > 1 || (value !== 'true' && value !== 'false'))
    throw badPurge('_purge must be true or false, once');
  return {
    purges: value === 'true',
    rest: new URLSearchParams([...query].filter(([name]) => name !== PURGE)),
  };
}

/** Returns the refusal (400) for an invalid `_purge`. */
export function badPurge(diagnostics: string): Refusal {
  return new Refusal('malformed', { code: 'value', diagnostics, expression: `query.${PURGE}` });
}

/**
 * Refuses parameters that a write without criteria doesn't accept. A DELETE with such parameters is always refused, because it
 * would be a plain delete where a purge was meant; other writes are refused with `Prefer: handling=strict`
 * (https://hl7.org/fhir/R4/search.html#errors).
 * @throws Refusal malformed (400), which names the parameters and the nearest known ones
 */
export function refuseUnknown(
  method: string,
  { query, prefer }: Pick<FhirRequest, 'query' | 'prefer'>,
): void {
  if (method !== 'DELETE' && prefer.handling !== 'strict') return;
  const known = method === 'DELETE' ? [...GENERAL, PURGE] : GENERAL;
  const unknown = [...new Set(query.keys())].filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new Refusal(
    'malformed',
    unknown
      .filter((_, at) => at < MOST)
      .map((name) => ({
        code: 'not-supported',
        diagnostics: `unknown parameter ${cut(name, 100)} of a ${method}${didYouMean(name, known) || `; its parameters are ${known.join(', ')}`}`,
        expression: `query.${cut(name, 100)}`,
      })),
  );
}

/** Maximum number of unknown parameters listed in a refusal. */
const MOST = 20;
