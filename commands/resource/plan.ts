/** Plans writes without writing: resolves targets and links, applies patches, checks the results. */
import type { IfMatch } from '#src/fhir/bundle.ts';
import { heldContents } from '#src/fhir/document-content.ts';
import { settleNarrative } from '#src/fhir/narrative.ts';
import { type Patch, parsePatchEntry, patchInSteps } from '#src/fhir/patch/patch.ts';
import { repeats, sameContent } from '#src/fhir/same-content.ts';
import { subsettedTag } from '#src/fhir/summary.ts';
import { type Caller, mayRead } from '#src/shared/caller.ts';
import { isObject, type JsonObject, parseJson } from '#src/shared/json.ts';
import { notFound } from '#src/shared/refusal.ts';
import { inSlices, mapSteps, type Steps } from '#src/shared/slices.ts';
import { readStored } from '#src/shared/stored-json.ts';
import type { CommandContext, Located, SubmittedResource, WriteResult } from '../command.ts';
import { Stale } from '../kernel/retry.ts';
import { type Checked, checkCandidates } from './check.ts';
import { CurrentVersions, currentEntry } from './current.ts';
import {
  automaticProvenance,
  gone,
  noClientIds,
  nothingMatches,
  type PlacedWrite,
  printContent,
  refuseStale as refuseStaleVersion,
  type Write,
} from './decide.ts';
import type { Results, WriteDeps } from './deps.ts';
import { linksOf, relink, relinkPatch } from './links.ts';
import { atEntry, onBehalfOf, onBehalfOfAsync, refuse, type WriteRequest } from './request.ts';
import { type Resolved, resolveTargets } from './resolve.ts';
import { resolveSearches } from './searches.ts';
import { hiddenFault, refuseContents, refuseProbing } from './write-only.ts';

/** A write and where it goes. */
export interface Planned extends PlacedWrite {
  readonly request: WriteRequest;
}

/** The planned writes, and the results of requests that need no write. */
export interface Plan {
  readonly planned: readonly Planned[];
  /** The results of requests that need no write. */
  readonly results: Results;
}

/**
 * Plans requests: returns the results that need no write, and the writes with the stream of each. Writes
 * nothing.
 * @throws Refusal as documented in `Commands`; it lists every fault of every resource.
 */
