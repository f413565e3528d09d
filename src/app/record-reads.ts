/** Assembles the reads of a record that members' pages need, now and as of earlier times. */
import type { Pool } from 'pg';
import { openPast } from '#queries/database/as-of.ts';
import { openClinicalEntries } from '#queries/rest/clinical-entries.ts';
import { openEntryContents } from '#queries/rest/entry-content.ts';
import { openNewestResults } from '#queries/rest/newest-results.ts';
import { openCurrentVersions, openRecordVersions, openTypeCounts } from '#queries/rest/record-versions.ts';
import type { RecordReads, RecordThen } from '../http/ports/record-reads.ts';

/** Opens the parts. */
export function openRecordReads(pool: Pool): RecordReads {
  const open = (over: Pool): RecordThen => ({
    clinicalEntries: openClinicalEntries(over),
    newestResults: openNewestResults(over),
    typeCounts: openTypeCounts(over),
    referred: openEntryContents(over).referred,
    currentVersions: openCurrentVersions(over),
  });
  const now = open(pool);
  return {
    ...openRecordVersions(pool),
    asOf: (moment) => (moment === undefined ? now : open(openPast(pool, moment))),
  };
}
