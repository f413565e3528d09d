/** history of an instance, a type, the system: https://hl7.org/fhir/R4/http.html#history */
import { CURSOR } from '#queries/cursor.ts';
import type { HistoryEntry, HistoryPage, HistoryQuery } from '#queries/history.ts';
import { DEFAULT_COUNT, parseCount } from '#queries/search/controls.ts';
import { parsePeriod } from '#queries/search/dates.ts';
import { badParameter } from '#queries/search/raw.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { notFound } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time.ts';
import { type Answer, FHIR_JSON } from '../answer.ts';
import { requireFresh } from '../freshness.ts';
import { bundleText, pageLinks } from './bundle-text.ts';
import type { FhirRequest } from './request.ts';

/** Every version of one resource, newest first. @throws Refusal 400 404 503 */
export async function historyOfInstance(
  request: FhirRequest,
  type: ResourceType,
  id: string,
): Promise<Answer> {
  const query = parseQuery(request);
  requireFresh(request.service.stale, ['history']);
  const { queries } = request.service;
  const page = await queries.history(request.caller, { ...query, type, id });
  if (page.total !== 0) return answer(request, `${type}/${id}/_history`, page);
  return answer(request, `${type}/${id}/_history`, await withoutVersions(request, type, id));
}

/** Every version of every resource of a type. Of Provenance: of clients' own. @throws Refusal 400 503 */
export async function historyOfType(request: FhirRequest, type: ResourceType): Promise<Answer> {
  const query = parseQuery(request);
  requireFresh(request.service.stale, ['history']);
  const page = await request.service.queries.history(request.caller, { ...query, type });
  return answer(request, `${type}/_history`, page);
}

/** Every version of everything that the caller may see. @throws Refusal 400 503 */
export async function historyOfSystem(request: FhirRequest): Promise<Answer> {
  const query = parseQuery(request);
  requireFresh(request.service.stale, ['history']);
  return answer(request, '_history', await request.service.queries.history(request.caller, query));
}

/** Nothing in the time asked for, an automatic Provenance with its single version, or nothing at all: 404. */
async function withoutVersions(
  { service, caller }: FhirRequest,
  type: ResourceType,
  id: string,
): Promise<HistoryPage> {
  requireFresh(service.stale, ['resources']);
  if (type !== 'Provenance') {
    if ((await service.queries.read(caller, type, id)) === undefined) throw notFound(type, id);
    return { total: 0, entries: [] };
  }
  const found = await service.queries.readProvenance(caller, id);
  if (found === undefined) throw notFound(type, id);
  if (!found.automatic) return { total: 0, entries: [] };
  const { version, lastUpdated, body } = found;
  return {
    total: 1,
    entries: [{ id, type, version, recordedAt: lastUpdated, operation: 'CREATE', body }],
  };
}

const KNOWN = new Set(['_since', '_at', '_count', '_format', '_pretty', CURSOR]);

/** @throws Refusal malformed (400) naming the parameter; an unknown one only with `handling=strict`. */
function parseQuery({ query, prefer }: FhirRequest): Omit<HistoryQuery, 'type' | 'id'> {
  for (const name of query.keys()) {
    if (prefer.handling === 'strict' && !KNOWN.has(name))
      throw badParameter(name, 'history has none of that name');
  }
  const count = query.get('_count');
  const cursor = query.get(CURSOR);
  const since = periodIn(query, '_since');
  const at = periodIn(query, '_at');
  return {
    count: count === null || count === '' ? DEFAULT_COUNT : parseCount(count),
    ...(since === undefined ? {} : { since: since.from }),
    ...(at === undefined ? {} : { at }),
    ...(cursor === null || cursor === '' ? {} : { cursor }),
  };
}

function periodIn(query: URLSearchParams, name: string): { from: number; to: number } | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const period = parsePeriod(text);
  if (period === undefined) throw badParameter(name, 'the value must be a FHIR instant or date');
  return period;
}

function answer({ service, query }: FhirRequest, path: string, page: HistoryPage): Answer {
  const self = new URLSearchParams([...query].filter(([name]) => KNOWN.has(name) && name !== CURSOR));
  const links = pageLinks(service.base + path, self, page.next);
  const entries = page.entries.map((entry) => entryText(service.base, entry));
  const total = page.total === undefined ? {} : { total: page.total };
  return {
    status: 200,
    headers: { 'Content-Type': FHIR_JSON },
    body: bundleText('history', entries, { ...total, links }),
  };
}

const REQUESTS = {
  CREATE: { method: 'POST', status: '201 Created' },
  UPDATE: { method: 'PUT', status: '200 OK' },
  DELETE: { method: 'DELETE', status: '204 No Content' },
} as const;

function entryText(base: string, entry: HistoryEntry): string {
  const { type, id, version, recordedAt, operation, body } = entry;
  const { method, status } = REQUESTS[operation];
  const resource = body === null ? '' : `,"resource":${body}`;
  const url = operation === 'CREATE' ? type : `${type}/${id}`;
  const response = `{"status":"${status}","etag":"W/\\"${version}\\"","lastModified":"${toInstant(recordedAt)}"}`;
  return `{"fullUrl":"${base}${type}/${id}"${resource},"request":{"method":"${method}","url":"${url}"},"response":${response}}`;
}
