/**
 * Plans writes without writing: resolves targets and links, builds candidates, checks them, and determines the stream of each
 * candidate.
 */
import type { Position } from '#src/events/store.ts';
import { recordPatient } from '#src/events/streams.ts';
import type { IfMatch } from '#src/fhir/bundle.ts';
import { keepListed } from '#src/fhir/kept-references.ts';
import { referencesIn, withLeftOut } from '#src/fhir/references/left-out.ts';
import { sameContent } from '#src/fhir/same-content.ts';
import { mayRead } from '#src/shared/access/caller.ts';
import { inSlices, mapSteps } from '#src/shared/load/slices.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { CommandContext, Located, SubmittedResource, WriteResult } from '../command.ts';
import { Stale } from '../kernel/kernel.ts';
import { type Candidate, makeCandidate, readStoredVersion, refuseStale } from './candidate.ts';
import { type Checked, checkCandidates } from './check.ts';
import { CurrentVersions, currentEntry, shownVersion } from './current.ts';
import {
  automaticProvenance,
  noClientIds,
  nothingMatches,
  type PlacedWrite,
  printContent,
  type Write,
} from './decide.ts';
import type { Results, WriteDeps } from './deps.ts';
import { atEntry, readEntryPatch, refuse, runForEntry, type WriteRequest } from './request.ts';
import { type Resolved, readTarget, resolveTargets, type Target } from './resolve.ts';
import { linkEntries } from './searches.ts';
import { neededLetter, requireAfter, requireBefore, requireCreation, requireTypes } from './under-grant.ts';
import { hiddenFault, refuseProbing } from './write-only.ts';

/** A write with its stream and the request for it. */
export interface Planned extends PlacedWrite {
  readonly request: WriteRequest;
}

/** The planned writes, and the results of requests that don't need a write. */
export interface Plan {
  readonly planned: readonly Planned[];
  /** The results of requests that don't need a write. */
  readonly results: Results;
  /** The position of the newest event that the results reflect. */
  readonly seen: Position;
}

/**
 * Plans requests: returns the results of those that don't need a write, and for the others the writes, each with its stream.
 * Writes nothing.
 * @throws Refusal as documented in `Commands`, listing every fault of every resource
 */
