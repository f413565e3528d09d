/** Handles the history of an instance, a type, or the system: https://hl7.org/fhir/R4/http.html#history */

import { CURSOR } from '#queries/cursor.ts';
import type { HistoryPage, HistoryQuery } from '#queries/history/history.ts';
import type { HistoryEntry } from '#queries/history/history-entry.ts';
import { notDate } from '#queries/search/predicates/dates.ts';
import { badParameter } from '#queries/search/raw.ts';
import { DEFAULT_COUNT, parseCount, parseShape, type Shape } from '#queries/search/shape.ts';
import { operationOutcome } from '#src/fhir/outcome.ts';
import { parsePeriod } from '#src/fhir/search/period.ts';
import { type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import { accessIn, requireFilled } from '#src/shared/access/caller.ts';
import { cut as cutText } from '#src/shared/cut.ts';
import type { Issue } from '#src/shared/issue.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { type Answer, FHIR_JSON } from '../answer/answer.ts';
import { AS_OF, atItsMoment } from './as-of.ts';
import { bundleFrame, joined, pageLinks, shownCursor } from './bundle/bundle-text.ts';
import type { FhirRequest } from './request.ts';
import { asWarning } from './search-bundle.ts';
import { cut } from './subset.ts';

/**
 * Returns every version of a resource, newest first.
 * @throws Refusal 400 404 503
 */
export async function historyOfInstance(sent: FhirRequest, type: ResourceType, id: string): Promise<Answer> {
  const request = await atItsMoment(sent);
  const { shape, ignored, ...asked } = parseQuery(request, [type]);
  const { service, caller, query } = request;
  service.freshness.require(['history']);
  const path = `${type}/${id}/_history`;
  let shown: number | undefined;
  const build = async (): Promise<Buffer> => {
    const page = await service.queries.history(caller, { ...asked, type, id, budget: request.budget });
    const found = page.total === 0 ? await withoutVersions(request, type, id, asked) : page;
    shown = found.entries.length;
    return bundle(request, path, found, { shape, ignored });
  };
  // Under a grant, or as of a given time, a page doesn't depend only on the newest version, so it isn't cached.
  const isWhole = accessIn(caller.sees) === undefined && caller.sees.asOf === undefined;
  const isKept = isFirstPage(asked) && isWhole;
  const newest = isKept ? await service.queries.newestVersion(caller, type, id) : undefined;
  if (newest === undefined) return answer(await build(), shown);
  return answer(await service.historyPages.get([caller.sees.ownerId, path, newest, query].join(' '), build));
}

/** Returns whether the newest versions are requested, without a time range. */
function isFirstPage({ since, at, cursor, count }: Asked): boolean {
  return since === undefined && at === undefined && cursor === undefined && count > 0;
}

/**
 * Returns every version of every resource of a type; for Provenance, only versions of the Provenances that clients wrote.
 * @throws Refusal 400 503
 */
export async function historyOfType(request: FhirRequest, type: ResourceType): Promise<Answer> {
  const { shape, ignored, ...query } = parseQuery(request, [type]);
  requireFilled(request.caller.sees);
  request.service.freshness.require(['history']);
  const page = await request.service.queries.history(request.caller, {
    ...query,
    type,
    budget: request.budget,
  });
  return answer(bundle(request, `${type}/_history`, page, { shape, ignored }), page.entries.length);
}

/**
 * Returns every version of everything that the caller may see.
 * @throws Refusal 400 503
 */
export async function historyOfSystem(request: FhirRequest): Promise<Answer> {
  const { shape, ignored, ...query } = parseQuery(request, TYPE_NAMES);
  requireFilled(request.caller.sees);
  request.service.freshness.require(['history']);
  const page = await request.service.queries.history(request.caller, { ...query, budget: request.budget });
  return answer(bundle(request, '_history', page, { shape, ignored }), page.entries.length);
}

const NO_VERSIONS: HistoryPage = { total: 0, entries: [] };

/** The parsed query. */
type Asked = Omit<HistoryQuery, 'type' | 'id'>;

/**
 * Handles the case that no versions were found: returns an empty page, or an automatic Provenance with its single version, or
 * refuses with 404.
 */
async function withoutVersions(
  { service, caller }: FhirRequest,
  type: ResourceType,
  id: string,
  { since, at, count, cursor }: Asked,
): Promise<HistoryPage> {
  service.freshness.require(['resources']);
  if (type !== 'Provenance') {
    if ((await service.queries.read(caller, type, id)) === undefined) throw notFound(type, id);
    return NO_VERSIONS;
  }
  const found = await service.queries.readProvenance(caller, id);
  if (found === undefined) throw notFound(type, id);
  if (!found.automatic) return NO_VERSIONS;
  const { version, lastUpdated, body } = found;
  if ((since ?? 0) > lastUpdated || (at !== undefined && at.to <= lastUpdated)) return NO_VERSIONS;
  const entry: HistoryEntry = { id, type, version, recordedAt: lastUpdated, operation: 'CREATE', body };
  return { total: 1, entries: count === 0 || cursor !== undefined ? [] : [entry] };
}

const KNOWN = new Set([
  ...['_since', '_at', '_count', '_format', '_pretty', '_summary', '_elements', AS_OF],
  CURSOR,
]);

/** How to show a page, and the ignored parameters. */
interface Shown {
  readonly shape: Shape;
  readonly ignored: readonly Issue[];
}

/**
 * Parses the query.
 * @throws Refusal malformed (400) for an invalid value; for unknown parameters, only with `handling=strict`
 */
function parseQuery(request: FhirRequest, types: readonly ResourceType[]): Asked & Shown {
  const { query } = request;
  const ignored = ignoredIn(request);
  const count = query.get('_count');
  const cursor = query.get(CURSOR);
  const since = periodIn(query, '_since');
  const at = periodIn(query, '_at');
  const shape = parseShape(query, types);
  const entries = count === null || count === '' ? DEFAULT_COUNT : parseCount(count);
  return {
    shape,
    ignored,
    count: shape.onlyTotal ? 0 : entries,
    ...(since === undefined ? {} : { since: since.from }),
    ...(at === undefined ? {} : { at }),
    ...(cursor === null || cursor === '' ? {} : { cursor }),
  };
}

/**
 * Returns issues for parameters that histories don't support.
 * @throws Refusal malformed (400) with `handling=strict`
 */
function ignoredIn({ query, prefer }: FhirRequest): Issue[] {
  const unknown = [...new Set(query.keys())].filter((name) => !KNOWN.has(name));
  const issues = (more = ''): Issue[] =>
    unknown.map((name) => ({
      code: 'not-supported',
      diagnostics: `unknown history parameter ${cutText(name, 100)}${more}${didYouMean(name, KNOWN)}`,
      expression: `query.${cutText(name, 100)}`,
    }));
  if (unknown.length > 0 && prefer.handling === 'strict') throw new Refusal('malformed', issues());
  return issues(': it was ignored').map(asWarning);
}

function periodIn(query: URLSearchParams, name: string): { from: number; to: number } | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const period = parsePeriod(text);
  if (period === undefined) throw badParameter(name, notDate(text));
  return period;
}

