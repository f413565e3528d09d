/**
 * The way of every write: targets → links → patches → checks → one append (and, for new directory entries beside a
 * record, the carried one). A single command is a transaction of one.
 */
import { inSlices } from '#src/shared/slices.ts';
import type { CommandContext, Written } from '../command.ts';
import { retry, Stale } from '../kernel/retry.ts';
import { appendWrites } from './append.ts';
import { checkAuthorship } from './authorship.ts';
import type { Results, WriteDeps } from './deps.ts';
import { planWrites } from './plan.ts';
import type { WriteRequest } from './request.ts';
import { lockKey } from './resolve.ts';
import { searchReferences } from './searches.ts';
import { withoutStored } from './write-only.ts';

/** Looks up what is there, and makes requests of it. */
export type Prepare = () => Promise<readonly WriteRequest[]>;

/**
 * Writes all requests or none.
 * @param prepare is called again when the data that the requests were built from has changed.
 * @param transaction true to resolve links between requests (a transaction Bundle).
 */
export function write(
  deps: WriteDeps,
  context: CommandContext,
  prepare: Prepare,
  transaction: boolean,
): Promise<Written<Results>> {
  return withoutStored(context.caller, writeAll(deps, context, prepare, transaction));
}

async function writeAll(
  deps: WriteDeps,
  context: CommandContext,
  prepare: Prepare,
  transaction: boolean,
): Promise<Written<Results>> {
  const ctx = { ...context, authorship: await checkAuthorship(context, deps) };
  return retry(Stale, async () => writeLocked(deps, ctx, await prepare(), transaction));
}

async function writeLocked(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<Written<Results>> {
  const criteria = await criteriaKeys(deps, ctx, requests, transaction);
  const keys = [...new Set([...criteria, ...contentKeys(deps, requests)])].sort();
  if (keys.length === 0) return planAndAppend(deps, ctx, requests, transaction);
  return deps.locks.hold(keys, async () => {
    const written = await planAndAppend(deps, ctx, requests, transaction);
    // The next holder of a criterion must see what this one wrote; who sweeps contents asks the log.
    if (criteria.length > 0 && written.position !== undefined) await deps.visible(written.position);
    return written;
  });
}

/** Returns the lock keys of documents whose bytes are stored before the event that names them. */
function contentKeys({ contents }: WriteDeps, requests: readonly WriteRequest[]): string[] {
  return requests.flatMap(({ id, stored }) =>
    stored === undefined || id === undefined ? [] : [contents.lock(id)],
  );
}

/** Returns the lock keys of criteria that are searched before the write. */
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
    const references = await inSlices(searchReferences(requests, deps.bases));
    for (const { search } of references.values())
      if (search !== undefined) keys.add(lockKey(ctx, search.type, search.criteria));
  }
  return [...keys];
}

async function planAndAppend(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<Written<Results>> {
  const plan = await planWrites(deps, ctx, requests, transaction);
  await ctx.permitted;
  return deps.attachments.store(ctx, plan.planned, () => appendWrites(deps, ctx, plan, transaction));
}
