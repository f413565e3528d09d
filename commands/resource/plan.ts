/** Plans writes without writing: resolves targets and links, applies patches, checks the results. */
import type { Position } from '#src/events/store.ts';
import { recordPatient } from '#src/events/streams.ts';
import type { IfMatch } from '#src/fhir/bundle.ts';
import { heldContents } from '#src/fhir/document-content.ts';
import { type KeptReference, keepListed, keptInPlace } from '#src/fhir/kept-references.ts';
import { settleNarrative } from '#src/fhir/narrative.ts';
import { type Patch, parsePatchEntry, patchInSteps } from '#src/fhir/patch/patch.ts';
import { referencesIn, type ShownVersion, shownVersion, withLeftOut } from '#src/fhir/references/left-out.ts';
import { repeats, sameContent } from '#src/fhir/same-content.ts';
import { subsettedTag } from '#src/fhir/summary.ts';
import { isAiLabelled, labelled, withoutAiLabel } from '#src/shared/access/ai-label.ts';
import { type Granted, mayRead } from '#src/shared/access/caller.ts';
import { isObject, type JsonObject, parseJson, readStored } from '#src/shared/json/json.ts';
import { inSlices, mapSteps, type Steps } from '#src/shared/load/slices.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { CommandContext, Located, SubmittedResource, WriteResult } from '../command.ts';
import { Stale } from '../kernel/kernel.ts';
import { withoutAddedLabel } from './added-label.ts';
import { checkCandidates } from './check.ts';
import { CurrentVersions, currentEntry, shownVersion as shownCurrent } from './current.ts';
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
import { makeLinks, relink, relinkPatch } from './links.ts';
import { atEntry, onBehalfOfAsync, refuse, runForEntry, type WriteRequest } from './request.ts';
import { type Resolved, resolveTargets } from './resolve.ts';
import { resolveSearches } from './searches.ts';
import {
  isLimited,
  lettersOn,
  neededLetter,
  requireAfter,
  requireBefore,
  requireCreation,
  requireTypes,
} from './under-grant.ts';
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
  /** The position of the newest event that the results show. */
  readonly seen: Position;
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
  const { within } = ctx.caller.sees;
  requireTypes(ctx.caller.sees, requests, transaction);
  const resolved = await resolveTargets(ctx, deps.lookup, requests);
  const linked = transaction ? await linkEntries(deps, ctx, resolved) : resolved.map(withPatch);
  for (const { request } of linked) refuseProbing(ctx.caller, request);
  const targets = linked
    .filter(({ kind, request }) => kind !== 'create' && kind !== 'nothing' && request.place === undefined)
    .map(({ id }) => id);
  const located =
    targets.length === 0 ? new Map<string, Located>() : await deps.lookup.locate(ctx.caller, targets);
  const versions = new CurrentVersions(deps.resources);
  const results: Results = new Map();
  const planned: Planned[] = [];
  const candidates: Candidate[] = [];
  for (const one of linked) {
    const { id, type, kind } = one;
    if (kind === 'nothing') continue;
    const there = await seenTarget(versions, within, one, located.get(id));
    const request = basedOn(one.request, there);
    if (kind !== 'create' && there?.type !== type) {
      if (request.method === 'DELETE' && request.ifMatch === undefined) continue;
      if (request.method === 'DELETE') throw atEntry(request.at, nothingMatches(type, id));
      throw atEntry(request.at, request.method === 'PUT' ? noClientIds(type) : notFound(type, id));
    }
    if (there?.automatic) throw atEntry(request.at, automaticProvenance(id));
    if (within !== undefined && there !== undefined && kind !== 'create' && kind !== 'matched') {
      const isEntry = transaction && recordPatient(there.stream) === undefined;
      if (!isEntry) requireBefore(within, request, there, there.before?.resource);
    }
    if (within !== undefined && kind === 'create')
      runForEntry(request.at, () => requireCreation(within, request));
    const eventId = ctx.ids.at(request.index, 'event');
    if (kind === 'matched') {
      results.set(request.index, await matchedResult(versions, one, there?.stream ?? ''));
    } else if (kind === 'remove') {
      const write: Write = { kind, eventId, type, id, ...makePrecondition(request) };
      planned.push({ request, write, stream: there?.stream ?? '' });
    } else {
      const candidate = await makeCandidate(
        deps,
        versions,
        ctx,
        { ...one, request },
        eventId,
        there,
        transaction,
      );
      if ('settled' in candidate) results.set(request.index, candidate.settled);
      else candidates.push(candidate);
    }
  }
  const checked = await checkCandidates(deps, ctx, candidates).catch(async (error) => {
    await refuseStaleFirst(deps, candidates);
    if (!(await restoreStored(versions, ctx, candidates))) throw error;
    return checkCandidates(deps, ctx, candidates);
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
    const { resource } = candidate;
    const after = checked[index]?.resource ?? resource;
    const letter = candidate.stream === undefined ? 'c' : neededLetter(candidate.request);
    requireAfter(within, candidate.request, letter, stream, candidate.type, after.value);
    const write = settled(deps, ctx, finish(candidate, after), candidate);
    planned.push({ request: candidate.request, write: printed(write), stream });
  };
  await inSlices(mapSteps(candidates, plan));
  return { planned, results, seen: versions.seen };
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
  /** References of the stored version that may stay, though the caller doesn't see where they lead. */
  readonly keeps?: KeptReference;
  /** Under a grant: references into other records, which stay. */
  readonly leftOut?: ShownVersion;
}

