/**
 * The way of every write: targets → links → patches → checks → one append (and, for new directory entries beside a
 * record, the carried one). A single command is a transaction of one.
 */

import type { EventStore, Position } from '#src/events/store.ts';
import { directoryStream, patientOf } from '#src/events/streams.ts';
import { settleNarrative } from '#src/fhir/narrative.ts';
import { applyPatch } from '#src/fhir/patch/patch.ts';
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json.ts';
import { notFound, Refusal, unavailable } from '#src/shared/refusal.ts';
import {
  type CommandContext,
  type CriteriaLocks,
  type Lookup,
  metadataBase,
  type SubmittedResource,
  type WriteResult,
  type Written,
} from '../command.ts';
import { completeCarried } from '../directory/carry.ts';
import type { Clock, Decision, Handler } from '../handle.ts';
import { checkAuthorship } from './authorship.ts';
import { type Checked, checkCandidates } from './check.ts';
import { sameContent } from './content.ts';
import { currentVersion } from './current.ts';
import { decideWrites, gone, Moved, noClientIds, touchedIds, type Write } from './decide.ts';
import {
  conditionalReferences,
  fullUrlMap,
  relink,
  resolveConditionalReferences,
  splitConditional,
} from './links.ts';
import { rebuildResults } from './rebuild.ts';
import { onBehalfOf, refuse, type WriteRequest } from './request.ts';
import { lockKey, type Resolved, resolveTargets } from './resolve.ts';
import type { StreamState } from './state.ts';

/** What the write side works with; `app.ts` hands it in. */
export interface WriteDeps {
  readonly store: EventStore;
  readonly handler: Handler;
  readonly lookup: Lookup;
  readonly locks: CriteriaLocks;
  /** Waits until reads show a position; what it answers is the HTTP layer's affair. */
  readonly visible: (position: Position) => Promise<unknown>;
  /** FHIR base URLs, each with a slash at its end, under which an absolute reference is one of ours. */
  readonly bases: readonly string[];
}

/** Results by the index of their request. */
export type Results = Map<number, WriteResult>;

/**
 * Writes all requests or none.
 * @param transaction whether links between requests are resolved (a transaction Bundle).
 */
export async function write(
  deps: WriteDeps,
  context: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<Written<Results>> {
  const ctx = { ...context, authorship: await checkAuthorship(context, deps.lookup) };
  const keys = lockKeys(deps, ctx, requests, transaction);
  if (keys.length === 0) return writeUnlocked(deps, ctx, requests, transaction);
  return deps.locks.hold(keys, async () => {
    const written = await writeUnlocked(deps, ctx, requests, transaction);
    // The next holder of a criterion must see what this one wrote.
    if (written.position !== undefined) await deps.visible(written.position);
    return written;
  });
}

function lockKeys(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): string[] {
  const keys = new Set<string>();
  for (const { type, criteria } of requests)
    if (criteria !== undefined) keys.add(lockKey(ctx, type, criteria));
  if (transaction) {
    for (const reference of conditionalReferences(resourcesOf(requests), deps.bases)) {
      const parts = splitConditional(reference);
      if (parts !== undefined) keys.add(lockKey(ctx, parts.type, parts.criteria));
    }
  }
  return [...keys].sort();
}

async function writeUnlocked(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<Written<Results>> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(deps, ctx, requests, transaction);
    } catch (error) {
      if (!(error instanceof Moved)) throw error;
      if (tries === 10) throw unavailable('the resource is being written by many at once');
    }
  }
}