export async function planWrites(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<Plan> {
  const resolved = await resolveTargets(ctx, deps.lookup, requests);
  const linked = transaction ? await linkEntries(deps, ctx, resolved) : resolved.map(withPatch);
  for (const { request } of linked) refuseProbing(ctx.caller, request);
  const targets = linked.filter(({ kind }) => kind !== 'create' && kind !== 'nothing').map(({ id }) => id);
  const located =
    targets.length === 0 ? new Map<string, Located>() : await deps.lookup.locate(ctx.caller, targets);
  const versions = new CurrentVersions(deps.resources);
  const results: Results = new Map();
  const planned: Planned[] = [];
  const candidates: Candidate[] = [];
  for (const one of linked) {
    const { request, id, type, kind } = one;
    const there = located.get(id);
    if (kind === 'nothing') continue;
    if (kind !== 'create' && there?.type !== type) {
      if (request.method === 'DELETE' && request.ifMatch === undefined) continue;
      if (request.method === 'DELETE') throw atEntry(request.at, nothingMatches(type, id));
      throw atEntry(request.at, request.method === 'PUT' ? noClientIds(type) : notFound(type, id));
    }
    if (there?.automatic) throw atEntry(request.at, automaticProvenance(id));
    const eventId = ctx.ids.at(request.index, 'event');
    if (kind === 'matched') {
      results.set(request.index, await matchedResult(versions, one, there?.stream ?? ''));
    } else if (kind === 'remove') {
      const write: Write = { kind, eventId, type, id, ...preconditionOf(request) };
      planned.push({ request, write, stream: there?.stream ?? '' });
    } else {
      const candidate = await candidateOf(versions, ctx.caller, one, eventId, there?.stream, transaction);
      if ('settled' in candidate) results.set(request.index, candidate.settled);
      else candidates.push(candidate);
    }
  }
  const checked = await checkCandidates(deps, ctx, candidates).catch(async (error) => {
    await refuseStaleFirst(deps, candidates);
    throw error;
  });
  const plan = (candidate: Candidate, index: number): void => {
    try {
      planOne(candidate, index);
    } catch (error) {
      throw hiddenFault(ctx.caller, candidate.request, error);
    }
  };
  const planOne = (candidate: Candidate, index: number): void => {
    const stream = checked[index]?.stream ?? '';
    if (candidate.stream !== undefined && candidate.stream !== stream) {
      const what = `${candidate.type}/${candidate.id} cannot move to another record, or between a record and the directory; create a new resource there`;
      throw refuse('invalid', candidate.request, 'business-rule', what);
    }
    const write = settled(deps, ctx, finish(candidate, checked[index]), candidate);
    planned.push({ request: candidate.request, write: printed(write), stream });
  };
  await inSlices(mapSteps(candidates, plan));
  return { planned, results };
}

interface Candidate {
  readonly at?: string;
  readonly request: WriteRequest;
  readonly eventId: string;
  readonly type: Write['type'];
  readonly id: string;
  readonly resource: SubmittedResource;
  /** True if a client's resource replaces the stored one. */
  readonly replaces: boolean;
  /** As in the candidates that are checked. */
  readonly hidesFaults: boolean;
  /** The stream that holds the resource now; undefined for a new one. */
  readonly stream: string | undefined;
  readonly basedOn?: number;
  /** A PATCH must not restore a deleted resource. */
  readonly mustBeLive?: boolean;
  /** The newest version of a document that has a body. */
  readonly before?: JsonObject;
}

/** Replaces links between entries; conditional references are resolved last, as R4 requires. */
async function linkEntries(
  deps: WriteDeps,
  ctx: CommandContext,
  resolved: readonly Resolved[],
): Promise<Resolved[]> {
  const links = linksOf(resolved, await resolveSearches(ctx, deps.lookup, deps.bases, resolved));
  const linked = mapSteps(resolved, (one) => {
    const { request, type } = one;
    const { resource, patchSource } = request;
    if (resource !== undefined)
      return { ...one, request: { ...request, resource: relink(resource, type, links, request) } };
    if (patchSource === undefined) return one;
    const linked = relink(patchSource, String(patchSource.value.resourceType), links, request);
    const patch = relinkPatch(patchIn(request, linked), links, request);
    return { ...one, request: { ...request, patch } };
  });
  return inSlices(linked);
}

/** Applies the patch of a batch entry, where entries aren't linked. */
function withPatch(one: Resolved): Resolved {
  const { patchSource } = one.request;
  return patchSource === undefined
    ? one
    : { ...one, request: { ...one.request, patch: patchIn(one.request, patchSource) } };
}

function patchIn({ at }: WriteRequest, { value, exact }: SubmittedResource): Patch {
  return onBehalfOf(at, () => parsePatchEntry(value, exact));
}

/** The resource to be checked and written: as sent, or the current one with the patch applied. */
async function candidateOf(
  versions: CurrentVersions,
  caller: Caller,
  { request, type, id, kind }: Resolved,
  eventId: string,
  stream: string | undefined,
  transaction: boolean,
): Promise<Candidate | { settled: WriteResult }> {
  const base = {
    request,
    eventId,
    type,
    id,
    stream,
    replaces: request.method === 'PUT' && request.resource?.madeOf === undefined,
    hidesFaults: request.patch !== undefined && !mayRead(caller),
    ...(request.at === undefined ? {} : { at: request.at }),
  };
  if (request.patch === undefined) {
    const resource = request.resource;
    if (resource === undefined) throw new TypeError(`${request.method} without a resource`);
    // Only callers who may read may learn that the stored version equals what they sent; for others it is
    // written again.
    if (kind === 'update' && transaction && stream?.startsWith('directory-') && mayRead(caller)) {
      const current = await versions.current(stream, type, id);
      const excerpt = subsettedTag(resource.value) >= 0;
      if (current.body !== undefined && !excerpt && sameContent(asObject(current.body), resource.value)) {
        refuseStale(request, type, id, current.version);
        return { settled: { outcome: 'matched', type, id, ...current } };
      }
    }
    if (type !== 'DocumentReference' || stream === undefined) return { ...base, resource };
    // The stored content that it refers to must be known, and must not change until the append.
    const current = await versions.lastWithBody(stream, type, id);
    refuseStale(request, type, id, current.version);
    const before = asObject(current.body);
    if (heldContents(before, id).length > 0) refuseContents(caller, request);
    return { ...base, resource, basedOn: current.version, before };
  }
  const current = await versions.current(stream ?? '', type, id);
  if (current.body === undefined) throw atEntry(request.at, gone(type, id));
  const { patch } = request;
  // Checked before the patch is applied, so that a client that patches an outdated version gets 412 first.
  refuseStale(request, type, id, current.version);
  const { value: before, exact } = readStored(current.body);
  if (type === 'DocumentReference' && heldContents(before, id).length > 0) refuseContents(caller, request);
  const value = await onBehalfOfAsync(request.at, inSlices(patched(before, patch))).catch((error) => {
    throw hiddenFault(caller, request, error);
  });
  // Reporting that a patch changed nothing would reveal values, so callers who may not read always get a new
  // version.
  if (mayRead(caller) && repeats(before, value))
    return { settled: { outcome: 'unchanged', type, id, ...current } };
  return {
    ...base,
    resource: { value, exact: exact || patch.exact, madeOf: before },
    basedOn: current.version,
    mustBeLive: true,
    before,
  };
}

/** The resource after a patch, with a narrative that is still true. */
function* patched(before: JsonObject, patch: Patch): Steps<JsonObject> {
  const after = yield* patchInSteps(before, patch);
  yield;
  return settleNarrative(before, after);
}

function refuseStale(
  { ifMatch, basedOn, at }: WriteRequest,
  type: string,
  id: string,
  version: number,
): void {
  if (basedOn !== undefined && basedOn !== version) throw new Stale();
  onBehalfOf(at, () => refuseStaleVersion(type, id, version, ifMatch));
}

/**
 * Checks preconditions when the content was refused, because they take precedence over the content (RFC 9110,
 * section 13.2.1). For valid content the decision checks them.
 */
async function refuseStaleFirst({ resources }: WriteDeps, candidates: readonly Candidate[]): Promise<void> {
  for (const { request, type, id, stream } of candidates) {
    if ((request.ifMatch ?? request.basedOn) === undefined || stream === undefined) continue;
    const entry = await currentEntry(resources, stream, id);
    if (entry !== undefined) refuseStale(request, type, id, entry.version);
  }
}

async function matchedResult(
  versions: CurrentVersions,
  { type, id }: Resolved,
  stream: string,
): Promise<WriteResult> {
  return { outcome: 'matched', type, id, ...(await versions.current(stream, type, id)) };
}

function finish(candidate: Candidate, checked: Checked | undefined): Write {
  const { request, eventId, type, id, basedOn, mustBeLive } = candidate;
  const resource = checked?.resource ?? candidate.resource;
  if (candidate.stream === undefined) return { kind: 'create', eventId, type, id, resource };
  return {
    kind: 'update',
    eventId,
    type,
    id,
    resource,
    ...(basedOn === undefined ? {} : { basedOn }),
    ...preconditionOf(request),
    ...(mustBeLive === undefined ? {} : { mustBeLive }),
  };
}

/** The version that a request is for. */
function preconditionOf({ ifMatch, basedOn }: WriteRequest): { ifMatch?: IfMatch; basedOn?: number } {
  return {
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(basedOn === undefined ? {} : { basedOn }),
  };
}

/**
 * Serializes the content before the decision: for thousands of resources a decision would delay others for
 * too long.
 */
function printed(write: Write): Write {
  return write.kind === 'remove' ? write : { ...write, printed: printContent(write.resource) };
}

/** A document with its data out of it. */
function settled(deps: WriteDeps, ctx: CommandContext, write: Write, candidate: Candidate): Write {
  if (write.type !== 'DocumentReference' || write.kind === 'remove') return write;
  const { request, before } = candidate;
  const { resource, finalized } = onBehalfOf(request.at, () =>
    deps.attachments.settle({
      id: write.id,
      resource: write.resource.value,
      before,
      stored: request.stored ?? [],
      draw: (series, index) => ctx.ids.at(index, `${series}/${request.index}`),
      url: deps.contents.url,
    }),
  );
  return { ...write, resource: { ...write.resource, value: resource }, finalized };
}

function asObject(body: string): JsonObject {
  const { value } = parseJson(body);
  if (!isObject(value)) throw new TypeError('a stored body is not an object');
  return value;
}
