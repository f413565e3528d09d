/** Handles update and conditional update: https://hl7.org/fhir/R4/http.html#update */
import type { ResourceType } from '#src/fhir/types.ts';
import type { Answer } from '../answer/answer.ts';
import { readIfMatch } from '../answer/conditions.ts';
import type { FhirWrite } from './request.ts';
import { parseResource } from './resource-body.ts';
import { readTarget } from './target.ts';
import { answerWritten } from './written.ts';

/**
 * Returns 200 with the next version, or 201 if it restores a deleted resource.
 * @throws Refusal 400 404 405 409 412 422
 */
export async function update(request: FhirWrite, type: ResourceType, id?: string): Promise<Answer> {
  const target = readTarget(request, id);
  const version = readIfMatch(request.header);
  const resource = await parseResource(request.body, type);
  const written = await request.service.commands.update(request.command, type, target, resource, version);
  return answerWritten(request, 'PUT', written);
}
