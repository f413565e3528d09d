/** A request writes once: what an earlier attempt of it, which died before it answered, has written is its answer. */
import type { CommandContext, Written } from '../command.ts';
import type { Results, WriteDeps } from './deps.ts';
import { earlierResults, rebuildEarlier } from './earlier.ts';
import type { WriteRequest } from './request.ts';
import { type Prepare, write } from './write.ts';
import { refuseConditions } from './write-only.ts';

/**
 * Writes all requests or none, once.
 * @param transaction whether links between requests are resolved (a transaction Bundle).
 * @param prepare makes the requests of what is there, each time that it has changed. Default: they are as they were sent.
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
 * Decides and writes a transaction while holding a key, which lets go only when reads show what was written.
 * @param decide looks up what is there and gives the requests. It is called again when a version that one of them names in
 *   `ifMatch` is no longer the current one.
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
  return deps.locks.hold([`${ctx.caller.tenantId}/${key}`], async () => {
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
