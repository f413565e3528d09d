/** Handles `Patient/<id>/$everything`: https://hl7.org/fhir/R4/patient-operation-everything.html */
import { setImmediate } from 'node:timers/promises';
import type { Everything, EverythingEntry, EverythingPage, Room } from '#queries/everything/everything.ts';
import {
  EVERYTHING_PARAMETERS,
  type EverythingRequest,
  parseEverything,
} from '#queries/everything/request.ts';
import { badParameter } from '#queries/search/raw.ts';
import { parseShape } from '#queries/search/shape.ts';
import type { Subset } from '#src/fhir/summary.ts';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { requireFilled } from '#src/shared/access/caller.ts';
import { requireOnType } from '#src/shared/access/outside-grant.ts';
import type { Issue } from '#src/shared/issue.ts';
import { unavailable } from '#src/shared/refusal.ts';
import { type Answer, FHIR_JSON } from '../../answer/answer.ts';
import type { GrantPass } from '../../grant/pass.ts';
import { type BundleOptions, bundleFrame, joined, pageLinks, shownCursor } from '../bundle/bundle-text.ts';
import type { Operation, OperationRequest } from '../operation.ts';
import { outcomeEntry } from '../search-bundle.ts';
import { cut } from '../subset.ts';
import { requirePatient } from './patient.ts';

/** The operation's entry in the table. */
export const everything: Operation = {
  name: 'everything',
  definition: 'http://hl7.org/fhir/OperationDefinition/Patient-everything',
  instances: ['Patient'],
  methods: ['GET', 'POST'],
  // If `_type` names types, these are checked; otherwise, types that the grant doesn't cover are left out.
  grantToken: ({ id }) => ({ action: '$everything', needs: [], type: 'Patient', id }),
  parameters: EVERYTHING_PARAMETERS,
  searchset: true,
  takesAsOf: true,
  run,
};

/**
 * Number of bytes of a page that are read at a time. Most records fit in one part; their responses are sent with a
 * Content-Length.
 */
const PART_BYTES = 4_000_000;

/**
 * Returns 200 with a page of the record; a long page is read while it is being sent.
 * @throws Refusal 400 403 404 410 413 503
 */
async function run(request: OperationRequest): Promise<Answer> {
  const { service, query, caller, id = '' } = request;
  const asked = parseEverything(query);
  requireOnType(caller.sees, 'Patient', 'r');
  for (const type of asked.types ?? []) requireOnType(caller.sees, type, 'rs');
  const { subset, onlyTotal } = parseShape(query, asked.types === undefined ? TYPE_NAMES : [...asked.types]);
  if (onlyTotal)
    throw badParameter('_summary', '_summary=count is supported for searches and histories only');
  requireFilled(caller.sees);
  service.freshness.require(['resources']);
  await requirePatient(request, id);
  if (asked.types?.has('Provenance') === true) service.freshness.require(['history']);
  if (asked.care !== undefined) {
    service.freshness.require(['search']);
    await service.freshness.catchUp(['search', 'resources']);
  }
  if (asked.care === undefined || caller.sees.asOf === undefined) return answer(request, asked, subset);
  service.freshness.require(['history']);
  // As of an earlier time, the dates of care are in tables that exist only within one transaction, so the page is read
  // completely before it is sent.
  return service.queries.searchRecord(caller, { record: id, types: undefined }, ({ everything: read }) =>
    answer(request, asked, subset, read),
  );
}

/** @param loaded reads a page, which is held until it is complete; if undefined, a long page is sent while it is being read */
async function answer(
  request: OperationRequest,
  asked: EverythingRequest,
  subset: Subset | undefined,
  loaded?: Everything,
): Promise<Answer> {
  const { service, id = '', ignored } = request;
  const path = `${service.base}Patient/${id}/$everything`;
  const parts = pageParts(request, asked, loaded);
  const first = await parts.next();
  if (first.done === true) throw new TypeError('a page must have at least one part');
  const headers = { 'Content-Type': FHIR_JSON };
  if (first.value.isPart === true && request.budget.shortens && loaded === undefined)
    return {
      status: 200,
      headers,
      stream: streamed(request, asked, path, withFirst(first.value, parts), subset),
    };
  const seen = new Seen(asked, request.pass);
  const shown: (string | Buffer)[] = seen.outcome(ignored);
  for await (const page of withFirst(first.value, parts))
    for (const text of await entryTexts(service.base, page, seen, subset)) shown.push(text);
  const [before, after] = bundleFrame('searchset', seen.entries, seen.frame(path));
  return { status: 200, headers, body: joined([before, ...shown, after]), shown: seen.entries };
}

/**
 * Yields the parts of a page. Each part is read on demand and counted against the budget. The last part ends the page (because
 * of `_count` or the budget) or the record.
 * @throws Refusal too_large (413) for a page with `_offset` that doesn't fit, because the next page would begin too late;
 *   unauthenticated (401) before a further part if the credential has stopped working
 */
