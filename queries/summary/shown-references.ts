/**
 * Rows of a summary without references into other records. A summary turns references to resources that it doesn't
 * contain into identifiers, so they are left out earlier (docs/spec/decisions.md, section 1).
 */
import type { Stored } from '#src/clinical/summary/source.ts';
import { withoutReferences } from '#src/fhir/references/reference-edits.ts';
import { parseReference } from '#src/fhir/references/references.ts';
import { inSlices } from '#src/shared/load/slices.ts';
import type { Asks } from '../database/prepared.ts';
import { referableIn } from '../search/referable.ts';
import type { Seeing } from '../sight.ts';

const REFERENCE = /"reference":"([^"\\]*)"/g;

/** Returns rows as a caller may see them: under a grant those with such a reference are replaced. */
export async function withShownReferences(
  database: Asks,
  sees: Seeing,
  rows: readonly Stored[],
  base: string,
): Promise<readonly Stored[]> {
  if (sees.within === undefined) return rows;
  const named = rows.map(({ body }) => [...body.matchAll(REFERENCE)].map(([, reference = '']) => reference));
  const all = new Set(named.flat());
  const referable = await referableIn(database, sees, [...all].join(' '));
  const hidden = new Map<string, string>();
  for (const reference of all) {
    const parsed = parseReference(reference, [base]);
    if (parsed.kind === 'local' && referable?.(parsed.type, parsed.id) === false)
      hidden.set(reference, parsed.type);
  }
  if (hidden.size === 0) return rows;
  return Promise.all(
    rows.map(async (row, n): Promise<Stored> => {
      if (named[n]?.some((reference) => hidden.has(reference)) !== true) return row;
      const body = await inSlices(withoutReferences(row.body, (reference) => hidden.get(reference)));
      return { type: row.type, id: row.id, body };
    }),
  );
}