function answer(body: Buffer, shown?: number): Answer {
  const told = shown === undefined ? {} : { shown };
  return { status: 200, headers: { 'Content-Type': FHIR_JSON }, body, ...told };
}

function bundle(
  { service, query, pass }: FhirRequest,
  path: string,
  page: HistoryPage,
  { shape, ignored }: Shown,
): Buffer {
  const self = new URLSearchParams([...query].filter(([name]) => KNOWN.has(name) && name !== CURSOR));
  const links = pageLinks(service.base + path, self, { next: shownCursor(pass, page.next) });
  const told = ignored.length === 0 ? [] : [outcomeEntry(path, ignored)];
  const pieces = page.entries.flatMap((entry, n) =>
    entryPieces(service.base, entry, n + told.length > 0, shape),
  );
  const total = page.total === undefined ? {} : { total: page.total };
  const [before, after] = bundleFrame('history', told.length + page.entries.length, { ...total, links });
  return joined([before, ...told, ...pieces, after]);
}

/**
 * Returns the first entry, which reports ignored parameters. The report is in a `response` instead of a resource, because the
 * resources in a history are versions: https://hl7.org/fhir/R4/bundle-definitions.html#Bundle.entry.response.outcome
 */
function outcomeEntry(path: string, ignored: readonly Issue[]): string {
  return `{"request":{"method":"GET","url":"${path}"},"response":{"status":"200 OK","outcome":${operationOutcome(ignored)}}}`;
}

const REQUESTS = {
  CREATE: { method: 'POST', status: '201 Created' },
  UPDATE: { method: 'PUT', status: '200 OK' },
  DELETE: { method: 'DELETE', status: '204 No Content' },
} as const;

/** Returns an entry's JSON in pieces, so that the body is copied only once, when the whole page is assembled. */
function entryPieces(
  base: string,
  entry: HistoryEntry,
  further: boolean,
  { subset }: Shape,
): (string | Buffer)[] {
  const { type, id, version, recordedAt, operation, body } = entry;
  const { method, status } = REQUESTS[operation];
  const start = `${further ? ',' : ''}{"fullUrl":"${base}${type}/${id}"`;
  const url = operation === 'CREATE' ? type : `${type}/${id}`;
  const response = `{"status":"${status}","etag":"W/\\"${version}\\"","lastModified":"${toInstant(recordedAt)}"}`;
  const end = `,"request":{"method":"${method}","url":"${url}"},"response":${response}}`;
  if (body === null) return [start + end];
  return [`${start},"resource":`, subset === undefined ? body : cut({ type, body }, subset), end];
}
