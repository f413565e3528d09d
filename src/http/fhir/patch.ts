/** Handles patch and conditional patch: https://hl7.org/fhir/R4/http.html#patch */
import { parsePatch } from '#src/fhir/patch/patch.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Answer } from '../answer/answer.ts';
import { readIfMatch } from '../answer/conditions.ts';
import type { FhirWrite } from './request.ts';
import { parseBody } from './resource-body.ts';
import { readTarget } from './target.ts';
import { answerWritten } from './written.ts';

/**
 * Returns 200 with the patched version.
 * @throws Refusal 400 404 410 412 415 422
 */
export async function patch(request: FhirWrite, type: ResourceType, id?: string): Promise<Answer> {
  const target = readTarget(request, id);
  const version = readIfMatch(request.header);
  const change = parsePatch(request.body?.mediaType ?? '', parseBody(request.body));
  const written = await request.service.commands.patch(request.command, type, target, change, version);
  return answerWritten(request, 'PATCH', written);
}
