/** A patient's record, chosen for its summary, and the directory entries that it then needs. */
import type { Pool } from 'pg';
import { type Chosen, chooseInSteps, SUMMARIZED_TYPES } from '#src/clinical/summary/choose.ts';
import type { Stored } from '#src/clinical/summary/source.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { AnswerBudget } from '#src/shared/answer-budget.ts';
import type { Caller } from '#src/shared/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { inSlices } from '#src/shared/slices.ts';
import { onConnection } from '../connection.ts';
import { TooManyBytes } from '../copy-out.ts';
import { closure } from '../everything/directory.ts';
import { type EverythingRow, recordRowsBy, sizesOf, withLargeRows } from '../everything/rows.ts';
import type { Queryable } from '../gather.ts';
import { aiVersions } from './ai-versions.ts';
import { type KeptRow, keptRows } from './kept-rows.ts';
import { withShownReferences } from './shown-references.ts';

/** The data that a summary is built from. */
export interface Summarized {
  readonly chosen: Chosen;
  /** Directory entries that it refers to, and those that these refer to. */
  readonly directory: readonly Stored[];
}

/**
 * Reads a record for a caller, and returns the result of `make`; undefined when the Patient doesn't exist, or
 * is deleted. `base` is our FHIR base with its trailing slash. The data stays in memory until `make` has
 * ended; the connection is released before.
 * @param budget of the data: a summary needs all of the record's clinical resources at once.
 * @throws Refusal as `aiVersions` and `AnswerBudget.take`; rethrows errors of `make`.
 */
export type Summarize = (
  caller: Caller,
  patient: string,
  base: string,
  budget: AnswerBudget,
  make: (found: Summarized) => Promise<Buffer>,
) => Promise<Buffer | undefined>;

const READ: ReadonlySet<ResourceType> = new Set<ResourceType>(['Patient', ...SUMMARIZED_TYPES]);

/** More than any record has. */
const ALL = 10_000_000;

/** Opens summaries over a database. */
export function openSummarize(pool: Pool): Summarize {
  return async ({ calls, sees }, id, base, budget, make) => {
    if (!isUuid(id)) return undefined;
    const read = async (database: Queryable): Promise<Summarized | undefined> => {
      const scope = { sees, readBy: calls.projectId, record: id, types: READ };
      const out = (from: Queryable, select: string): Promise<readonly KeptRow[]> =>
        keptRows(from, select, budget.bytesLeft);
      const rows = await recordRowsBy(out, database, scope, { after: undefined, limit: ALL });
      budget.take(
        rows.reduce((sum, { bytes }) => sum + bytes, 0),
        0,
      );
      const [patient, ...record] = await withShownReferences(database, sees, rows, base);
      if (patient?.type !== 'Patient') return undefined;
      const byAi = await aiVersions(database, sees, id);
      const chosen = await inSlices(chooseInSteps({ base, patient, record, byAi }));
      const ids = new Set([...chosen.inDirectory].flatMap((key) => key.split('/')[1] ?? []).filter(isUuid));
      const directory = await closure(database, sees, ids, [base]);
      budget.take(
        sizesOf(directory).reduce((sum, size) => sum + size, 0),
        0,
      );
      return { chosen, directory: (await withLargeRows(database, sees, directory)).map(stored) };
    };
    const found = await onConnection(pool, read).catch((error: unknown) => {
      throw error instanceof TooManyBytes ? budget.exceeded('bytes') : error;
    });
    return found && make(found);
  };
}

function stored({ type, id, body }: EverythingRow): Stored {
  return { type, id, body: body.toString() };
}
