/**
 * Builds the resource that a request asks for, before the resource is checked: as sent, or the current version with a patch
 * applied.
 */
import { heldContents } from '#src/fhir/document-content.ts';
import { type KeptReference, keepListed, keptInPlace } from '#src/fhir/kept-references.ts';
import { settleNarrative } from '#src/fhir/narrative.ts';
import { type Patch, patchInSteps } from '#src/fhir/patch/patch.ts';
import { referencesIn, type ShownVersion, shownVersion } from '#src/fhir/references/left-out.ts';
import { repeats, sameContent } from '#src/fhir/same-content.ts';
import { subsettedTag } from '#src/fhir/summary.ts';
import { isAiLabelled, labelled, withoutAiLabel } from '#src/shared/access/ai-label.ts';
import { type Granted, mayRead } from '#src/shared/access/caller.ts';
import { isObject, type JsonObject, parseJson, readStored } from '#src/shared/json/json.ts';
import { inSlices, type Steps } from '#src/shared/load/slices.ts';
import type { CommandContext, SubmittedResource, WriteResult } from '../command.ts';
import { Stale } from '../kernel/kernel.ts';
import { type CurrentVersions, shownVersion as shownCurrent } from './current.ts';
import { gone, refuseStale as refuseStaleVersion, type Write } from './decide.ts';
import type { WriteDeps } from './deps.ts';
import { atEntry, onBehalfOfAsync, runForEntry, type WriteRequest } from './request.ts';
import type { Resolved, Target } from './resolve.ts';
import { hiddenFault, refuseContents } from './write-only.ts';

/** A resource to be checked and written. */
export interface Candidate {
  readonly at?: string;
  readonly request: WriteRequest;
  readonly eventId: string;
  readonly type: Write['type'];
  readonly id: string;
  readonly resource: SubmittedResource;
  /** True if a client's resource replaces the stored one. */
  readonly replaces: boolean;
  /** See `Candidate` in `check.ts`. */
  readonly hidesFaults: boolean;
  /** The stream that contains the resource now; undefined for a new resource. */
  readonly stream: string | undefined;
  readonly basedOn?: number;
  /** A PATCH must not restore a deleted resource. */
  readonly mustBeLive?: boolean;
  /** The newest version of a document that has a body. */
  readonly before?: JsonObject;
  /** References in the stored version that may stay although the caller can't see their targets. */
  readonly keeps?: KeptReference;
  /** Under a grant: references to other records, which are kept. */
  readonly leftOut?: ShownVersion;
}

/** A resource to be checked, or the result of a request that doesn't need a write. */
export type Made = Candidate | { readonly settled: WriteResult };

/** The inputs for building candidates: dependencies, stored versions, and the caller. */
interface Making {
  readonly deps: Pick<WriteDeps, 'lookup' | 'bases'>;
  readonly versions: CurrentVersions;
  readonly ctx: Pick<CommandContext, 'caller' | 'asKnown'>;
  readonly transaction: boolean;
}

/** The members that all candidates have. */
type Base = Omit<Candidate, 'resource'>;

/**
 * Builds the candidate for a create, an update or a patch.
 * @throws Refusal 404 410 412 413 422; Stale if the request was prepared from a different version than the stored one
 */
export async function makeCandidate(
  making: Making,
  one: Resolved,
  eventId: string,
  there: Target | undefined,
): Promise<Made> {
  const { request, type, id } = one;
  const base: Base = {
    request,
    eventId,
    type,
    id,
    stream: there?.stream,
    replaces: request.method === 'PUT' && request.resource?.madeOf === undefined,
    hidesFaults: request.patch !== undefined && !mayRead(making.ctx.caller, type),
    ...(request.at === undefined ? {} : { at: request.at }),
  };
  if (request.patch !== undefined) return applyPatch(making, base, request.patch);
  if (request.resource === undefined) throw new TypeError(`${request.method} without a resource`);
  if (base.stream === undefined) return { resource: request.resource, ...base };
  return replaceStored(making, base, base.stream, request.resource, one.kind, there);
}

/** Builds the candidate for a resource that replaces a stored one. */
async function replaceStored(
  making: Making,
  base: Base,
  stream: string,
  sent: SubmittedResource,
  kind: Resolved['kind'],
  there: Target | undefined,
): Promise<Made> {
  const { versions, ctx, transaction } = making;
  const { type, id, request } = base;
  const { resource, basedOn } = isAiLabelled(sent.value)
    ? await withoutAddedLabel(versions, sent, stream, type, id)
    : { resource: sent, basedOn: undefined };
  // Only callers with read access may learn that the stored version is identical to the one that they sent; for other callers
  // it is written again.
  if (kind === 'update' && transaction && stream.startsWith('directory-') && mayRead(ctx.caller, type)) {
    const current = await versions.current(stream, type, id);
    const excerpt = subsettedTag(resource.value) >= 0;
    if (current.body !== undefined && !excerpt && sameContent(asObject(current.body), resource.value)) {
      refuseStale(request, type, id, current.version);
      return { settled: { outcome: 'matched', type, id, ...shownCurrent(current) } };
    }
  }
  const { within } = ctx.caller.sees;
  if (type !== 'DocumentReference' && within === undefined)
    return basedOn === undefined ? { resource, ...base } : { resource, basedOn, ...base };
  return compareWithStored(making, { resource, ...base }, stream, within, there);
}

