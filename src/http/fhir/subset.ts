/** Handles a request's `_summary` and `_elements`: https://hl7.org/fhir/R4/search.html#summary. They also apply to reads. */

import type { CurrentResource } from '#queries/read.ts';
import { badParameter } from '#queries/search/raw.ts';
import { parseShape } from '#queries/search/shape.ts';
import { type Subset, takeSubset } from '#src/fhir/summary.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { isObject, parseJson, printJson } from '#src/shared/json/json.ts';
import type { Answer } from '../answer/answer.ts';

/** Returns the JSON text of the requested part of a resource; decimals keep all their digits. */
export function cut(
  { type, body }: Pick<CurrentResource, 'type'> & { readonly body: string | Buffer },
  subset: Subset,
): string | Buffer {
  const { value, exact } = parseJson(body.toString());
  return isObject(value) ? printJson(takeSubset(value, type, subset), exact) : body;
}

/**
 * Returns a read's response with the requested part of its resource.
 * @throws Refusal malformed (400) in the same cases as `parseShape`, and for `_summary=count`, because there is nothing to
 *   count
 */
export async function answerCut(
  query: URLSearchParams,
  type: ResourceType,
  read: () => Promise<Answer>,
): Promise<Answer> {
  const { subset, onlyTotal } = parseShape(query, [type]);
  if (onlyTotal)
    throw badParameter('_summary', '_summary=count is supported for searches and histories only');
  const answer = await read();
  if (answer.body === undefined || subset === undefined) return answer;
  return { ...answer, body: cut({ type, body: answer.body }, subset) };
}
