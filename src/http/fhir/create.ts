/** Handles create and conditional create: https://hl7.org/fhir/R4/http.html#create */
import type { ResourceType } from '#src/fhir/types.ts';
import { decodeBytes } from '#src/shared/query-text.ts';
import type { Answer } from '../answer/answer.ts';
import type { FhirWrite } from './request.ts';
import { parseResource } from './resource-body.ts';
import { answerWritten } from './written.ts';

/**
 * Returns 201 with the resource, or 200 with the resource that `If-None-Exist` matches.
 * @throws Refusal 400 412 422
 */
export async function create(request: FhirWrite, type: ResourceType): Promise<Answer> {
  const resource = await parseResource(request.body, type);
  const header = request.header('if-none-exist');
  const criteria = header === undefined ? undefined : decodeBytes(header);
  const written = await request.service.commands.create(request.command, type, resource, criteria);
  return answerWritten(request, 'POST', written);
}