/** Compares the candidate with the stored version if a document's bytes, or references that the caller can't see, must stay. */
async function compareWithStored(
  { deps, versions, ctx: { caller } }: Making,
  made: Candidate,
  stream: string,
  within: Granted | undefined,
  there: Target | undefined,
): Promise<Candidate> {
  const { type, id, request, resource } = made;
  const isDocument = type === 'DocumentReference';
  // The stored version used for the comparison must not change before the append.
  const { version, resource: before } =
    there?.before ?? (await readStoredVersion(versions, stream, type, id));
  refuseStale(request, type, id, version);
  if (isDocument && heldContents(before, id).length > 0) refuseContents(caller, request);
  const candidate = { ...made, basedOn: version, ...(isDocument ? { before } : {}) };
  if (within === undefined) return candidate;
  // A resource that the service made from the stored version has the same references as that version.
  if (resource.madeOf !== undefined && type !== 'Provenance')
    return { ...candidate, keeps: keepListed(referencesIn(before)) };
  const leftOut = await shownVersion(before, within.record, deps.bases, deps.lookup.withinRecord);
  const keeps =
    mayRead(caller, type) && type !== 'Provenance' ? { keeps: keepListed(referencesIn(leftOut.shown)) } : {};
  return { ...candidate, leftOut, ...keeps };
}

/** Builds the candidate for a patch: the current version, as the caller sees it, with the patch applied. */
async function applyPatch(
  { deps, versions, ctx: { caller, asKnown } }: Making,
  base: Base,
  patch: Patch,
): Promise<Made> {
  const { request, type, id, stream } = base;
  const current = await versions.current(stream ?? '', type, id);
  if (current.body === undefined) throw atEntry(request.at, gone(type, id));
  // Checked before the patch is applied, so that a client that patches an outdated version gets 412 rather than an error from
  // the patch.
  refuseStale(request, type, id, current.version);
  const { value: before, exact } = readStored(current.body);
  if (type === 'DocumentReference' && heldContents(before, id).length > 0) refuseContents(caller, request);
  // Under a grant, a patch is applied to the resource as the application sees it.
  const { within } = caller.sees;
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
  // Reporting that a patch changed nothing would reveal values, so callers without read access always get a new version.
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
    // A Provenance is placed by its targets, all of which are visible to the caller.
    ...(leftOut === undefined ? {} : { leftOut, ...(type === 'Provenance' ? {} : { keeps }) }),
  };
}

/** Returns the patched resource, with a narrative that is still valid (see `settleNarrative`). */
function* patched(before: JsonObject, patch: Patch, asKnown: CommandContext['asKnown']): Steps<JsonObject> {
  const after = yield* patchInSteps(before, patch, asKnown);
  yield;
  return settleNarrative(before, after);
}

/**
 * Returns a resource without the label that reads added to the stored version (`src/shared/access/ai-label.ts`), and the
 * stored version's number. A label that a client set itself is kept.
 */
async function withoutAddedLabel(
  versions: CurrentVersions,
  resource: SubmittedResource,
  stream: string,
  type: Write['type'],
  id: string,
): Promise<{ readonly resource: SubmittedResource; readonly basedOn: number }> {
  const { version: basedOn, body, byAi } = await versions.lastWithBody(stream, type, id);
  if (!byAi || isAiLabelled(readStored(body).value)) return { resource, basedOn };
  return { resource: { ...resource, value: withoutAiLabel(resource.value) }, basedOn };
}

/**
 * Returns the newest version that has a body.
 * @throws Refusal not_found
 */
export async function readStoredVersion(
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
 * Refuses a request that was made for a different version.
 * @throws Stale; Refusal 412
 */
export function refuseStale(
  { ifMatch, basedOn, at }: WriteRequest,
  type: string,
  id: string,
  version: number,
): void {
  if (basedOn !== undefined && basedOn !== version) throw new Stale();
  runForEntry(at, () => refuseStaleVersion(type, id, version, ifMatch));
}

function asObject(body: string): JsonObject {
  const { value } = parseJson(body);
  if (!isObject(value)) throw new TypeError('a stored body is not an object');
  return value;
}
