/** The resource in a request's body. */

import type { SubmittedResource } from '#commands/command.ts';
import { withArticle } from '#src/shared/article.ts';
import { cut } from '#src/shared/cut.ts';
import { isObject, type ParsedJson, parseInParts, parseJson } from '#src/shared/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { inSlices } from '#src/shared/slices.ts';
import { type RawBody, textOf } from '../body.ts';

/** Length from which a resource is parsed in slices, in bytes. */
const LONG = 200_000;

/** Parses a body, and exchanges its ids under a grant. @throws Refusal malformed (400) for bad JSON or UTF-8 */
export function parseBody(body: RawBody | undefined): ParsedJson {
  if (body === undefined) throw malformed('required', 'the request has no body');
  const { edge } = body;
  if (edge === undefined) return parseJson(textOf(body));
  const { value, exact } = edge.refusing(() => parseJson(textOf(body)));
  return { value: edge.json(value), exact };
}

/** Parses a long body, such as that of a Bundle, letting others have the event loop. @throws Refusal as of `parseBody` */
export async function parseLongBody(body: RawBody | undefined): Promise<ParsedJson> {
  if (body === undefined) throw malformed('required', 'the request has no body');
  const { edge } = body;
  const parsing = () => inSlices(parseInParts(textOf(body)));
  if (edge === undefined) return parsing();
  const { value, exact } = await edge.refusingLater(parsing);
  return { value: await edge.jsonInSlices(value), exact };
}

/**
 * Parses the resource in a body.
 * @param type in the URL
 * @throws Refusal malformed (400) for invalid JSON, anything but an object, and a type other than the URL's
 */
export async function parseResource(body: RawBody | undefined, type: string): Promise<SubmittedResource> {
  const isLong = body !== undefined && body.bytes.length > LONG;
  const { value, exact } = isLong ? await parseLongBody(body) : parseBody(body);
  if (!isObject(value)) throw malformed('structure', 'the body must be a JSON object');
  const { resourceType } = value;
  if (typeof resourceType !== 'string') {
    throw malformed('required', 'the body has no resourceType', `${type}.resourceType`);
  }
  if (resourceType !== type) {
    const shown = cut(resourceType, 64);
    throw malformed(
      'value',
      `the body is ${withArticle(shown)}, but the URL names ${type}`,
      `${type}.resourceType`,
    );
  }
  return { value, exact };
}

function malformed(
  code: 'required' | 'structure' | 'value',
  diagnostics: string,
  expression?: string,
): Refusal {
  return new Refusal('malformed', { code, diagnostics, ...(expression === undefined ? {} : { expression }) });
}
