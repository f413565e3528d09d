/** Which directory entries a resource's text refers to. */
import { parseReference } from '#src/fhir/references.ts';
import { typeEntry } from '#src/fhir/types.ts';
import { isUuid } from '#src/shared/ids.ts';

/** How a literal reference begins in a stored text: they are printed without blanks, and no string holds a bare quote. */
const REFERENCE = Buffer.from('"reference":"');
const QUOTE = 0x22;

/**
 * Adds the ids of directory entries that a text names, contained resources included.
 * @param body FHIR JSON as it is stored.
 * @param bases our FHIR bases, slash at their ends.
 */
export function addDirectoryIds(body: Buffer, bases: readonly string[], ids: Set<string>): void {
  for (let at = body.indexOf(REFERENCE); at >= 0; at = body.indexOf(REFERENCE, at)) {
    const start = at + REFERENCE.length;
    at = body.indexOf(QUOTE, start);
    const parsed = parseReference(body.toString('utf8', start, at), bases);
    if (parsed.kind !== 'local' || !isUuid(parsed.id)) continue;
    const { home } = typeEntry(parsed.type);
    if (home === 'directory' || home === 'either') ids.add(parsed.id);
  }
}

/** The ids of directory entries that some resources name. */
export function idsIn(rows: readonly { readonly body: Buffer }[], bases: readonly string[]): Set<string> {
  const ids = new Set<string>();
  for (const { body } of rows) addDirectoryIds(body, bases, ids);
  return ids;
}