/** A resource that a request names, with its newest body if a grant's categories were compared with it. */
interface Target extends Located {
  readonly before?: { readonly version: number; readonly resource: JsonObject; readonly exact: boolean };
}

/**
 * Returns the resource that a request names; undefined if there is none that the caller sees. Categories are those of the
 * newest event, not of a read model.
 */
async function seenTarget(
  versions: CurrentVersions,
  within: Granted | undefined,
  { request, type, id }: Resolved,
  located: Located | undefined,
): Promise<Target | undefined> {
  const there = request.place ?? located;
  if (within === undefined || there === undefined || there.type !== type || there.automatic) return there;
  if (type === 'Provenance' || recordPatient(there.stream) === undefined || !isLimited(within, type))
    return there;
  const { version, body } = await versions.lastWithBody(there.stream, type, id);
  const { value: resource, exact } = readStored(body);
  const letters = lettersOn(within, type, resource);
  if (letters === '' && request.place === undefined) return undefined;
  return { ...there, letters, before: { version, resource, exact } };
}

/**
 * Returns a request for the version with which a grant was compared. @throws Stale if it was made of another version
 */
function basedOn(request: WriteRequest, there: Target | undefined): WriteRequest {
  if (there?.before === undefined) return request;
  const { version } = there.before;
  if (request.basedOn !== undefined && request.basedOn !== version) throw new Stale();
  return { ...request, basedOn: version };
}

/** Replaces links between entries; conditional references are resolved last, as R4 requires. */
async function linkEntries(
  deps: WriteDeps,
  ctx: CommandContext,
  resolved: readonly Resolved[],
): Promise<Resolved[]> {
  const links = makeLinks(resolved, await resolveSearches(ctx, deps.lookup, deps.bases, resolved));
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
  return runForEntry(at, () => parsePatchEntry(value, exact));
}

/** The resource to be checked and written: as sent, or the current one with the patch applied. */
async function makeCandidate(
  deps: Pick<WriteDeps, 'lookup' | 'bases'>,
  versions: CurrentVersions,
  { caller, asKnown }: Pick<CommandContext, 'caller' | 'asKnown'>,
  { request, type, id, kind }: Resolved,
  eventId: string,
  there: Target | undefined,
  transaction: boolean,
): Promise<Candidate | { settled: WriteResult }> {
  const stream = there?.stream;
  const { within } = caller.sees;
  const base = {
    request,
    eventId,
    type,
    id,
    stream,
    replaces: request.method === 'PUT' && request.resource?.madeOf === undefined,
    hidesFaults: request.patch !== undefined && !mayRead(caller, type),
    ...(request.at === undefined ? {} : { at: request.at }),
  };
  if (request.patch === undefined) {
    const { resource: sent } = request;
    if (sent === undefined) throw new TypeError(`${request.method} without a resource`);
    const { resource, basedOn } =
      stream === undefined || !isAiLabelled(sent.value)
        ? { resource: sent, basedOn: undefined }
        : await withoutAddedLabel(versions, sent, stream, type, id);
    // Only callers who may read may learn that the stored version equals the sent one; for others it is written again.
    if (kind === 'update' && transaction && stream?.startsWith('directory-') && mayRead(caller, type)) {
      const current = await versions.current(stream, type, id);
      const excerpt = subsettedTag(resource.value) >= 0;
      if (current.body !== undefined && !excerpt && sameContent(asObject(current.body), resource.value)) {
        refuseStale(request, type, id, current.version);
        return { settled: { outcome: 'matched', type, id, ...shownCurrent(current) } };
      }
    }
    const isDocument = type === 'DocumentReference';
    if (stream === undefined || (!isDocument && within === undefined)) {
      return basedOn === undefined ? { resource, ...base } : { resource, basedOn, ...base };
    }
    // The stored version that it is compared with must not change until the append.
    const { version, resource: before } = there?.before ?? (await stored(versions, stream, type, id));
    refuseStale(request, type, id, version);
    if (isDocument && heldContents(before, id).length > 0) refuseContents(caller, request);
    const candidate = { resource, basedOn: version, ...base, ...(isDocument ? { before } : {}) };
    if (within === undefined) return candidate;
    // A resource that the service made from the stored version has that version's references.
    if (resource.madeOf !== undefined && type !== 'Provenance')
      return { ...candidate, keeps: keepListed(referencesIn(before)) };
    const leftOut = await shownVersion(before, within.record, deps.bases, deps.lookup.withinRecord);
    const keeps =
      mayRead(caller, type) && type !== 'Provenance'
        ? { keeps: keepListed(referencesIn(leftOut.shown)) }
        : {};
    return { ...candidate, leftOut, ...keeps };
  }
  const current = await versions.current(stream ?? '', type, id);
  if (current.body === undefined) throw atEntry(request.at, gone(type, id));
  const { patch } = request;
  // Checked before the patch is applied, so that a client that patches an outdated version gets 412 first.
  refuseStale(request, type, id, current.version);
  const { value: before, exact } = readStored(current.body);
  if (type === 'DocumentReference' && heldContents(before, id).length > 0) refuseContents(caller, request);
  // Under a grant a patch is applied to the resource as the application sees it.
  const leftOut =
    within === undefined
      ? undefined
      : await shownVersion(before, within.record, deps.bases, deps.lookup.withinRecord);
  const shown = leftOut?.shown ?? before;
  const read = current.byAi ? labelled(shown) : shown;
  const made = await onBehalfOfAsync(request.at, inSlices(patched(read, patch, asKnown))).catch((error) => {
    throw hiddenFault(caller, request, error);
  });
  const value = read === shown ? made : withoutAiLabel(made);
  // Reporting that a patch changed nothing would reveal values, so callers who may not read always get a new
  // version.
  const isShown = mayRead(caller, type);
  if (isShown && repeats(shown, value))
    return { settled: { outcome: 'unchanged', type, id, ...shownCurrent(current) } };
  const keeps = isShown ? keepListed(referencesIn(shown)) : keptInPlace(shown, type, deps.bases);
  return {
    ...base,
    resource: { value, exact: exact || patch.exact, madeOf: shown },
    basedOn: current.version,
    mustBeLive: true,
    before,
    // A Provenance is placed by its targets, all of which are seen.
    ...(leftOut === undefined ? {} : { leftOut, ...(type === 'Provenance' ? {} : { keeps }) }),
  };
}

