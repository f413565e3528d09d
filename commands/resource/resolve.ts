/**
 * Resolves the targets of requests: assigns ids to new resources, matches conditions, and refuses duplicates. If this process
 * remembers a resource's record, the resource is found by its id without a database query.
 */

import { recordPatient, recordStream } from '#src/events/streams.ts';
import { bareCriteria } from '#src/fhir/bundle.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import type { Granted } from '#src/shared/access/caller.ts';
import { type JsonObject, readStored } from '#src/shared/json/json.ts';
import type { CommandContext, Located, Lookup } from '../command.ts';
import type { Streams } from '../kernel/streams.ts';
import type { CurrentVersions } from './current.ts';
import { noClientIds } from './decide.ts';
import { atEntry, onBehalfOfAsync, refuse, type WriteRequest } from './request.ts';
import type { Resources } from './state.ts';
import { isLimited, lettersOn } from './under-grant.ts';

/**
 * Locates the ids that references name. Ids never move out of a record: deleted ids still count, and a purged record refuses
 * the append. So a cached state is enough to locate its resources, even if it is behind the store.
 * @param patients the ids that could be Patients: their records are searched
 * @param versions the lowest version that must exist, for some ids: a cached state that is behind the store can't rule it out
 */
export async function locateKnown(
  resources: Streams<Resources>,
  lookup: Lookup,
  ctx: CommandContext,
  ids: ReadonlySet<string>,
  patients: readonly string[],
  versions: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, Located>> {
  const found = new Map<string, Located>();
  const { owner, within } = ctx.caller.sees;
  // The cached state doesn't say which resources a grant covers.
  if (within !== undefined) return lookup.locate(ctx.caller, [...ids]);
  for (const patient of patients) {
    const stream = recordStream(patient);
    const known = resources.peek(stream);
    if (known?.owner?.project !== owner.project || known.owner.environment !== owner.environment) continue;
    for (const id of ids) {
      const entry = known.state.entries.get(id);
      if (entry && isResourceType(entry.type) && entry.version >= (versions.get(id) ?? 0))
        found.set(id, { type: entry.type, id, stream, version: entry.version, deleted: entry.deleted });
    }
  }
  const missing = [...ids].filter((id) => !found.has(id));
  if (missing.length === 0) return found;
  for (const [id, located] of await lookup.locate(ctx.caller, missing)) found.set(id, located);
  return found;
}

/** A request whose target is resolved. */
export interface Resolved {
  readonly request: WriteRequest;
  readonly type: ResourceType;
  /**
   * `create`: a new id · `update` or `remove`: an existing id · `matched`: a conditional create found a match · `nothing`: a
   * conditional delete found no match.
   */
  readonly kind: 'create' | 'update' | 'remove' | 'matched' | 'nothing';
  /** Empty for `nothing`. */
  readonly id: string;
}

/**
 * Returns the lock key of a conditional request; requests with the same key are decided one after the other.
 */
export function lockKey(ctx: CommandContext, type: ResourceType, criteria: string): string {
  return `${ctx.caller.sees.ownerId}/${type}?${bareCriteria(criteria, type)}`;
}

/**
 * Resolves every request's target. Deletions come first, as in R4: other requests can't match the resources that they delete.
 * @throws Refusal 400 (a duplicate target, mismatched ids), 404, 405, 412 (several matches)
 */
export async function resolveTargets(
  ctx: CommandContext,
  lookup: Lookup,
  requests: readonly WriteRequest[],
): Promise<Resolved[]> {
  const resolve = (some: readonly WriteRequest[], gone: readonly string[]): Promise<Resolved[]> =>
    Promise.all(some.map((request) => resolveTarget(ctx, lookup, request, gone)));
  const removals = await resolve(
    requests.filter(({ method }) => method === 'DELETE'),
    [],
  );
  const gone = removals.filter(({ kind }) => kind === 'remove').map(({ id }) => id);
  const others = await resolve(
    requests.filter(({ method }) => method !== 'DELETE'),
    gone,
  );
  const resolved = [...removals, ...others].sort((a, b) => a.request.index - b.request.index);
  refuseTwice(resolved);
  return resolved;
}

async function resolveTarget(
  ctx: CommandContext,
  lookup: Lookup,
  request: WriteRequest,
  gone: readonly string[],
): Promise<Resolved> {
  const { method, type, id, criteria } = request;
  const create = (): Resolved => ({ request, type, kind: 'create', id: newIdFor(ctx, request) });
  if (criteria === undefined) {
    if (method === 'POST') return create();
    if (method === 'PUT') refuseOtherBodyId(request, id ?? '', true);
    return { request, type, kind: method === 'DELETE' ? 'remove' : 'update', id: id ?? '' };
  }
  const matches = await onBehalfOfAsync(request.at, lookup.match(ctx.caller, type, criteria, gone));
  const [match, second] = matches;
  ctx.searched?.(type, criteria, matches.length);
  if (second !== undefined)
    throw refuse(
      'precondition_failed',
      request,
      'multiple-matches',
      `several ${type} resources match the criteria; use criteria that match one`,
    );
  // If the criteria match a resource that an earlier attempt of this same request created, the request still counts as a
  // creation.
  if (match === newIdFor(ctx, request)) return create();
  if (match !== undefined) {
    if (method === 'PUT') refuseOtherBodyId(request, match, false);
    const kind = ({ POST: 'matched', PUT: 'update', PATCH: 'update', DELETE: 'remove' } as const)[method];
    return { request, type, kind, id: match };
  }
  if (method === 'DELETE' && request.ifMatch === undefined) return { request, type, kind: 'nothing', id: '' };
  if (method === 'PATCH') throw refuse('not_found', request, 'not-found', `no ${type} matches the criteria`);
  if (request.ifMatch !== undefined) {
    // RFC 9110, section 13.1.1: no existing resource can match that version.
    throw refuse(
      'precondition_failed',
      request,
      'conflict',
      `no ${type} matches the criteria, but If-Match requires one`,
    );
  }
  if (method === 'PUT' && request.resource?.value.id !== undefined)
    throw atEntry(request.at, noClientIds(type));
  return create();
}

/** Returns the id of the resource that a request creates; a retry of the request gets the same id. */
function newIdFor(ctx: CommandContext, request: WriteRequest): string {
  return ctx.ids.at(request.index, 'resource');
}

function refuseOtherBodyId(request: WriteRequest, id: string, required: boolean): void {
  const bodyId = request.resource?.value.id;
  if (bodyId === id || (bodyId === undefined && !required)) return;
  const fault =
    bodyId === undefined
      ? 'the resource must have the id in the URL'
      : 'the id in the resource differs from the id in the URL';
  throw refuse('malformed', request, 'value', `${fault}: PUT ${request.type}/${id}`);
}

function refuseTwice(resolved: readonly Resolved[]): void {
  const written = new Set<string>();
  for (const { kind, id, type, request } of resolved) {
    if (kind === 'matched' || kind === 'nothing') continue;
    // Two creates with the same condition would create exactly the duplicate that the condition prevents.
    const key = kind === 'create' && request.criteria !== undefined ? `${type}?${request.criteria}` : id;
    if (written.has(key) || written.has(id)) {
      throw refuse('malformed', request, 'duplicate', `${type}/${id} is written twice by this Bundle`);
    }
    written.add(key);
    written.add(id);
  }
}

/** A resource that a request names. If a grant's categories were checked against its newest body, the body is included. */
export interface Target extends Located {
  readonly before?: { readonly version: number; readonly resource: JsonObject; readonly exact: boolean };
}

/**
 * Returns the resource that a request names; undefined if the caller can't see it. Categories are taken from the newest event,
 * not from a read model.
 */
export async function readTarget(
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
