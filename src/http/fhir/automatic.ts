/** Automatic Provenances are views of events: nobody changes them (decisions.md, section 5). */
import type { ResourceType } from '#src/fhir/types.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { FhirRequest } from './request.ts';

/** @throws Refusal method_not_allowed (405) when the id is that of an automatic Provenance. */
export async function refuseAutomatic(
  { service, caller }: FhirRequest,
  type: ResourceType,
  id: string | undefined,
): Promise<void> {
  if (type !== 'Provenance' || id === undefined) return;
  const found = await service.queries.readProvenance(caller, id);
  if (!found?.automatic) return;
  throw new Refusal(
    'method_not_allowed',
    {
      code: 'not-supported',
      diagnostics: `Provenance/${id} was made by the service and cannot be changed or deleted`,
    },
    { Allow: 'GET, HEAD, OPTIONS' },
  );
}
