/** Searches within a type, several types, and compartments: https://hl7.org/fhir/R4/http.html#search */
import { CURSOR } from '#queries/cursor.ts';
import { type Inclusion, parseInclusions, typesNamedBy } from '#queries/include/inclusions.ts';
import { isOfResources } from '#queries/search/parameters.ts';
import { unknownIssues, unknownParameters } from '#queries/search/parse.ts';
import { badParameter } from '#queries/search/raw.ts';
import type { SearchPage } from '#queries/search/search.ts';
import { isInclusion, parseShape, type Shape } from '#queries/search/shape.ts';
import { type Compartment, typesInCompartment } from '#src/fhir/compartments.ts';
import { type ResourceType, TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { requireFilled } from '#src/shared/access/caller.ts';
import { requireOnType } from '#src/shared/access/outside-grant.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Issue } from '#src/shared/issue.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import { AS_OF, atItsMoment, notHere, refuseMoment } from './as-of.ts';
import { type Pages, shownCursor } from './bundle/bundle-text.ts';
import type { FhirRequest, FhirService } from './request.ts';
import { answerSearch, asWarning } from './search-bundle.ts';
import { searchTypes, typesIn } from './search-types.ts';

/** A search request from the FHIR interface or from another route. */
export interface SearchRequest extends Pick<FhirRequest, 'caller' | 'query' | 'prefer' | 'budget' | 'pass'> {
  readonly service: Pick<FhirService, 'base' | 'queries' | 'freshness'>;
}

/**
 * Returns 200 with a page of matches.
 * @throws Refusal 400 for an invalid value or modifier or, with `handling=strict`, for an unknown parameter
 */
export function search(request: SearchRequest, type: ResourceType): Promise<Answer> {
  return atMomentOf(request, type, undefined, (then) => searchType(then, type));
}

async function searchType(request: SearchRequest, type: ResourceType): Promise<Answer> {
  const asked = understood(request, [type]);
  return answerPage(request, type, asked, await readSearchPage(request, type, asked));
}

/**
 * Searches a compartment: `Patient/<id>/<Type>`, `Encounter/<id>/<Type>` and so on.
 * @throws Refusal 404 for a resource that the caller can't see, or for a type that isn't in the compartment
 */
export function searchCompartment(
  request: SearchRequest,
  compartment: Compartment,
  type: ResourceType,
): Promise<Answer> {
  return atMomentOf(request, type, compartment, (then) => searchTypeIn(then, compartment, type));
}

async function searchTypeIn(
  request: SearchRequest,
  compartment: Compartment,
  type: ResourceType,
): Promise<Answer> {
  const asked = understood(request, [type]);
  if (!typesInCompartment(compartment.type).includes(type)) {
    throw new Refusal('not_found', {
      code: 'not-supported',
      diagnostics: notIn(compartment, type),
    });
  }
  await requireVisible(request, compartment);
  const page = await readSearchPage(request, type, asked, compartment);
  return answerPage(request, `${compartment.type}/${compartment.id}/${type}`, asked, page);
}

/**
 * Answers a search within a record as of the `_asOf` in its query.
 * @throws Refusal malformed (400)
 */
async function atMomentOf(
  sent: SearchRequest,
  type: ResourceType,
  compartment: Compartment | undefined,
  run: (request: SearchRequest) => Promise<Answer>,
): Promise<Answer> {
  if (![...sent.query.keys()].some((key) => key.startsWith(AS_OF))) return run(sent);
  const request = await atItsMoment(sent);
  if (request === sent) {
    refuseMoment(sent.query);
    return run(sent);
  }
  const { service, query } = request;
  const record = compartment?.type === 'Patient' ? compartment.id : recordIn(service.base, query);
  if (record === undefined) throw notHere();
  service.freshness.require(['resources', 'history']);
  // Under a grant, or for Provenances, visibility depends on other resources.
  const isOwnType = request.caller.sees.within === undefined && type !== 'Provenance' && isAlone(query);
  const types = isOwnType ? [type] : undefined;
  return service.queries.searchRecord(request.caller, { record, types }, (questions) =>
    run({ ...request, service: { ...service, queries: { ...service.queries, ...questions } } }),
  );
}

/** Returns the record that the parameters `patient` and `subject` name. */
function recordIn(base: string, query: URLSearchParams): string | undefined {
  for (const [key, text] of query) {
    if (key !== 'patient' && key !== 'subject' && key !== 'subject:Patient') continue;
    const id = text.replace(base, '').replace(/^Patient\//, '');
    if (isUuid(id)) return id;
  }
  return undefined;
}

/** Returns whether a search involves only resources of its own type: no chains, inclusions or hierarchies. */
function isAlone(query: URLSearchParams): boolean {
  return [...query.keys()].every((key) =>
    /^(?!_has|_include|_revinclude)[\w-]+(?::(?:exact|contains|missing|not|text))?$/.test(key),
  );
}

function notIn({ type: of }: Compartment, type: ResourceType): string {
  return `${type} is not in the ${of} compartment; its types are ${typesInCompartment(of).join(', ')}`;
}

/**
 * Searches several types: the types in `_type` or, without it, all types that clients write. Automatic Provenances and shared
 * terminology are searched only if `_type` names them.
 * @throws Refusal 400 503
 */
export function searchSystem(request: SearchRequest): Promise<Answer> {
  const written = TYPE_NAMES.filter((type) => typeEntry(type).home !== 'terminology');
  return severalTypes(request, '', typesIn(request.query) ?? written);
}

/**
 * Searches several types in a compartment: `Patient/<id>/*`.
 * @throws Refusal 400 404 503
 */
export async function searchWholeCompartment(
  request: SearchRequest,
  compartment: Compartment,
): Promise<Answer> {
  await requireVisible(request, compartment);
  const all = typesInCompartment(compartment.type);
  const types = typesIn(request.query) ?? all;
  const elsewhere = types.find((type) => !all.includes(type));
  if (elsewhere !== undefined) throw badParameter('_type', notIn(compartment, elsewhere));
  return severalTypes(request, `${compartment.type}/${compartment.id}/*`, types, compartment);
}

/** The letters that a search of several types needs for each of the types (docs/spec/decisions.md, section 9). */
const OF_ANY = 'rs';

/**
 * Searches several types. Without `_type`, these are all of the path's types, even under a grant. A type that the grant
 * doesn't cover is searched too, but has no matches. So the query means the same as with a key, and is refused in the same
 * cases.
 */
async function severalTypes(
  request: SearchRequest,
  path: string,
  types: readonly ResourceType[],
  compartment?: Compartment,
): Promise<Answer> {
  const named = typesIn(request.query) !== undefined;
  if (named) for (const type of types) requireOnType(request.caller.sees, type, OF_ANY);
  const { rest, ...asked } = understood(request, types);
  rest.delete('_type');
  await requireSearchable(request, types, rest, compartment);
  const page = await searchTypes(
    types,
    rest,
    (type, query) => ask(request, type, query, compartment, named, OF_ANY),
    shownId(request),
  );
  const ignored = requireKnown(request, 'a search of these types', types, page.unknown);
  return answerPage(request, path, { ...asked, rest, several: true }, { ignored, ...page });
}

/** Returns a function that returns a resource's id as the caller knows it. Results are sorted by that id. */
function shownId({ caller: { sees } }: SearchRequest): (id: string) => string {
  const { record, patient } = sees.within ?? {};
  return (id) => (id === record ? (patient ?? id) : id);
}

/**
 * Checks that the caller can see a resource.
 * @throws Refusal 404, 503
 */
async function requireVisible({ service, caller }: SearchRequest, { type, id }: Compartment): Promise<void> {
  service.freshness.require(['resources']);
  const known = await service.queries.read(caller, type, id);
  if (known === undefined) throw notFound(type, id);
}

/** A parsed search: its shape, and the rest of the query. */
interface Asked extends Shape {
  readonly inclusions: readonly Inclusion[];
  readonly rest: URLSearchParams;
  /** True if several types are searched; `_type` is then a control. */
  readonly several: boolean;
}

/**
 * Parses a search.
 * @throws Refusal malformed (400) for an invalid control; forbidden (403) for including a type outside the grant
 */
function understood({ query, caller }: SearchRequest, types: readonly ResourceType[]): Asked {
  if (types.some((type) => typeEntry(type).home !== 'terminology')) requireFilled(caller.sees);
  const inclusions = [...query.keys()].some(isInclusion) ? parseInclusions(query) : [];
  for (const type of inclusions.flatMap(typesNamedBy)) requireOnType(caller.sees, type, 's');
  const shape = parseShape(query, types);
  if (shape.subset === 'text' && inclusions.length > 0)
    throw badParameter('_summary', '_summary=text cannot be used together with _include or _revinclude');
  const rest = new URLSearchParams([...query].filter(([key]) => !isOwn(key, shape)));
  return { inclusions, rest, several: false, ...shape };
}

/** Returns whether this module handles a parameter itself; only the total affects the search. */
function isOwn(key: string, { onlyTotal }: Shape): boolean {
  return isInclusion(key) || key === '_elements' || key === AS_OF || (key === '_summary' && !onlyTotal);
}

async function readSearchPage(
  request: SearchRequest,
  type: ResourceType,
  { rest }: Asked,
  compartment?: Compartment,
): Promise<ToldPage> {
  await requireSearchable(request, [type], rest, compartment);
  const page = await ask(request, type, rest, compartment, true);
  return { ignored: requireKnown(request, type, [type], page.unknown), ...page };
}

/**
 * Waits for the `search` read model if the query needs it.
 * @throws Refusal 503
 */
async function requireSearchable(
  { service, query }: SearchRequest,
  types: readonly ResourceType[],
  rest: URLSearchParams,
  compartment?: Compartment,
): Promise<void> {
  service.freshness.require(['resources', 'history']);
  const referrers = [...query.keys()].some((key) => key.startsWith('_revinclude'));
  const ofResources = compartment === undefined || compartment.type === 'Patient';
  if (!referrers && ofResources && types.every((type) => isOfResources(type, rest))) return;
  service.freshness.require(['search']);
  await service.freshness.catchUp(['search', 'resources']);
}

/**
 * Searches one type.
 * @param automatic whether to include Provenances that the service created
 * @param letters the letters that a grant must have for the types of the results
 */
function ask(
  { service, caller, budget }: SearchRequest,
  type: ResourceType,
  query: URLSearchParams,
  compartment: Compartment | undefined,
  automatic: boolean,
  letters = 's',
): Promise<SearchPage> {
  const of = compartment?.type;
  const asked = {
    query,
    letters,
    base: service.base,
    budget,
    ...(compartment !== undefined && of === 'Patient' ? { record: compartment.id } : {}),
  };
  const named =
    compartment === undefined || of === undefined || of === 'Patient'
      ? undefined
      : { type: of, id: compartment.id };
  if (type !== 'Provenance' || !automatic)
    return service.queries.search(caller, {
      type,
      ...asked,
      ...(named === undefined ? {} : { compartment: named }),
    });
  if (named === undefined) return service.queries.searchProvenance(caller, asked);
  return readProvenances(named, query, (within) =>
    service.queries.searchProvenance(caller, { ...asked, query: within }),
  );
}

/** Returns the Provenances in a compartment: the ones in which the compartment's resource is an agent. */
async function readProvenances(
  { type, id }: Compartment,
  query: URLSearchParams,
  search: (query: URLSearchParams) => Promise<SearchPage>,
): Promise<SearchPage> {
  const page = await search(new URLSearchParams([['agent', `${type}/${id}`], ...query]));
  return { ...page, used: page.used.slice(1) };
}

/**
 * Returns issues for unknown parameters, which are ignored.
 * @throws Refusal 400, naming the parameters, with `handling=strict`
 */
function requireKnown(
  { prefer }: SearchRequest,
  what: string,
  types: readonly ResourceType[],
  unknown: readonly string[],
): Issue[] {
  if (unknown.length > 0 && prefer.handling === 'strict') throw unknownParameters(what, types, unknown);
  return unknownIssues(what, types, unknown, ': it was ignored').map(asWarning);
}

/** A page, with the ignored parameters to report. */
interface ToldPage extends SearchPage {
  readonly ignored: readonly Issue[];
}

async function answerPage(
  { service, caller, query, budget, pass }: SearchRequest,
  path: string,
  asked: Asked,
  page: ToldPage,
): Promise<Answer> {
  const { base } = service;
  const { inclusions, subset } = asked;
  const { resources, more } = await service.queries.include(caller, { inclusions, base, budget, ...page });
  const taken = new Set(page.used.map((pair) => pair.join('=')));
  const used = [...query].filter(
    ([key, text]) =>
      key !== CURSOR &&
      text !== '' &&
      (isOwn(key, asked) || (asked.several && key === '_type') || taken.has(`${key}=${text}`)),
  );
  const pages = pagesAround(query.get(CURSOR) ?? '', page, pass);
  return answerSearch(base, path, { pages, included: resources, more, subset, ...page, used });
}

/**
 * Returns the cursors for the pages before and after a page. If a search has only one page, there are none. A page without a
 * next page is the last page, unless its resources no longer exist.
 * @param own the page's cursor; '' for the first page
 */
function pagesAround(
  own: string,
  { next, previous, last, matches }: SearchPage,
  pass: SearchRequest['pass'],
): Pages {
  const showCursor = (cursor: string | undefined) => (cursor === '' ? '' : shownCursor(pass, cursor));
  if (own === '') return { next: showCursor(next), last: showCursor(last) };
  return {
    next: showCursor(next),
    previous: showCursor(previous),
    first: true,
    last: showCursor(last ?? (next === undefined && matches.length > 0 ? own : undefined)),
  };
}
