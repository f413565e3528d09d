/** Ids of a sandbox's resources: all follow from the id of its provisioning, a UUIDv7, which bears the time of all of them. */
import { IdSource } from '#src/shared/ids.ts';

/** Series of ids of the directory. */
export const DIRECTORY_SERIES = 'sandbox-directory';

/** Series of ids of the n-th record; the first is the Patient's. */
export const recordSeries = (index: number): string => `sandbox-record-${index}`;

/** Returns the ids of a provisioning. */
export function sandboxIds(resetId: string): IdSource {
  return new IdSource(resetId, Number.parseInt(resetId.replace('-', '').slice(0, 12), 16));
}

/** Returns the Patients of a provisioning, in their order. */
export function syntheticPatients(resetId: string, count: number): string[] {
  const ids = sandboxIds(resetId);
  return Array.from({ length: count }, (_, index) => ids.at(0, recordSeries(index)));
}
