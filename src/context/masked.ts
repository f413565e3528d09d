/**
 * Masks a record's text for contexts under a grant. Otherwise, the comparisons, the order, the cuts and the counts in a
 * context could reveal digits of ids that the application may not see (docs/spec/decisions.md, section 1). Pure.
 */
import { withoutIds } from '#src/fhir/search/text.ts';
import type { Authorship } from './compose.ts';
import type { ContextRequest } from './request.ts';

const REFERENCES = /("reference":"(?:[^"\\]|\\.)*")/;

/** Returns a resource's compact JSON with the ids in its text replaced by zeros; references stay unchanged. */
export function maskedBody(body: string): string {
  return body
    .split(REFERENCES)
    .map((part, n) => (n % 2 === 1 ? part : withoutIds(part)))
    .join('');
}

/** Returns a request with the ids in its text masked. */
export function maskedRequest(ask: ContextRequest): ContextRequest {
  const { task, question, needs } = ask;
  return {
    ...ask,
    ...(task === undefined ? {} : { task: withoutIds(task) }),
    ...(question === undefined ? {} : { question: withoutIds(question) }),
    needs: needs.map(withoutIds),
  };
}

/** Returns an author with the ids in the source system's name masked, because contexts show this name. */
export function maskedAuthorship(of: Authorship): Authorship {
  return { ...of, source: of.source === null ? null : withoutIds(of.source) };
}
