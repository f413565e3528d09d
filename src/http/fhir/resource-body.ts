/** The resource in a request's body. */
import type { SubmittedResource } from '#commands/command.ts';
import { withArticle } from '#src/shared/article.ts';
import { isObject, type ParsedJson, parseJson } from '#src/shared/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { type RawBody, textOf } from '../body.ts';

/** Parses a body. @throws Refusal malformed (400) for bad JSON or UTF-8 */
export function parseBody(body: RawBody | undefined): ParsedJson {
  if (body === undefined) throw malformed('required', 'the request has no body');
  return parseJson(textOf(body));
}

/**
 * The resource in a body.
 * @param type what the URL names.
 * @throws Refusal malformed (400) for bad JSON, anything but an object, and another type than the URL's.
 */
export function parseResource(body: RawBody | undefined, type: string): SubmittedResource {
  const { value, exact } = parseBody(body);
  if (!isObject(value)) throw malformed('structure', 'the body must be a JSON object');
  const { resourceType } = value;
  if (typeof resourceType !== 'string') {
    throw malformed('required', 'the body has no resourceType', `${type}.resourceType`);
  }
  if (resourceType !== type) {
    const shown = resourceType.slice(0, 64);
    throw malformed(
      'value',
      `the body is ${withArticle(shown)}, the URL names ${type}`,
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
