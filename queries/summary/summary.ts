/** What a patient's summary is made of: the record without its Encounters, and the directory entries that it refers to. */
import type { Pool } from 'pg';
import { SUMMARIZED_TYPES } from '#src/fhir/ips/document.ts';
import type { Stored } from '#src/fhir/ips/source.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/caller.ts';
import { closure } from '../everything/directory.ts';
import { idsIn } from '../everything/references.ts';
import { type EverythingRow, recordRows } from '../everything/rows.ts';

/** The record as it stands now; `patient` is undefined when the Patient is not there. */
export interface RecordToSummarize {
  readonly patient: Stored | undefined;
  readonly record: readonly Stored[];
  readonly directory: readonly Stored[];
}

/** Reads it for a caller. */
export type Summarized = (caller: Caller, patient: string, base: string) => Promise<RecordToSummarize>;

/** Types that are read: those with sections, and those that they may need beside them. */
const READ: ReadonlySet<ResourceType> = new Set<ResourceType>([
  'Patient',
  ...SUMMARIZED_TYPES,
  'Specimen',
  'RelatedPerson',
  'CareTeam',
  'Goal',
]);

/** More than any record has. */
const ALL = 10_000_000;

/** Opens it over a database. */
export function openSummarized(pool: Pool): Summarized {
  return async ({ tenantId: tenant }, record, base) => {
    const database = await pool.connect();
    try {
      const rows = await recordRows(database, { tenant, record, types: READ }, undefined, ALL);
      const directory = await closure(database, tenant, idsIn(rows, [base]), [base]);
      const [patient, ...others] = rows.map(stored);
      return patient?.type === 'Patient'
        ? { patient, record: others, directory: directory.map(stored) }
        : { patient: undefined, record: [], directory: [] };
    } finally {
      database.release();
    }
  };
}

function stored({ type, id, body }: EverythingRow): Stored {
  return { type, id, body: body.toString() };
}
