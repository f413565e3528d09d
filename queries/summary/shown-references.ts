/**
 * Removes references to other records from a summary's rows. This has to happen first, because a summary turns references to
 * resources that it doesn't contain into identifiers (docs/spec/decisions.md, section 1).
 */
import { withoutHidden } from '#src/clinical/summary/hidden-references.ts';
import type { Stored } from '#src/clinical/summary/source.ts';
import { parseReference } from '#src/fhir/references/references.ts';
import type { Asks } from '../database/prepared.ts';
import { referableIn } from '../search/referable.ts';
import type { Seeing } from '../sight.ts';

const REFERENCE = /"reference":"([^"\\]*)"/g;

/**
 * Returns rows as a caller may see them: under a grant, rows with references to other records are replaced.
 * @param hidden receives these references, with the types that they name
 */
export async function withShownReferences(
  database: Asks,
  sees: Seeing,
  rows: readonly Stored[],
  base: string,
  hidden: Map<string, string>,
): Promise<readonly Stored[]> {
  const { ownerId, within } = sees;
  if (within === undefined) return rows;
  const all = new Set(rows.flatMap(({ body }) => [...body.matchAll(REFERENCE)].map(([, of = '']) => of)));
  const referable = await referableIn(database, ownerId, within, [...all].join(' '));
  for (const reference of all) {
    const parsed = parseReference(reference, [base]);
    if (parsed.kind === 'local' && referable(parsed.type, parsed.id) === false)
      hidden.set(reference, parsed.type);
  }
  return withoutHidden(rows, hidden);
}