async function attempt(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<Written<Results>> {
  const resolved = await resolveTargets(ctx, deps.lookup, requests);
  const linked = transaction ? await linkEntries(deps, ctx, resolved) : resolved;
  const located = await deps.lookup.locate(
    ctx.caller,
    linked.filter(({ kind }) => kind !== 'create' && kind !== 'nothing').map(({ id }) => id),
  );
  const results: Results = new Map();
  const planned: { request: WriteRequest; write: Write; stream: string }[] = [];
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
      if ('matched' in candidate) results.set(request.index, candidate.matched);
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
  return append(deps, ctx, planned, results, transaction);
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
): Promise<Candidate | { matched: WriteResult }> {
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
          matched: {
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

const RANK = { DELETE: 0, POST: 1, PUT: 2, PATCH: 2 } as const;

interface Planned {
  readonly request: WriteRequest;
  readonly write: Write;
  readonly stream: string;
}

/** One append: to the record (new directory entries carried along), or to the directory. */
async function append(
  deps: WriteDeps,
  ctx: CommandContext,
  planned: readonly Planned[],
  results: Results,
  transaction: boolean,
): Promise<Written<Results>> {
  if (planned.length === 0) return { result: results, position: undefined };
  const ordered = [...planned].sort(
    (a, b) => RANK[a.request.method] - RANK[b.request.method] || a.request.index - b.request.index,
  );
  const records = new Set(
    ordered.filter(({ stream }) => patientOf(stream) !== undefined).map(({ stream }) => stream),
  );
  if (records.size > 1) {
    throw new Refusal('invalid', {
      code: 'business-rule',
      diagnostics:
        'a transaction writes to one patient’s record; this one touches several (send it as a batch, or one Bundle per patient)',
      expression: 'Bundle.entry',
    });
  }
  const [record] = records;
  const stream = record ?? directoryStream(ctx.caller.tenant);
  const own = ordered.filter((one) => one.stream === stream);
  const carried = ordered.filter((one) => one.stream !== stream);
  for (const { write: one, request } of carried) {
    if (one.kind === 'create') continue;
    const what = `${one.type}/${one.id} is of the directory: change or delete it in a request of its own, not together with a record`;
    throw refuse('invalid', request, 'business-rule', what);
  }
  const metadata = metadataBase(ctx, transaction ? ctx.ids.at(0, 'transaction') : undefined);
  const writes = own.map(({ write: one }) => one);
  const decide = (state: StreamState, clock: Clock): Decision<WriteResult[]> => {
    const decision = decideWrites(state, clock, writes, (index, work) =>
      onBehalfOf(own[index]?.request.at, work),
    );
    if (carried.length === 0) return decision;
    return {
      ...decision,
      drafts: [
        ...decision.drafts,
        { id: ctx.ids.at(0, 'carry'), at: clock.next(), event: carry(ctx, carried) },
      ],
    };
  };
  const handled = await deps.handler.handle<WriteResult[]>({
    stream,
    metadata,
    now: ctx.now,
    retry: ctx.retry,
    owner: ctx.caller.tenant,
    touches: touchedIds(stream, writes),
    decide,
    rebuild: (events, before) => rebuildResults(events, before, writes),
  });
  own.forEach(({ request }, index) => {
    const result = handled.result[index];
    if (result !== undefined) results.set(request.index, result);
  });
  let { position } = handled;
  if (carried.length > 0) {
    const owner = { ...ctx.caller.tenant };
    const carrying = {
      metadata: { ...metadata, owner, recorded_at: '', append: [0, 1] as [number, number] },
      event: carry(ctx, carried),
    };
    const completed = await completeCarried(deps.handler, carrying, ctx.now);
    for (const { request, write: one } of carried) {
      const result =
        completed.results.find(({ id }) => id === one.id) ??
        (await carriedResult(deps, directoryStream(ctx.caller.tenant), one));
      results.set(request.index, result);
    }
    if (completed.position !== undefined && (position === undefined || completed.position > position))
      position = completed.position;
  }
  return { result: results, position };
}

function carry(ctx: CommandContext, carried: readonly Planned[]) {
  const entries = carried.map(({ write: one }) => ({
    event_id: one.eventId,
    resource_type: one.type,
    resource_id: one.id,
    resource: one.kind === 'create' ? printJson(one.resource.value, one.resource.exact) : '',
  }));
  return {
    type: 'DirectoryEntriesCarried' as const,
    data: { stream: directoryStream(ctx.caller.tenant), entries },
  };
}

/** An entry that somebody else has completed meanwhile. */
async function carriedResult(deps: WriteDeps, stream: string, one: Write): Promise<WriteResult> {
  const located = await currentVersion(deps.handler, stream, one.type, one.id);
  return { outcome: 'created', type: one.type, id: one.id, version: 1, lastUpdated: located.lastUpdated };
}

function resourcesOf(requests: readonly WriteRequest[]): SubmittedResource[] {
  return requests.flatMap(({ resource }) => (resource === undefined ? [] : [resource]));
}

function asObject(body: string): JsonObject {
  const { value } = parseJson(body);
  if (!isObject(value)) throw new TypeError('a stored body is no object');
  return value;
}
