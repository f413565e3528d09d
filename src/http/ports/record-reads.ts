/**
 * Defines how members' pages read a record, in addition to the routes of the JSON interfaces; `src/app/record-reads.ts`
 * assembles the services.
 */
import type { ReadClinicalEntries } from '#queries/rest/clinical-entries.ts';
import type { EntryContents } from '#queries/rest/entry-content.ts';
import type { ReadNewestResults } from '#queries/rest/newest-results.ts';
import type { RecordVersions, TypeCounts } from '#queries/rest/record-versions.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** A record as of a point in time. */
export interface RecordThen {
  readonly clinicalEntries: ReadClinicalEntries;
  readonly newestResults: ReadNewestResults;
  readonly typeCounts: (record: string) => Promise<TypeCounts>;
  readonly referred: EntryContents['referred'];
  /** Returns the current version numbers of resources in the record, by resource id. */
  readonly currentVersions: (record: string, ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
}

/** The services for reading a record. None of them checks rights. */
export interface RecordReads extends RecordVersions {
  /**
   * Returns the queries for reading a record as of a point in time.
   * @param moment undefined: now
   */
  readonly asOf: (moment: Micros | undefined) => RecordThen;
}
