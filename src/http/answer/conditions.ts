/**
 * Checks the conditions on writes: `If-Match` and `If-None-Match`. A write must not ignore a condition that was sent with it:
 * RFC 9110, sections 13.1.1 and 13.1.2.
 */
import { type IfMatch, parseETag } from '#src/fhir/bundle.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Header } from './authorship.ts';

/**
 * Returns the version named in `If-Match`.
 * @throws Refusal malformed (400) if the header isn't an ETag
 */
export function readIfMatch(header: Header): IfMatch | undefined {
  const text = header('if-match');
  return text === undefined ? undefined : parseETag(text);
}

/** The conditions that a write accepts. */
export interface TakenConditions {
  readonly ifMatch: boolean;
  /** A sentence that says what to send instead of `If-None-Match`. */
  readonly instead: string;
}

/**
 * Refuses a write that has a condition that it doesn't accept.
 * @throws Refusal malformed (400)
 */
export function refuseConditions(header: Header, { ifMatch, instead }: TakenConditions): void {
  if (header('if-none-match') !== undefined)
    throw untaken('If-None-Match', `is supported for reads only; ${instead}`);
  if (!ifMatch && header('if-match') !== undefined)
    throw untaken('If-Match', 'is supported only for writes that change one resource; leave it out');
}

function untaken(name: string, text: string): Refusal {
  return new Refusal('malformed', {
    code: 'not-supported',
    diagnostics: `${name} ${text}`,
    expression: `http.${name.toLowerCase()}`,
  });
}
