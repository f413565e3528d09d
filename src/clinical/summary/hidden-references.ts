/** Removes from a summary's rows the references that the reader may not see. */
import { inSlices } from '#src/shared/load/slices.ts';
import { withoutReferences } from '../../fhir/references/reference-edits.ts';
import type { Stored } from './source.ts';

/**
 * Returns rows without hidden references; a row that has such a reference is replaced.
 * @param hidden the hidden references, with the types that they name
 */
export async function withoutHidden(
  rows: readonly Stored[],
  hidden: ReadonlyMap<string, string>,
): Promise<readonly Stored[]> {
  if (hidden.size === 0) return rows;
  const marks = [...hidden.keys()].map((reference) => `"reference":"${reference}"`);
  return Promise.all(
    rows.map(async (row): Promise<Stored> => {
      const { type, id, body } = row;
      if (!marks.some((mark) => body.includes(mark))) return row;
      return {
        type,
        id,
        body: await inSlices(withoutReferences(body, (reference) => hidden.get(reference))),
      };
    }),
  );
}
