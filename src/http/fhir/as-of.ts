/** Handles `_asOf`: reads, histories and whole records as of an earlier time (docs/as-of.md). */
import { Refusal } from '#src/shared/refusal.ts';
import { faultOfPast, moveTo } from '../as-of.ts';
import type { FhirRequest } from './request.ts';

/** The parameter. */
export const AS_OF = '_asOf';

const PLACES =
  '_asOf works on reads (Observation/<id>), histories of a resource (Observation/<id>/_history), searches within one record (Patient/<id>/Observation, Observation?patient=<id>), Patient/<id>/$everything and Patient/<id>/$summary';

/**
 * Returns a request's `_asOf`; undefined if it has none.
 * @throws Refusal malformed (400)
 */
export function asOfIn(query: URLSearchParams): string | undefined {
  if (query.size === 0 || !query.has(AS_OF)) return undefined;
  const [text = '', ...others] = query.getAll(AS_OF);
  if (others.length > 0) throw badMoment('must not be repeated');
  // A plus sign that isn't percent-encoded arrives as a blank.
  const said = text.replace(' ', '+');
  const fault = faultOfPast(said);
  if (fault !== undefined) throw badMoment(fault);
  return said;
}

function badMoment(fault: string): Refusal {
  return new Refusal('malformed', {
    code: 'value',
    diagnostics: `${AS_OF} ${fault}`,
    expression: `query.${AS_OF}`,
  });
}

/**
 * Returns a request whose caller reads as of the `_asOf` in its query. Without `_asOf`, returns the request unchanged.
 * @throws Refusal
 */
export async function atItsMoment<Request extends Pick<FhirRequest, 'query' | 'caller'>>(
  request: Request,
): Promise<Request> {
  const text = asOfIn(request.query);
  return text === undefined ? request : { ...request, caller: await moveTo(request.caller, text) };
}

/**
 * Refuses `_asOf` in a request that doesn't support it.
 * @throws Refusal malformed (400)
 */
export function refuseMoment(query: URLSearchParams): void {
  for (const key of query.keys()) if (namesMoment(key)) throw notHere();
}

/** Returns the refusal for `_asOf` in a request that doesn't support it. */
export function notHere(): Refusal {
  return new Refusal('malformed', {
    code: 'not-supported',
    diagnostics: `${AS_OF} doesn't work here; ${PLACES}`,
    expression: `query.${AS_OF}`,
  });
}

/** Returns whether a parameter is `_asOf`, including `_asOf` with a modifier, which it doesn't accept. */
function namesMoment(key: string): boolean {
  return key === AS_OF || key.startsWith(`${AS_OF}:`);
}
