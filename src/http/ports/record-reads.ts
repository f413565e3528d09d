/** Reads of a record for pages of members, besides the routes of the JSON interfaces; `src/app/record-reads.ts` puts them together. */
import type { ReadClinicalEntries } from '#queries/rest/clinical-entries.ts';
import type { EntryContents } from '#queries/rest/entry-content.ts';
import type { ReadNewestResults } from '#queries/rest/newest-results.ts';
import type { RecordVersions, TypeCounts } from '#queries/rest/record-versions.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** A record as of a moment. */
export interface RecordThen {
  readonly clinicalEntries: ReadClinicalEntries;
  readonly newestResults: ReadNewestResults;
  readonly typeCounts: (record: string) => Promise<TypeCounts>;
  readonly referred: EntryContents['referred'];
  /** Returns the versions of resources of the record, by their ids. */
  readonly currentVersions: (record: string, ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
}

/** The parts. None of them checks a right. */
export interface RecordReads extends RecordVersions {
  /** Returns the questions as of a moment. @param moment undefined: now */
  readonly asOf: (moment: Micros | undefined) => RecordThen;
}
