/**
 * Handles read and conditional read: https://hl7.org/fhir/R4/http.html#read, https://hl7.org/fhir/R4/http.html#cread. Writes
 * use the same version headers.
 */

import fresh from 'fresh';
import type { CurrentResource } from '#queries/read.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { type Answer, FHIR_JSON } from '../answer/answer.ts';
import type { Header } from '../answer/authorship.ts';
import { atItsMoment } from './as-of.ts';
import type { FhirRequest } from './request.ts';
import { answerCut } from './subset.ts';

/**
 * Returns 200 with the current version or part of it, 304 if the client already has that version, 410 if the resource is
 * deleted.
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
 * Returns the response that shows a version.
 * @throws Refusal gone (410) for a deletion; also whatever `AnswerBudget.take` throws
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

/** Returns `W/"3"`. */
export const etag = (version: number): string => `W/"${version}"`;

/** Returns an HTTP date (RFC 9110, section 5.6.7), in whole seconds. */
const httpDate = (micros: Micros): string => new Date(Math.floor(micros / 1000)).toUTCString();

/** Returns the headers for a version. */
export function versionHeaders(version: number, lastUpdated: Micros | undefined): Record<string, string> {
  if (lastUpdated === undefined) return { ETag: etag(version) };
  return { ETag: etag(version), 'Last-Modified': httpDate(lastUpdated) };
}

/**
 * Returns a 304 if the client's copy is current; otherwise undefined. The copy is checked by `If-None-Match` if present, and
 * otherwise by `If-Modified-Since`, to the second (RFC 9110, section 13.2.2).
 */
export function notModified(header: Header, version: number, lastUpdated: Micros): Answer | undefined {
  const asked = {
    'if-none-match': header('if-none-match'),
    'if-modified-since': header('if-modified-since'),
  };
  // Most reads are unconditional and don't need to build headers here.
  if (asked['if-none-match'] === undefined && asked['if-modified-since'] === undefined) return undefined;
  const current = versionHeaders(version, lastUpdated);
  if (!fresh(asked, { etag: current.ETag, 'last-modified': current['Last-Modified'] })) return undefined;
  // The headers are the same as for the 200 (RFC 9110, section 15.4.5).
  return { status: 304, headers: { Vary: 'Accept-Encoding', ...current }, lastUpdated };
}
