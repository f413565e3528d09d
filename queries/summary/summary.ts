/**
 * Reads the resources that are chosen for the summary of a patient's record, and the directory entries that these resources
 * need.
 */
import pg, { type Pool } from 'pg';
import {
  type Chosen,
  chooseInSteps,
  type EarlierVersion,
  SUMMARIZED_TYPES,
} from '#src/clinical/summary/choose.ts';
import { earlierVersions, withEarlier } from '#src/clinical/summary/earlier.ts';
import { readVersion, revisedSources, withReplaced } from '#src/clinical/summary/replaced.ts';
import type { Stored } from '#src/clinical/summary/source.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller, Sees } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import { inSlices } from '#src/shared/load/slices.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { onConnection } from '../database/connection.ts';
import { TooManyBytes } from '../database/copy-out.ts';
import type { Queryable } from '../database/gather.ts';
import { closure } from '../everything/directory.ts';
import { type EverythingRow, measureRows, recordRowsBy, withLargeRows } from '../everything/rows.ts';
import { readReplaced } from '../history/replaced-versions.ts';
import { lastChange, readAiVersions } from './ai-versions.ts';
import { type KeptRow, keptRows } from './kept-rows.ts';
import { withShownReferences } from './shown-references.ts';

/** The data from which a summary is generated. */
export interface Summarized {
  readonly chosen: Chosen;
  /** Directory entries that the summary refers to, and the directory entries that these refer to. */
  readonly directory: readonly Stored[];
  /** When the last change that the summary includes was recorded. */
  readonly position: Micros;
  /** References that the caller may not see, with the types that they name. */
  readonly hidden: ReadonlyMap<string, string>;
}

/**
 * Reads a record for a caller, and returns the result of `make`; undefined if the Patient doesn't exist or is deleted. `base`
 * is our FHIR base with its trailing slash. The data stays in memory until `make` has finished; the connection is released
 * before that.
 * @param budget for the data, because a summary needs all the record's clinical resources at once.
 * @throws the same refusals as `aiVersions` and `AnswerBudget.take`; rethrows errors from `make`.
 */
export type Summarize = (
  caller: Caller,
  patient: string,
  base: string,
  budget: AnswerBudget,
  make: (found: Summarized) => Promise<Buffer>,
) => Promise<Buffer | undefined>;

const READ: ReadonlySet<ResourceType> = new Set<ResourceType>(['Patient', ...SUMMARIZED_TYPES]);

/** A limit larger than any record. */
const ALL = 10_000_000;

/** Creates the summary query on a database. */
export function openSummarize(pool: Pool): Summarize {
  return async ({ calls, sees }, id, base, budget, make) => {
    if (!isUuid(id)) return undefined;
    const read = async (database: Queryable, tries = 3): Promise<Summarized | undefined> => {
      const position = await lastChange(database, id);
      const hidden = new Map<string, string>();
      const scope = { sees, readBy: calls.projectId, record: id, types: READ };
      const out = (from: Queryable, select: string): Promise<readonly KeptRow[]> =>
        keptRows(from, select, budget.bytesLeft);
      const rows = await recordRowsBy(out, database, scope, { after: undefined, limit: ALL });
      budget.take(
        rows.reduce((sum, { bytes }) => sum + bytes, 0),
        0,
      );
      const [patient, ...record] = await withShownReferences(database, sees, rows, base, hidden);
      if (patient?.type !== 'Patient') return undefined;
      const { byAi, last } = await readAiVersions(database, sees, id);
      // The record changed while it was being read. A summary must show a single position, so that it can be generated again.
      if (tries > 1 && last !== position) return read(database, tries - 1);
      const current = await inSlices(chooseInSteps({ base, patient, record, byAi }));
      const versions = earlierVersions(current);
      const earlier = versions.length === 0 ? [] : await out(database, selectVersions(sees, versions));
      budget.take(
        earlier.reduce((sum, { bytes }) => sum + bytes, 0),
        0,
      );
      const told = withEarlier(current, await withShownReferences(database, sees, earlier, base, hidden));
      const revised = revisedSources(told).map((source) => ({
        id: source.id,
        version: readVersion(source),
      }));
      const chosen = withReplaced(told, await readReplaced(database, sees, revised));
      const ids = new Set(
        [...chosen.inDirectory, ...chosen.named].flatMap((key) => key.split('/')[1] ?? []).filter(isUuid),
      );
      const directory = await closure(database, sees, ids, [base]);
      budget.take(
        measureRows(directory).reduce((sum, size) => sum + size, 0),
        0,
      );
      return {
        chosen,
        directory: (await withLargeRows(database, sees, directory)).map(stored),
        position,
        hidden,
      };
    };
    const found = await onConnection(pool, (database) => read(database)).catch((error: unknown) => {
      throw error instanceof TooManyBytes ? budget.exceeded('bytes') : error;
    });
    return found && make(found);
  };
}

/**
 * Returns the SELECT for the text of versions. The values are literals, because COPY accepts no parameters. Index: primary key
 * of history.version.
 */
function selectVersions({ ownerId }: Sees, versions: readonly EarlierVersion[]): string {
  const keys = versions.map(({ id, version }) => `(${pg.escapeLiteral(id)}::uuid, ${version})`);
  return `select v.type, v.id::text, v.body from (values ${keys.join(', ')}) k(id, version)
    join history.version v on v.id = k.id and v.version = k.version
      and v.tenant = ${pg.escapeLiteral(ownerId)}::uuid and v.body is not null
    order by v.id`;
}

function stored({ type, id, body }: EverythingRow): Stored {
  return { type, id, body: body.toString() };
}