async function* pageParts(
  { service, caller, id = '', budget, goOn }: OperationRequest,
  asked: EverythingRequest,
  loaded: Everything | undefined,
): AsyncGenerator<EverythingPage, undefined> {
  const { limits, shortens } = budget;
  const read = loaded ?? service.queries.everything;
  if (asked.offset !== undefined && asked.count > limits.resources) throw budget.exceeded('resources');
  let left = shortens ? Math.min(asked.count, limits.resources) : asked.count;
  let bytes = limits.bytes;
  let from = asked;
  let before: EverythingPage | undefined;
  while (left > 0) {
    // Sending to a slow reader takes long, so a grant or key may end before the next part.
    if (before !== undefined) await goOn?.();
    const room: Room = {
      bytes: Math.min(PART_BYTES, bytes),
      most: bytes,
      exceeded: () => budget.exceeded('bytes'),
      ...(before === undefined
        ? {}
        : { isFurther: true, rows: Math.max(MIN_ROWS, 2 * before.entries.length), named: before.named }),
    };
    const page = await read(caller, id, { ...from, count: left }, service.base, room);
    // If a record has been purged in the meantime, there are no more rows, but this must not be mistaken for the end of the
    // record.
    const ends = before !== undefined && page.next === undefined;
    if (ends && (await service.queries.read(caller, 'Patient', id)) === undefined)
      throw unavailable('the record was purged while it was being read');
    const size = page.entries.reduce((sum, { body }) => sum + body.length, 0);
    // Parts that have already been sent no longer count against the budget.
    if (shortens && loaded === undefined) budget.giveBack();
    budget.take(size, page.entries.length);
    left -= page.entries.length;
    bytes -= size;
    yield page;
    if (page.isPart !== true || page.next === undefined) return;
    if (page.entries.length === 0) {
      if (shortens) return;
      throw budget.exceeded('bytes');
    }
    before = page;
    const { offset: _, ...others } = from;
    from = { ...others, cursor: page.next };
  }
}

/** Minimum number of rows that a further part reads. */
const MIN_ROWS = 100;

async function* withFirst<T>(first: T, others: AsyncIterable<T>): AsyncGenerator<T, undefined> {
  yield first;
  yield* others;
}

/** The state of a page. */
class Seen {
  entries = 0;
  #matches = 0;
  #next: string | undefined;

  constructor(
    private readonly asked: EverythingRequest,
    private readonly pass: GrantPass | undefined,
  ) {}

  /** Returns the separator before the next entry. */
  get separator(): string {
    return this.entries === 0 ? '' : ',';
  }

  add({ entries, next }: EverythingPage): void {
    this.#matches += entries.filter(({ mode }) => mode === 'match').length;
    this.#next = next;
  }

  /** Returns the first entry, which reports ignored inputs; returns nothing if there are none. */
  outcome(ignored: readonly Issue[]): string[] {
    if (ignored.length === 0) return [];
    const text = this.separator + outcomeEntry(ignored);
    this.entries += 1;
    return [text];
  }

  /** Returns the page's total and links. The link to the next page has a cursor, not an offset. */
  frame(path: string): BundleOptions {
    const { cursor, offset = 0, used } = this.asked;
    const further = new URLSearchParams(used);
    further.delete('_offset');
    const [self] = pageLinks(path, used, {});
    const [, next] = pageLinks(path, further, { next: shownCursor(this.pass, this.#next) });
    const isWhole = this.#next === undefined && cursor === undefined && offset === 0;
    return {
      ...(isWhole ? { total: this.#matches } : {}),
      links: [self, next].filter((link) => link !== undefined),
    };
  }
}

/** Returns the texts of a part's entries. */
async function entryTexts(
  base: string,
  page: EverythingPage,
  seen: Seen,
  subset: Subset | undefined,
): Promise<(string | Buffer)[]> {
  const texts: (string | Buffer)[] = [];
  seen.add(page);
  for (const entry of page.entries) {
    // Reducing many resources takes a while, so let other requests run.
    if (subset !== undefined && seen.entries % TURN === TURN - 1) await setImmediate();
    texts.push(seen.separator, ...pieces(base, entry, subset));
    seen.entries += 1;
  }
  return texts;
}

/** Yields the Bundle while it is being read. Its links come last, because only then is it known where the page ends. */
async function* streamed(
  { service, ignored, pass }: OperationRequest,
  asked: EverythingRequest,
  path: string,
  parts: AsyncIterable<EverythingPage>,
  subset: Subset | undefined,
): AsyncGenerator<Buffer, undefined> {
  const seen = new Seen(asked, pass);
  let before = ['{"resourceType":"Bundle","type":"searchset","entry":[', ...seen.outcome(ignored)];
  for await (const page of parts) {
    yield joined([...before, ...(await entryTexts(service.base, page, seen, subset))]);
    before = [];
  }
  const { total, links } = seen.frame(path);
  const counted = total === undefined ? '' : `,"total":${total}`;
  yield joined([...before, `]${counted},"link":${JSON.stringify(links)}}`]);
}

/** Number of resources that are reduced before other requests can run. */
const TURN = 200;

/** Returns an entry's JSON in pieces, so that bodies are copied only once, when the whole page is assembled. */
function pieces(
  base: string,
  { type, id, body, mode }: EverythingEntry,
  subset: Subset | undefined,
): (string | Buffer)[] {
  // `_elements` applies only to matches.
  const part = mode === 'match' || typeof subset === 'string' ? subset : undefined;
  const start = `{"fullUrl":"${base}${type}/${id}","resource":`;
  return [start, part === undefined ? body : cut({ type, body }, part), `,"search":{"mode":"${mode}"}}`];
}
