/** Handles vread: https://hl7.org/fhir/R4/http.html#vread */

import type { CurrentResource } from '#queries/read.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { cut } from '#src/shared/cut.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import { answerVersion } from './read.ts';
import type { FhirRequest } from './request.ts';
import { answerCut } from './subset.ts';

/**
 * Returns 200 with a version or part of it; 410 if the version is a deletion.
 * @throws Refusal 400 404 410 503
 */
export async function vread(
  request: FhirRequest,
  type: ResourceType,
  id: string,
  versionId: string,
): Promise<Answer> {
  const whole = (): Promise<Answer> => vreadWhole(request, type, id, versionId);
  return request.query.size === 0 ? whole() : answerCut(request.query, type, whole);
}

async function vreadWhole(
  request: FhirRequest,
  type: ResourceType,
  id: string,
  versionId: string,
): Promise<Answer> {
  request.service.freshness.require(['history']);
  const found = /^[1-9]\d{0,8}$/.test(versionId)
    ? await readVersion(request, type, id, Number(versionId))
    : undefined;
  if (found !== undefined) return answerVersion(request, found);
  throw new Refusal('not_found', {
    code: 'not-found',
    diagnostics: `${type}/${id} has no version ${cut(versionId, 64)}`,
  });
}

async function readVersion(
  { caller, service: { queries }, budget }: FhirRequest,
  type: ResourceType,
  id: string,
  version: number,
): Promise<CurrentResource | undefined> {
  const found = await queries.vread(caller, type, id, version, budget);
  if (found !== undefined || type !== 'Provenance' || version !== 1) return found;
  const provenance = await queries.readProvenance(caller, id);
  return provenance?.automatic ? provenance : undefined;
}