export async function planWrites(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<Plan> {
  const { within, types } = ctx.caller.sees;
  if (within !== undefined || types !== undefined) requireTypes(ctx.caller.sees, requests, transaction);
  const resolved = await resolveTargets(ctx, deps.lookup, requests);
  const linked = transaction ? await linkEntries(deps, ctx, resolved) : resolved.map(withPatch);
  for (const { request } of linked) if (request.patch !== undefined) refuseProbing(ctx.caller, request);
  const located = await locateTargets(deps, ctx, linked);
  const versions = new CurrentVersions(deps.resources);
  const results: Results = new Map();
  const planned: Planned[] = [];
  const candidates: Candidate[] = [];
  for (const one of linked) {
    if (one.kind === 'nothing') continue;
    const target = await readTarget(versions, within, one, located.get(one.id));
    const aimed = { ...one, request: basedOn(one.request, target) };
    if (isGone(aimed, target)) continue;
    refuseTarget(ctx, aimed, target, transaction);
    const step = await planOne(deps, ctx, versions, aimed, target, transaction);
    if ('settled' in step) results.set(one.request.index, step.settled);
    else if ('write' in step) planned.push(step);
    else candidates.push(step);
  }
  const checked = await checkOrRestore(deps, ctx, versions, candidates);
  const place = (candidate: Candidate, index: number): void => {
    planned.push(placeChecked(deps, ctx, candidate, checked[index]));
  };
  await inSlices(mapSteps(candidates, place));
  return { planned, results, seen: versions.seen };
}

/** Returns the locations of the resources that requests name. */
async function locateTargets(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly Resolved[],
): Promise<ReadonlyMap<string, Located>> {
  const targets = requests
    .filter(({ kind, request }) => kind !== 'create' && kind !== 'nothing' && request.place === undefined)
    .map(({ id }) => id);
  return targets.length === 0 ? new Map() : deps.lookup.locate(ctx.caller, targets);
}

/**
 * Returns a request tied to the version that was checked against a grant.
 * @throws Stale if the request was prepared from a different version
 */
function basedOn(request: WriteRequest, there: Target | undefined): WriteRequest {
  if (there?.before === undefined) return request;
  const { version } = there.before;
  if (request.basedOn !== undefined && request.basedOn !== version) throw new Stale();
  return { ...request, basedOn: version };
}

/** Returns true if a deletion has nothing left to delete. */
function isGone({ request, type, kind }: Resolved, there: Target | undefined): boolean {
  return (
    kind !== 'create' && there?.type !== type && request.method === 'DELETE' && request.ifMatch === undefined
  );
}

/**
 * Refuses a request for a resource that doesn't exist, that only the service itself may write, or that a grant doesn't cover.
 */
function refuseTarget(
  { caller }: CommandContext,
  { request, type, id, kind }: Resolved,
  there: Target | undefined,
  transaction: boolean,
): void {
  if (kind !== 'create' && there?.type !== type) {
    if (request.method === 'DELETE') throw atEntry(request.at, nothingMatches(type, id));
    throw atEntry(request.at, request.method === 'PUT' ? noClientIds(type) : notFound(type, id));
  }
  if (there?.automatic) throw atEntry(request.at, automaticProvenance(id));
  const { within } = caller.sees;
  if (within === undefined) return;
  if (kind === 'create') runForEntry(request.at, () => requireCreation(within, request));
  else if (there !== undefined && kind !== 'matched') {
    const isEntry = transaction && recordPatient(there.stream) === undefined;
    if (!isEntry) requireBefore(within, request, there, there.before?.resource);
  }
}

/** Returns the outcome of planning a request: a result without a write, a deletion, or a resource to be checked. */
async function planOne(
  deps: WriteDeps,
  ctx: CommandContext,
  versions: CurrentVersions,
  one: Resolved,
  there: Target | undefined,
  transaction: boolean,
): Promise<{ readonly settled: WriteResult } | Planned | Candidate> {
  const { request, type, id, kind } = one;
  const stream = there?.stream ?? '';
  if (kind === 'matched') {
    const current = await versions.current(stream, type, id);
    return { settled: { outcome: 'matched', type, id, ...shownVersion(current) } };
  }
  const eventId = ctx.ids.at(request.index, 'event');
  if (kind === 'remove')
    return { request, write: { kind, eventId, type, id, ...makePrecondition(request) }, stream };
  return makeCandidate({ deps, versions, ctx, transaction }, one, eventId, there);
}

/** Applies the patch of a batch entry; batch entries aren't linked. */
function withPatch(one: Resolved): Resolved {
  const { patchSource } = one.request;
  return patchSource === undefined
    ? one
    : { ...one, request: { ...one.request, patch: readEntryPatch(one.request, patchSource) } };
}

/**
 * Checks candidates. Candidates that restore a deleted resource unchanged are checked as content that the service has already
 * stored.
 */
async function checkOrRestore(
  deps: WriteDeps,
  ctx: CommandContext,
  versions: CurrentVersions,
  candidates: Candidate[],
): Promise<readonly Checked[]> {
  return checkCandidates(deps, ctx, candidates).catch(async (error) => {
    await refuseStaleFirst(deps, candidates);
    if (!(await restoreStored(versions, ctx, candidates))) throw error;
    return checkCandidates(deps, ctx, candidates);
  });
}

/**
 * Checks preconditions if the content was refused, because preconditions take precedence over the content (RFC 9110, section
 * 13.2.1). If the content is valid, the decision checks them.
 */
async function refuseStaleFirst({ resources }: WriteDeps, candidates: readonly Candidate[]): Promise<void> {
  for (const { request, type, id, stream } of candidates) {
    if ((request.ifMatch ?? request.basedOn) === undefined || stream === undefined) continue;
    const entry = await currentEntry(resources, stream, id);
    if (entry !== undefined) refuseStale(request, type, id, entry.version);
  }
}

/**
 * Marks the candidates that restore a deleted resource unchanged. That is allowed whatever the content
 * (docs/decisions/0016-required-codes-are-present.md). Only callers with read access may learn that the content was unchanged.
 * @returns true if there are any
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
    const { resource: madeOf } = await readStoredVersion(versions, stream, type, id);
    if (!sameContent(madeOf, resource.value)) continue;
    const keeps = candidate.keeps ?? keepListed(referencesIn(madeOf));
    candidates[index] = { ...candidate, resource: { ...resource, madeOf }, replaces: false, keeps };
    some = true;
  }
  return some;
}

/**
 * Returns a checked candidate's write, with its stream.
 * @throws Refusal 403 422, without faults that the caller must not see
 */
function placeChecked(
  deps: WriteDeps,
  ctx: CommandContext,
  candidate: Candidate,
  checked: Checked | undefined,
): Planned {
  const { request, type, id } = candidate;
  const { stream = '', resource = candidate.resource } = checked ?? {};
  try {
    if (candidate.stream !== undefined && candidate.stream !== stream) {
      const what = `${type}/${id} cannot move to another record, or between a record and the directory; create a new resource there`;
      throw refuse('invalid', request, 'business-rule', what);
    }
    const { within } = ctx.caller.sees;
    if (within !== undefined) {
      const letter = candidate.stream === undefined ? 'c' : neededLetter(request);
      requireAfter(within, request, letter, stream, type, resource.value);
    }
    return { request, write: printed(settled(deps, ctx, finish(candidate, resource), candidate)), stream };
  } catch (error) {
    throw hiddenFault(ctx.caller, request, error);
  }
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

/** Returns the version that a request requires. */
function makePrecondition({ ifMatch, basedOn }: WriteRequest): { ifMatch?: IfMatch; basedOn?: number } {
  return {
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(basedOn === undefined ? {} : { basedOn }),
  };
}

/**
 * Serializes the content before the decision: serializing thousands of resources within the decision would delay other
 * requests for too long.
 */
function printed(write: Write): Write {
  return write.kind === 'remove' ? write : { printed: printContent(write.resource), ...write };
}

/** Returns a write in which a document's data is replaced by references to stored bytes. */
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
