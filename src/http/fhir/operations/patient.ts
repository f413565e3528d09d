/** Finds the Patient for an operation. */
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { etag } from '../read.ts';
import type { FhirRequest } from '../request.ts';

/**
 * Checks that the Patient exists.
 * @throws Refusal not_found (404) if the caller can't see the Patient, gone (410) if the Patient is deleted
 */
export async function requirePatient({ service, caller }: FhirRequest, id: string): Promise<void> {
  const found = await service.queries.read(caller, 'Patient', id);
  if (found === undefined) throw notFound('Patient', id);
  if (found.body !== null) return;
  const diagnostics = `Patient/${id} was deleted with version ${found.version}`;
  throw new Refusal('gone', { code: 'deleted', diagnostics }, { ETag: etag(found.version) });
}
