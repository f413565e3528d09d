/**
 * Executes a request only once: if an earlier attempt crashed after writing, its result is rebuilt from its events. This check
 * comes before any planning, because a plan would use data that has changed since the first attempt.
 */
import type { StoredEvent } from '#src/events/catalog.ts';
import { isResourceType } from '#src/fhir/types.ts';
import { withAiLabel } from '#src/shared/access/ai-label.ts';
import { isByAi } from '#src/shared/access/caller.ts';
import type { CommandContext, WriteResult, Written } from '../command.ts';
import { carriedResult, currentVersion, readVersion, shownVersion } from './current.ts';
import type { Results, WriteDeps } from './deps.ts';
import type { WriteRequest } from './request.ts';
import { findEntry, type Resources } from './state.ts';
import { type Prepare, write, writeFirst } from './write.ts';
import { refuseConditions } from './write-only.ts';

/** Writes like `writeFirst`, but also looks for an earlier attempt, so that the request is executed only once. */
export async function writeOnce(...asked: Parameters<typeof writeFirst>): Promise<Written<Results>> {
  const [deps, ctx, requests] = asked;
  refuseConditions(ctx.caller, requests);
  return (await rebuildEarlier(deps, ctx, requests)) ?? writeFirst(...asked);
}

/**
 * Decides on and writes a transaction while holding a lock, which is released only when reads show the write.
 * @param decide reads the current state and returns the requests; called again if a version that a request names in `ifMatch`
 * is no longer current
 */
export async function writeDecided(
  deps: WriteDeps,
  ctx: CommandContext,
  key: string,
  decide: Prepare,
): Promise<Written<Results>> {
  const earlier = await earlierResults(deps, ctx);
  if (earlier !== undefined) return earlier;
  const prepare: Prepare = async () => (await decide()).map(basedOnMatched);
  return deps.locks.hold([`${ctx.caller.sees.ownerId}/${key}`], async () => {
    const written = await write(deps, ctx, prepare, true);
    if (written.position !== undefined) await deps.settle(written.position);
    return written;
  });
}

function basedOnMatched({ ifMatch, ...request }: WriteRequest): WriteRequest {
  if (ifMatch === undefined) return request;
  if (ifMatch === '*') return { ...request, ifMatch };
  return { ...request, basedOn: ifMatch };
}

/**
 * Rebuilds the results of an earlier attempt, and completes the work that it left unfinished (carried directory entries).
 * @returns undefined if there was no earlier attempt, or if it wrote nothing
 */
async function rebuildEarlier(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
): Promise<Written<Results> | undefined> {
  const attempt = ctx.retry?.earlier.get(ctx.ids.seed);
  if (attempt === undefined) return undefined;
  const events = await deps.resources.written(attempt, ctx.ids.seed);
  let position = events.at(-1)?.position;
  if (position === undefined) return undefined;
  const { state: before } = await deps.resources.at(attempt.stream, attempt.expectedRevision);
  const written = new Map<string, WriteResult>();
  for (const stored of events) {
    if (stored.event.type === 'DirectoryEntriesCarried') {
      const { stream, entries } = stored.event.data;
      const completed = await deps.completeCarried(stored, ctx.now);
      if (completed.position !== undefined && completed.position > position) position = completed.position;
      for (const { event_id, resource_type: type, resource_id: id } of entries) {
        if (isResourceType(type)) written.set(event_id, await carriedResult(deps, stream, { type, id }));
      }
    } else if (stored.event.type !== 'DocumentFinalized') written.set(stored.id, makeResult(stored, before));
  }
  const result: Results = new Map();
  for (const request of requests) {
    const own =
      written.get(ctx.ids.at(request.index, 'event')) ?? (await unwritten(deps, ctx, before, request));
    if (own !== undefined) result.set(request.index, own);
  }
  return { result, position };
}

/** Returns the results of an earlier attempt on a record, in the order of its events; undefined if it wrote nothing. */
async function earlierResults(deps: WriteDeps, ctx: CommandContext): Promise<Written<Results> | undefined> {
  const attempt = ctx.retry?.earlier.get(ctx.ids.seed);
  if (attempt === undefined) return undefined;
  const events = await deps.resources.written(attempt, ctx.ids.seed);
  const position = events.at(-1)?.position;
  if (position === undefined) return undefined;
  const { state: before } = await deps.resources.at(attempt.stream, attempt.expectedRevision);
  const written = events.filter(({ event }) => event.type.startsWith('Resource'));
  return { result: new Map(written.map((stored, at) => [at, makeResult(stored, before)])), position };
}

function makeResult({ event, metadata }: StoredEvent, before: Resources): WriteResult {
  if (!('resourceType' in event) || !isResourceType(event.resourceType)) {
    throw new TypeError(`${event.type} answers no write`);
  }
  const { resourceType: type, resourceId: id, version } = event;
  const base = { type, id, version, lastUpdated: metadata.recorded_at };
  if (event.type === 'ResourceDeleted') return { outcome: 'deleted', ...base };
  const body = isByAi(metadata) ? withAiLabel(event.body) : event.body;
  if (event.type === 'ResourceCreated') return { outcome: 'created', ...base, body };
  return { outcome: findEntry(before, id)?.deleted ? 'restored' : 'updated', ...base, body };
}

/**
 * Rebuilds the result of a request that needed no write, from its id or criteria; undefined if nothing matches. An unchanged
 * resource is returned in the version that the earlier attempt saw (`before`), because others may have written to it since.
 */
async function unwritten(
  deps: WriteDeps,
  ctx: CommandContext,
  before: Resources,
  request: WriteRequest,
): Promise<WriteResult | undefined> {
  const { type, criteria, method } = request;
  const [id] =
    request.id === undefined ? await deps.lookup.match(ctx.caller, type, criteria ?? '') : [request.id];
  const there = id === undefined ? undefined : (await deps.lookup.locate(ctx.caller, [id])).get(id);
  if (id === undefined || there === undefined) return undefined;
  const { stream } = there;
  const unchanged = method === 'PATCH' || method === 'DELETE';
  const entry = unchanged && stream === before.stream ? findEntry(before, id) : undefined;
  const version =
    entry === undefined
      ? await currentVersion(deps.resources, stream, type, id)
      : await readVersion(deps.resources, stream, entry);
  return { outcome: unchanged ? 'unchanged' : 'matched', type, id, ...shownVersion(version) };
}
