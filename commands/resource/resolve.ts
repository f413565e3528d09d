/** From requests to targets: ids for what is new, matches for what is conditional, nothing twice. */
import { bareCriteria } from '#src/fhir/bundle.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { CommandContext, Lookup } from '../command.ts';
import { noClientIds } from './decide.ts';
import { onBehalfOf, refuse, type WriteRequest } from './request.ts';

/** A request whose target is known. */
export interface Resolved {
  readonly request: WriteRequest;
  readonly type: ResourceType;
  /**
   * `create` at a new id · `update` and `remove` of an existing one · `matched`: a conditional create that found one ·
   * `nothing`: a conditional delete that found none.
   */
  readonly kind: 'create' | 'update' | 'remove' | 'matched' | 'nothing';
  /** Empty for `nothing`. */
  readonly id: string;
}

/** The lock key of a conditional request: who shares it decides one after the other. */
export function lockKey(ctx: CommandContext, type: ResourceType, criteria: string): string {
  return `${ctx.caller.tenantId}/${type}?${bareCriteria(criteria, type)}`;
}

/**
 * Finds every request's target.
 * @throws Refusal 400 (one resource twice, ids that disagree), 404, 405, 412 (several match)
 */
export async function resolveTargets(
  ctx: CommandContext,
  lookup: Lookup,
  requests: readonly WriteRequest[],
): Promise<Resolved[]> {
  const resolved = await Promise.all(requests.map((request) => resolveTarget(ctx, lookup, request)));
  refuseTwice(resolved);
  return resolved;
}

async function resolveTarget(ctx: CommandContext, lookup: Lookup, request: WriteRequest): Promise<Resolved> {
  const { method, type, id, criteria } = request;
  if (criteria === undefined) {
    if (method === 'POST') return { request, type, kind: 'create', id: newIdFor(ctx, request) };
    if (method === 'PUT') refuseOtherBodyId(request, id ?? '', true);
    return { request, type, kind: method === 'DELETE' ? 'remove' : 'update', id: id ?? '' };
  }
  const matches = await lookup.match(ctx.caller, type, criteria);
  if (matches.length > 1)
    throw refuse('precondition_failed', request, 'multiple-matches', `several ${type} match the criteria`);
  const [match] = matches;
  // What an earlier attempt of this very request created is found by its own criteria: it is a creation still.
  if (match !== undefined && match === newIdFor(ctx, request))
    return { request, type, kind: 'create', id: match };
  switch (method) {
    case 'POST':
      if (match === undefined) return { request, type, kind: 'create', id: newIdFor(ctx, request) };
      return { request, type, kind: 'matched', id: match };
    case 'PUT':
      if (match !== undefined) {
        refuseOtherBodyId(request, match, false);
        return { request, type, kind: 'update', id: match };
      }
      if (request.resource?.value.id !== undefined) throw onBehalfOf(request.at, () => noClientIds(type));
      return { request, type, kind: 'create', id: newIdFor(ctx, request) };
    case 'PATCH':
      if (match === undefined)
        throw refuse('not_found', request, 'not-found', `no ${type} matches the criteria`);
      return { request, type, kind: 'update', id: match };
    case 'DELETE':
      return match === undefined
        ? { request, type, kind: 'nothing', id: '' }
        : { request, type, kind: 'remove', id: match };
  }
}

/** The id of what a request creates: the same when the request is tried again. */
function newIdFor(ctx: CommandContext, request: WriteRequest): string {
  return ctx.ids.at(request.index, 'resource');
}

function refuseOtherBodyId(request: WriteRequest, id: string, required: boolean): void {
  const bodyId = request.resource?.value.id;
  if (bodyId === id || (bodyId === undefined && !required)) return;
  const fault = bodyId === undefined ? 'the resource needs an id' : 'the id of the resource is another';
  throw refuse('malformed', request, 'value', `${fault}: PUT ${request.type}/${id}`);
}

function refuseTwice(resolved: readonly Resolved[]): void {
  const written = new Set<string>();
  for (const { kind, id, request } of resolved) {
    if (kind === 'matched' || kind === 'nothing') continue;
    const key =
      request.method === 'POST' && request.criteria !== undefined
        ? `${request.type}?${request.criteria}`
        : id;
    if (written.has(key) || written.has(id)) {
      throw refuse(
        'malformed',
        request,
        'duplicate',
        `${request.type}/${id} is written twice by this Bundle`,
      );
    }
    written.add(key);
    written.add(id);
  }
}
