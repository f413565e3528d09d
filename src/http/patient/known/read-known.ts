/** Reads a record for its pages. If a representative reads it, the read is recorded in the access log. */
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import { READ_TYPES } from '#src/clinical/reading/reading.ts';
import { interpretEntries, type Known } from '../../reading/known.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';

/**
 * Reads a record.
 * @throws Refusal unavailable (503)
 */
export async function readKnown(visit: Visit, record: OpenRecord): Promise<Known> {
  const { pages, services } = visit.deps;
  const found = await pages.clinicalEntries(record.record);
  for (const [resourceType, count] of countTypes(found.entries))
    await visit.api.noteRead(record, { action: 'search-type', resourceType }, count);
  return interpretEntries(found, services.displays, new Date(visit.now).toISOString().slice(0, 10));
}

function countTypes(entries: readonly ClinicalEntry[]): Map<string, number> {
  const counts = new Map(READ_TYPES.map((type) => [type, 0]));
  for (const { type } of entries) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}
