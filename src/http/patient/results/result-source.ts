/** Reads a record's results for its pages. Reads by a representative are recorded in the access log. */

import type { ResultSource } from '../../reading/measures.ts';
import type { ReadAs } from '../own-api.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';

/** The access-log entry for a read. */
const READ: ReadAs = { action: 'search-type', resourceType: 'Observation' };

/** Returns the results of a record. */
export function resultSource({ api, deps }: Visit, record: OpenRecord): ResultSource {
  return {
    read: ({ limit, cursor, code }, isNoted) =>
      api.read(record, isNoted ? READ : null, '/v1/patients/{patient_id}/observations', {
        patient_id: record.record,
        limit,
        cursor,
        code,
      }),
    interpretations: deps.pages.interpretations,
    kinds: () => deps.pages.measuredKinds(record.record),
    note: (count) => api.noteRead(record, READ, count),
  };
}
