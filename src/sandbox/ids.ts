/**
 * Derives the ids of a sandbox's resources from the id of its provisioning. That id is a UUIDv7, and all derived ids contain
 * its time.
 */
import { IdSource } from '#src/shared/ids.ts';

/** The series of ids for the directory. */
export const DIRECTORY_SERIES = 'sandbox-directory';

/** Returns the series of ids for the n-th record; the first id is the Patient's. */
export const recordSeries = (index: number): string => `sandbox-record-${index}`;

/** Returns the ids for a provisioning. */
export function sandboxIds(resetId: string): IdSource {
  return new IdSource(resetId, Number.parseInt(resetId.replace('-', '').slice(0, 12), 16));
}

/** Returns the ids of a provisioning's Patients, in order. */
export function syntheticPatients(resetId: string, count: number): string[] {
  const ids = sandboxIds(resetId);
  return Array.from({ length: count }, (_, index) => ids.at(0, recordSeries(index)));
}
