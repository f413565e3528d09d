/** From requests to writes: targets → links → patches → checks. Looks things up, writes nothing. */
import { settleNarrative } from '#src/fhir/narrative.ts';
import { applyPatch } from '#src/fhir/patch/patch.ts';
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { CommandContext, SubmittedResource, WriteResult } from '../command.ts';
import { type Checked, checkCandidates } from './check.ts';
import { sameContent } from './content.ts';
import { currentVersion } from './current.ts';
import { gone, noClientIds, stale, type Write } from './decide.ts';
import type { Results, WriteDeps } from './deps.ts';
import { conditionalReferences, fullUrlMap, relink, resolveConditionalReferences } from './links.ts';
import { onBehalfOf, refuse, resourcesOf, type WriteRequest } from './request.ts';
import { type Resolved, resolveTargets } from './resolve.ts';

/** A write and where it goes. */
export interface Planned {
  readonly request: WriteRequest;
  readonly write: Write;
  readonly stream: string;
}

/** What requests come to. */
export interface Plan {
  readonly planned: readonly Planned[];
  /** Of the requests that need no write. */
  readonly results: Results;
}

/**
 * Finds what requests come to: results that need no write, and the writes with the stream of each. Nothing is written.
 * @throws Refusal as `Commands` says; every fault of every resource at once.
 */
export async function planWrites(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<Plan> {
  const resolved = await resolveTargets(ctx, deps.lookup, requests);
  const linked = transaction ? await linkEntries(deps, ctx, resolved) : resolved;
  const located = await deps.lookup.locate(
    ctx.caller,
    linked.filter(({ kind }) => kind !== 'create' && kind !== 'nothing').map(({ id }) => id),
  );
  const results: Results = new Map();
  const planned: Planned[] = [];
  const candidates: Candidate[] = [];
  for (const one of linked) {
    const { request, id, type, kind } = one;
    const there = located.get(id);
    if (kind === 'nothing') continue;
    if (kind !== 'create' && (there === undefined || there.type !== type)) {
      throw onBehalfOf(request.at, () => (request.method === 'PUT' ? noClientIds(type) : notFound(type, id)));
    }
    const eventId = ctx.ids.at(request.index, 'event');
    if (kind === 'matched') {
      results.set(request.index, await matchedResult(deps, one, there?.stream ?? ''));
    } else if (kind === 'remove') {
      const { ifMatch } = request;
      const write: Write = { kind, eventId, type, id, ...(ifMatch === undefined ? {} : { ifMatch }) };
      planned.push({ request, write, stream: there?.stream ?? '' });
    } else {
      const candidate = await candidateOf(deps, one, eventId, there?.stream, transaction);
      if ('settled' in candidate) results.set(request.index, candidate.settled);
      else candidates.push(candidate);
    }
  }
  const checked = await checkCandidates(ctx, deps.lookup, deps.bases, candidates);
  candidates.forEach((candidate, index) => {
    const stream = checked[index]?.stream ?? '';
    if (candidate.stream !== undefined && candidate.stream !== stream) {
      const what = `${candidate.type}/${candidate.id} cannot move to another record, nor between a record and the directory`;
      throw refuse('invalid', candidate.request, 'business-rule', what);
    }
    planned.push({ request: candidate.request, write: finish(candidate, checked[index]), stream });
  });
  return { planned, results };
}

interface Candidate {
  readonly at?: string;
  readonly request: WriteRequest;
  readonly eventId: string;
  readonly type: Write['type'];
  readonly id: string;
  readonly resource: SubmittedResource;
  /** Where the resource is now; undefined for a new one. */
  readonly stream: string | undefined;
  readonly basedOn?: number;
}

/** Replaces links between entries; searches that stand as references come last, as R4 says. */
async function linkEntries(
  deps: WriteDeps,
  ctx: CommandContext,
  resolved: readonly Resolved[],
): Promise<Resolved[]> {
  const map = fullUrlMap(resolved);
  const references = conditionalReferences(resourcesOf(resolved.map(({ request }) => request)), deps.bases);
  const found = await resolveConditionalReferences(ctx, deps.lookup, references, resolved);
  for (const [reference, target] of found) map.set(reference, target);
  return resolved.map((one) => {
    const { resource } = one.request;
    if (resource === undefined) return one;
    return { ...one, request: { ...one.request, resource: relink(resource, one.type, map) } };
  });
}

/** The resource to be checked and written: as sent, or the current one with the patch applied. */
async function candidateOf(
  deps: WriteDeps,
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
    ...(request.at === undefined ? {} : { at: request.at }),
  };
  if (request.patch === undefined) {
    const resource = request.resource;
    if (resource === undefined) throw new TypeError(`${request.method} without a resource`);
    if (kind === 'update' && transaction && stream?.startsWith('directory-')) {
      const current = await currentVersion(deps.handler, stream, type, id);
      if (current.body !== undefined && sameContent(asObject(current.body), resource.value)) {
        return {
          settled: {
            outcome: 'matched',
            type,
            id,
            version: current.version,
            lastUpdated: current.lastUpdated,
            body: current.body,
          },
        };
      }
    }
    return { ...base, resource };
  }
  const current = await currentVersion(deps.handler, stream ?? '', type, id);
  if (current.body === undefined) throw onBehalfOf(request.at, () => gone(type, id));
  const { patch } = request;
  const before = asObject(current.body);
  const value = onBehalfOf(request.at, () => settleNarrative(before, applyPatch(before, patch)));
  if (printJson(value) === printJson(before)) {
    const { ifMatch } = request;
    if (ifMatch !== undefined && ifMatch !== current.version)
      throw onBehalfOf(request.at, () => stale(type, id, current.version, ifMatch));
    return { settled: { outcome: 'unchanged', type, id, ...current } };
  }
  return { ...base, resource: { value, exact: true }, basedOn: current.version };
}

async function matchedResult(deps: WriteDeps, { type, id }: Resolved, stream: string): Promise<WriteResult> {
  const { version, lastUpdated, body } = await currentVersion(deps.handler, stream, type, id);
  return { outcome: 'matched', type, id, version, lastUpdated, ...(body === undefined ? {} : { body }) };
}

function finish(candidate: Candidate, checked: Checked | undefined): Write {
  const { request, eventId, type, id, basedOn } = candidate;
  const resource = checked?.resource ?? candidate.resource;
  if (candidate.stream === undefined) return { kind: 'create', eventId, type, id, resource };
  return {
    kind: 'update',
    eventId,
    type,
    id,
    resource,
    ...(request.ifMatch === undefined ? {} : { ifMatch: request.ifMatch }),
    ...(basedOn === undefined ? {} : { basedOn, mustBeLive: true }),
  };
}

function asObject(body: string): JsonObject {
  const { value } = parseJson(body);
  if (!isObject(value)) throw new TypeError('a stored body is no object');
  return value;
}
