/**
 * The way of every write: targets → links → patches → checks → one append (and, for new directory entries beside a
 * record, the carried one). A single command is a transaction of one.
 */
import { inSlices } from '#src/shared/slices.ts';
import type { CommandContext, Written } from '../command.ts';
import { withContents } from '../document/put.ts';
import { Stale } from '../kernel/decision.ts';
import { retry } from '../kernel/retry.ts';
import { appendWrites } from './append.ts';
import { checkAuthorship } from './authorship.ts';
import type { Results, WriteDeps } from './deps.ts';
import { rebuildEarlier } from './earlier.ts';
import { planWrites } from './plan.ts';
import { resourcesOf, type WriteRequest } from './request.ts';
import { lockKey } from './resolve.ts';
import { searchIn, searchReferences } from './searches.ts';
import { refuseConditions, withoutStored } from './write-only.ts';

/**
 * Writes all requests or none.
 * @param transaction whether links between requests are resolved (a transaction Bundle).
 */
export function write(
  deps: WriteDeps,
  context: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<Written<Results>> {
  return withoutStored(context.caller, writeAll(deps, context, requests, transaction));
}

async function writeAll(
  deps: WriteDeps,
  context: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<Written<Results>> {
  refuseConditions(context.caller, requests);
  const earlier = await rebuildEarlier(deps, context, requests);
  if (earlier !== undefined) return earlier;
  const ctx = { ...context, authorship: await checkAuthorship(context, deps) };
  const criteria = await criteriaKeys(deps, ctx, requests, transaction);
  const keys = [...new Set([...criteria, ...contentKeys(deps, requests)])].sort();
  if (keys.length === 0) return writeUnlocked(deps, ctx, requests, transaction);
  return deps.locks.hold(keys, async () => {
    const written = await writeUnlocked(deps, ctx, requests, transaction);
    // The next holder of a criterion must see what this one wrote; who sweeps contents asks the log.
    if (criteria.length > 0 && written.position !== undefined) await deps.visible(written.position);
    return written;
  });
}

/** Of documents whose bytes are there before the event that names them. */
function contentKeys({ contents }: WriteDeps, requests: readonly WriteRequest[]): string[] {
  return requests.flatMap(({ id, stored }) =>
    stored === undefined || id === undefined ? [] : [contents.lock(id)],
  );
}

/** Of what is looked for before it is written. */
async function criteriaKeys(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<string[]> {
  const keys = new Set<string>();
  for (const { type, criteria } of requests) {
    if (criteria !== undefined) keys.add(lockKey(ctx, type, criteria));
  }
  if (transaction) {
    for (const reference of await inSlices(searchReferences(resourcesOf(requests), deps.bases))) {
      const parts = searchIn(reference, deps.bases);
      if (parts !== undefined) keys.add(lockKey(ctx, parts.type, parts.criteria));
    }
  }
  return [...keys];
}

async function writeUnlocked(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<Written<Results>> {
  return retry(Stale, async () => {
    const plan = await planWrites(deps, ctx, requests, transaction);
    await ctx.permitted;
    return withContents(deps, ctx, plan, () => appendWrites(deps, ctx, plan, transaction));
  });
}
