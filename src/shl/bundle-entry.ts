/**
 * Creates an entry in `everything` that is itself a Bundle of versions, so that an application that reads the outer Bundle
 * doesn't take any of these versions for a fact.
 */
import { codesIn, withNamedCodings } from '../clinical/summary/named-codings.ts';
import type { Terminology } from '../terminology/terminology.ts';

/** The parts of such an entry that are the same for all entries. */
export interface BundleFrame {
  readonly displays: Terminology['displays'];
  /** The FHIR base URL with its trailing slash. */
  readonly base: string;
  readonly newId: () => string;
}

/** A version of a resource, as JSON text. */
export interface BundledVersion {
  readonly type: string;
  readonly id: string;
  readonly body: string;
}

/**
 * Yields the entry's JSON text in pieces, with names of codes; yields nothing if there are no versions.
 * @param parts the versions, a few at a time
 * @param meta returns the Bundle's member `meta` as JSON text, given the number of versions in the Bundle
 */
export async function* bundleEntry(
  { displays, base, newId }: BundleFrame,
  parts: AsyncIterable<readonly BundledVersion[]>,
  meta: (count: number) => string,
): AsyncGenerator<string, undefined> {
  let count = 0;
  for await (const part of parts) {
    const names = await displays(part.flatMap(({ body }) => codesIn(body)));
    for (const { type, id, body } of part) {
      yield count === 0
        ? `{"fullUrl":"urn:uuid:${newId()}","resource":{"resourceType":"Bundle","type":"collection","entry":[`
        : ',';
      yield `{"fullUrl":"${base}${type}/${id}","resource":${withNamedCodings(body, names)}}`;
      count += 1;
    }
  }
  if (count > 0) yield `],${meta(count)}}}`;
}
