/** search within a type, and within the Patient compartment: https://hl7.org/fhir/R4/http.html#search */
import { unknownParameters } from '#queries/search/parse.ts';
import type { SearchPage } from '#queries/search/search.ts';
import { operationOutcome } from '#src/fhir/outcome.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { typeEntry } from '#src/fhir/types.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { type Answer, FHIR_JSON } from '../answer.ts';
import { requireFresh } from '../freshness.ts';
import { bundleText, pageLinks } from './bundle-text.ts';
import type { FhirRequest } from './request.ts';

/** 200 with a page of matches. @throws Refusal 400 naming a bad value, modifier, or with `handling=strict` an unknown parameter. */
export async function search(request: FhirRequest, type: ResourceType): Promise<Answer> {
  return answerPage(request, type, type, await pageOf(request, type));
}

/**
 * The same over one patient's record: `Patient/<id>/<Type>`.
 * @throws Refusal 404 for a Patient that the caller cannot see, and for a type that is in no record.
 */
export async function searchCompartment(
  request: FhirRequest,
  patient: string,
  type: ResourceType,
): Promise<Answer> {
  requireFresh(request.service.stale, ['resources']);
  const { home } = typeEntry(type);
  if (home === 'directory' || home === 'terminology') {
    throw new Refusal('not_found', {
      code: 'not-supported',
      diagnostics: `${type} is not in the Patient compartment`,
    });
  }
  const known = await request.service.queries.read(request.caller, 'Patient', patient);
  if (known === undefined) throw notFound('Patient', patient);
  return answerPage(request, type, `Patient/${patient}/${type}`, await pageOf(request, type, patient));
}

async function pageOf(request: FhirRequest, type: ResourceType, record?: string): Promise<SearchPage> {
  const { service, caller, query, prefer } = request;
  requireFresh(service.stale, ['resources', 'search', 'history']);
  if (type !== 'Provenance') await service.searchable();
  const asked = { query, base: service.base, ...(record === undefined ? {} : { record }) };
  const page =
    type === 'Provenance'
      ? await service.queries.searchProvenance(caller, asked)
      : await service.queries.search(caller, { type, ...asked });
  if (page.unknown.length > 0 && prefer.handling === 'strict') throw unknownParameters(type, page.unknown);
  return page;
}

function answerPage({ service }: FhirRequest, type: ResourceType, path: string, page: SearchPage): Answer {
  const entries = page.matches.map(
    ({ id, body }) =>
      `{"fullUrl":"${service.base}${type}/${id}","resource":${body},"search":{"mode":"match"}}`,
  );
  if (page.unknown.length > 0) entries.push(ignored(page.unknown));
  const self = new URLSearchParams(page.used);
  const links = pageLinks(service.base + path, self, page.next);
  const total = page.total === undefined ? {} : { total: page.total };
  return {
    status: 200,
    headers: { 'Content-Type': FHIR_JSON },
    body: bundleText('searchset', entries, { ...total, links }),
  };
}

/** The entry that names parameters which had no effect. */
function ignored(names: readonly string[]): string {
  const outcome = operationOutcome(
    names.map((name) => ({
      code: 'informational',
      diagnostics: `search parameter ${name.slice(0, 100)} is not known here and was ignored`,
      expression: `query.${name.slice(0, 100)}`,
    })),
  );
  return `{"resource":${outcome},"search":{"mode":"outcome"}}`;
}
