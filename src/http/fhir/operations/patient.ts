/** The Patient that an operation is about. */
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { etag } from '../../conditional.ts';
import type { FhirRequest } from '../request.ts';

/** @throws Refusal not_found (404) for a Patient that the caller cannot see, gone (410) for a deleted one. */
export async function requirePatient({ service, caller }: FhirRequest, id: string): Promise<void> {
  const found = await service.queries.read(caller, 'Patient', id);
  if (found === undefined) throw notFound('Patient', id);
  if (found.body !== null) return;
  const diagnostics = `Patient/${id} was deleted with version ${found.version}`;
  throw new Refusal('gone', { code: 'deleted', diagnostics }, { ETag: etag(found.version) });
}
