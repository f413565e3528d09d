/**
 * Texts of a record as contexts under a grant use them. The comparisons, order, cuts and counts of a context could
 * otherwise reveal digits of ids that the application isn't shown (docs/spec/decisions.md, section 1). Pure.
 */
import { withoutIds } from '#src/fhir/search/text.ts';
import type { Authorship } from './compose.ts';
import type { ContextRequest } from './request.ts';

const REFERENCES = /("reference":"(?:[^"\\]|\\.)*")/;

/** Returns a resource's compact JSON whose texts have zeros in place of ids; references stay as they are. */
export function maskedBody(body: string): string {
  return body
    .split(REFERENCES)
    .map((part, n) => (n % 2 === 1 ? part : withoutIds(part)))
    .join('');
}

/** Returns a request with masked texts. */
export function maskedRequest(ask: ContextRequest): ContextRequest {
  const { task, question, needs } = ask;
  return {
    ...ask,
    ...(task === undefined ? {} : { task: withoutIds(task) }),
    ...(question === undefined ? {} : { question: withoutIds(question) }),
    needs: needs.map(withoutIds),
  };
}

/** Returns an author with a masked source system, because contexts name it. */
export function maskedAuthorship(of: Authorship): Authorship {
  return { ...of, source: of.source === null ? null : withoutIds(of.source) };
}
