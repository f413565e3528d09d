/** Which directory entries resources refer to, told from their texts. */
import { parseReference } from '#src/fhir/references.ts';
import { type ResourceType, TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
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
    if (mayBeInDirectory(parsed.type)) ids.add(parsed.id);
  }
  return ids;
}

/** How the names of the types begin that may be in the directory, and that of an absolute URL. */
const BEGINNINGS: ReadonlySet<number> = new Set(
  [...TYPE_NAMES.filter(mayBeInDirectory), 'http'].map((name) => beginning(Buffer.from(name), 0)),
);

/** The first two bytes of a text: enough to pass over most references, which name the patient or an encounter. */
function beginning(text: Buffer, at: number): number {
  return ((text[at] ?? 0) << 8) | (text[at + 1] ?? 0);
}

function addReferences(body: Buffer, references: Set<string>): void {
  for (let at = body.indexOf(REFERENCE); at >= 0; at = body.indexOf(REFERENCE, at)) {
    const start = at + REFERENCE.length;
    at = start;
    if (!BEGINNINGS.has(beginning(body, start))) continue;
    at = body.indexOf(QUOTE, start);
    references.add(body.toString('latin1', start, at));
  }
}

function mayBeInDirectory(type: ResourceType): boolean {
  const { home } = typeEntry(type);
  return home === 'directory' || home === 'either';
}
