/** search within a type, and within the Patient compartment: https://hl7.org/fhir/R4/http.html#search */
import { CURSOR } from '#queries/cursor.ts';
import { type Inclusion, isInclusion, parseInclusions } from '#queries/search/include.ts';
import { unknownParameters } from '#queries/search/parse.ts';
import { badParameter } from '#queries/search/raw.ts';
import type { SearchPage } from '#queries/search/search.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { typeEntry } from '#src/fhir/types.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer.ts';
import { requireFresh } from '../freshness.ts';
import type { FhirRequest } from './request.ts';
import { answerSearch } from './search-bundle.ts';
import { parseShape, type Shape } from './subset.ts';

/** 200 with a page of matches. @throws Refusal 400 naming a bad value, modifier, or with `handling=strict` an unknown parameter. */
export async function search(request: FhirRequest, type: ResourceType): Promise<Answer> {
  const asked = understood(request.query, [type]);
  return answerPage(request, type, asked, await pageOf(request, type, asked));
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
  const asked = understood(request.query, [type]);
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
  return answerPage(
    request,
    `Patient/${patient}/${type}`,
    asked,
    await pageOf(request, type, asked, patient),
  );
}

/** A search: what it shows beside and of its matches, and the rest of its query. */
interface Asked extends Shape {
  readonly inclusions: readonly Inclusion[];
  readonly rest: URLSearchParams;
}

/** @throws Refusal malformed (400) naming a control that is not understood */
function understood(query: URLSearchParams, types: readonly ResourceType[]): Asked {
  const inclusions = parseInclusions(query);
  const shape = parseShape(query, types);
  if (shape.subset === 'text' && inclusions.length > 0)
    throw badParameter('_summary', 'text cannot be used together with _include or _revinclude');
  const rest = new URLSearchParams([...query].filter(([key]) => !isOwn(key, shape)));
  return { ...shape, inclusions, rest };
}

/** Whether a parameter is understood here; the total alone is a matter of the search itself. */
function isOwn(key: string, { onlyTotal }: Shape): boolean {
  return isInclusion(key) || key === '_elements' || (key === '_summary' && !onlyTotal);
}

async function pageOf(
  request: FhirRequest,
  type: ResourceType,
  { rest }: Asked,
  record?: string,
): Promise<SearchPage> {
  const { service, caller, prefer } = request;
  requireFresh(service.stale, ['resources', 'search', 'history']);
  if (type !== 'Provenance') await service.searchable();
  const asked = { query: rest, base: service.base, ...(record === undefined ? {} : { record }) };
  const page =
    type === 'Provenance'
      ? await service.queries.searchProvenance(caller, asked)
      : await service.queries.search(caller, { type, ...asked });
  if (page.unknown.length > 0 && prefer.handling === 'strict') throw unknownParameters(type, page.unknown);
  return page;
}

async function answerPage(
  { service, caller, query }: FhirRequest,
  path: string,
  asked: Asked,
  page: SearchPage,
): Promise<Answer> {
  const { base } = service;
  const { inclusions, subset } = asked;
  const { resources, more } = await service.queries.include(caller, { ...page, inclusions, base });
  const taken = new Set(page.used.map((pair) => pair.join('=')));
  const used = [...query].filter(
    ([key, text]) => key !== CURSOR && text !== '' && (isOwn(key, asked) || taken.has(`${key}=${text}`)),
  );
  return answerSearch(base, path, { ...page, included: resources, more, used, subset });
}
