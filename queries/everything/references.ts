/** Which directory entries resources refer to, told from their texts. */
import { parseReference } from '#src/fhir/references.ts';
import { typeEntry } from '#src/fhir/types.ts';
import { isUuid } from '#src/shared/ids.ts';

/** How a literal reference begins in a stored text: they are printed without blanks, and no string holds a bare quote. */
const REFERENCE = Buffer.from('"reference":"');
const QUOTE = 0x22;

/**
 * The ids of directory entries that some resources name, contained ones included.
 * @param rows their FHIR JSON as it is stored.
 * @param bases our FHIR bases, slash at their ends.
 */
export function idsIn(rows: readonly { readonly body: Buffer }[], bases: readonly string[]): Set<string> {
  const references = new Set<string>();
  for (const { body } of rows) addReferences(body, references);
  const ids = new Set<string>();
  for (const reference of references) {
    const parsed = parseReference(reference, bases);
    if (parsed.kind !== 'local' || !isUuid(parsed.id)) continue;
    const { home } = typeEntry(parsed.type);
    if (home === 'directory' || home === 'either') ids.add(parsed.id);
  }
  return ids;
}

function addReferences(body: Buffer, references: Set<string>): void {
  for (let at = body.indexOf(REFERENCE); at >= 0; at = body.indexOf(REFERENCE, at)) {
    const start = at + REFERENCE.length;
    at = body.indexOf(QUOTE, start);
    references.add(body.toString('latin1', start, at));
  }
}
