/** Executes a request only once: if an earlier attempt crashed after writing, its result is returned. */
import type { CommandContext, Written } from '../command.ts';
import type { Results, WriteDeps } from './deps.ts';
import { earlierResults, rebuildEarlier } from './earlier.ts';
import type { WriteRequest } from './request.ts';
import { type Prepare, write } from './write.ts';
import { refuseConditions } from './write-only.ts';

/**
 * Writes all requests or none, and only once.
 * @param transaction true to resolve links between requests (a transaction Bundle).
 * @param prepare builds the requests from the current state; called again after each change. Default: the
 * requests as they were sent.
 */
export async function writeOnce(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
  prepare: Prepare = async () => requests,
): Promise<Written<Results>> {
  refuseConditions(ctx.caller, requests);
  return (await rebuildEarlier(deps, ctx, requests)) ?? write(deps, ctx, prepare, transaction);
}

/**
 * Decides and writes a transaction while holding a lock, which is released only when reads return what was
 * written.
 * @param decide reads the current state and returns the requests. It is called again when a version that one
 * of them names in `ifMatch` is no longer current.
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
    if (written.position !== undefined) await deps.visible(written.position);
    return written;
  });
}

function basedOnMatched({ ifMatch, ...request }: WriteRequest): WriteRequest {
  if (ifMatch === undefined) return request;
  if (ifMatch === '*') return { ...request, ifMatch };
  return { ...request, basedOn: ifMatch };
}
