/** read: https://hl7.org/fhir/R4/http.html#read */
import type { CurrentResource } from '#queries/read.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { type Answer, FHIR_JSON } from '../answer/answer.ts';
import { etag, notModified, versionHeaders } from '../answer/conditional.ts';
import { atItsMoment } from './as-of.ts';
import type { FhirRequest } from './request.ts';
import { answerCut } from './subset.ts';

/**
 * Answers 200 with the current version or a part of it, 304 if the client has it, 410 if it is deleted.
 * @throws Refusal 400 404 410 503
 */
export async function read(request: FhirRequest, type: ResourceType, id: string): Promise<Answer> {
  if (request.query.size === 0) return readWhole(request, type, id);
  return answerCut(request.query, type, async () => readWhole(await atItsMoment(request), type, id));
}

async function readWhole(request: FhirRequest, type: ResourceType, id: string): Promise<Answer> {
  const { caller, service } = request;
  service.freshness.require(type === 'Provenance' ? ['resources', 'history'] : ['resources']);
  const found =
    type === 'Provenance'
      ? await service.queries.readProvenance(caller, id)
      : await service.queries.read(caller, type, id, request.budget);
  if (found === undefined) throw notFound(type, id);
  return answerVersion(request, found);
}

/**
 * Returns the answer that shows a version.
 * @throws Refusal gone (410) for a deletion; as `AnswerBudget.take`
 */
export function answerVersion(
  request: Pick<FhirRequest, 'header' | 'budget'>,
  found: CurrentResource,
): Answer {
  const { version, lastUpdated, body } = found;
  if (body === null) {
    throw new Refusal(
      'gone',
      { code: 'deleted', diagnostics: `${found.type}/${found.id} was deleted with version ${version}` },
      { ETag: etag(version) },
    );
  }
  const known = notModified(request.header, version, lastUpdated);
  if (known !== undefined) return known;
  request.budget.take(Buffer.byteLength(body));
  return {
    status: 200,
    headers: { 'Content-Type': FHIR_JSON, ...versionHeaders(version, lastUpdated) },
    body,
    lastUpdated,
  };
}
