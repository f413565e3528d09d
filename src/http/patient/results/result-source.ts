/** Reads a record's results for its pages. Reads by a representative are recorded in the access log. */

import { parseStored } from '#src/shared/json/json.ts';
import { listIn, textIn } from '#src/v1/elements.ts';
import { type ResultSource, readObservation } from '../../reading/measures.ts';
import type { ReadAs } from '../own-api.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';

/** The access-log entry for a read. */
const READ: ReadAs = { action: 'search-type', resourceType: 'Observation' };

/** Returns the results of a record. */
export function resultSource({ api, deps }: Visit, record: OpenRecord): ResultSource {
  return {
    async read({ limit, cursor, code }, isNoted) {
      const path = '/v1/patients/{patient_id}/observations';
      const asked = { patient_id: record.record, limit, cursor, code };
      const { text = '{}' } = await api.content(record, isNoted ? READ : null, path, asked);
      const { data, next_cursor } = parseStored(text);
      return { data: listIn(data).map(readObservation), next_cursor: textIn(next_cursor) };
    },
    interpretations: deps.pages.interpretations,
    kinds: () => deps.pages.measuredKinds(record.record),
    note: (count) => api.noteRead(record, READ, count),
  };
}