async function stored(
  versions: CurrentVersions,
  stream: string,
  type: Write['type'],
  id: string,
): Promise<NonNullable<Target['before']>> {
  const { version, body } = await versions.lastWithBody(stream, type, id);
  const { value: resource, exact } = readStored(body);
  return { version, resource, exact };
}

/**
 * Marks the candidates that restore a deleted resource unchanged, which is allowed whatever its content
 * (docs/decisions/0016-required-codes-are-present.md). Only callers who may read may learn that it was so.
 * @returns whether there are any
 */
async function restoreStored(
  versions: CurrentVersions,
  { caller }: CommandContext,
  candidates: Candidate[],
): Promise<boolean> {
  let some = false;
  for (const [index, candidate] of candidates.entries()) {
    const { request, stream, type, id, resource } = candidate;
    if (request.method !== 'PUT' || resource.madeOf !== undefined || stream === undefined) continue;
    if (!mayRead(caller, type)) continue;
    if ((await versions.current(stream, type, id)).body !== undefined) continue;
    const { resource: madeOf } = await stored(versions, stream, type, id);
    if (!sameContent(madeOf, resource.value)) continue;
    const keeps = candidate.keeps ?? keepListed(referencesIn(madeOf));
    candidates[index] = { ...candidate, resource: { ...resource, madeOf }, replaces: false, keeps };
    some = true;
  }
  return some;
}

/** The resource after a patch, with a narrative that is still true. */
function* patched(before: JsonObject, patch: Patch, asKnown: CommandContext['asKnown']): Steps<JsonObject> {
  const after = yield* patchInSteps(before, patch, asKnown);
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
  runForEntry(at, () => refuseStaleVersion(type, id, version, ifMatch));
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
  return { outcome: 'matched', type, id, ...shownCurrent(await versions.current(stream, type, id)) };
}

function finish(candidate: Candidate, checked: SubmittedResource): Write {
  const { request, eventId, type, id, basedOn, mustBeLive, leftOut } = candidate;
  const resource =
    leftOut === undefined ? checked : { ...checked, value: withLeftOut(checked.value, leftOut) };
  if (candidate.stream === undefined) return { kind: 'create', eventId, type, id, resource };
  return {
    kind: 'update',
    eventId,
    type,
    id,
    resource,
    ...(basedOn === undefined ? {} : { basedOn }),
    ...makePrecondition(request),
    ...(mustBeLive === undefined ? {} : { mustBeLive }),
  };
}

/** The version that a request is for. */
function makePrecondition({ ifMatch, basedOn }: WriteRequest): { ifMatch?: IfMatch; basedOn?: number } {
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
  return write.kind === 'remove' ? write : { printed: printContent(write.resource), ...write };
}

/** A document with its data out of it. */
function settled(deps: WriteDeps, ctx: CommandContext, write: Write, candidate: Candidate): Write {
  if (write.type !== 'DocumentReference' || write.kind === 'remove') return write;
  const { request, before } = candidate;
  const { resource, finalized } = runForEntry(request.at, () =>
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
