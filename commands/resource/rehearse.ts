/** A dry run of a write: returns the reason why the write would be refused (`$validate`, modes create, update and delete). */
import { recordPatient } from '#src/events/streams.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { CommandContext } from '../command.ts';
import { metadataBase } from '../command.ts';
import { decideWrites, touchedIds } from './decide.ts';
import type { WriteDeps } from './deps.ts';
import { planWrites } from './plan.ts';
import type { WriteRequest } from './request.ts';
import { grantIds, requireActiveGrant } from './under-grant.ts';

/** Returns the refusal that a write would get now; undefined if it would succeed. Writes nothing. */
export async function rehearse(
  deps: WriteDeps,
  ctx: CommandContext,
  request: WriteRequest,
): Promise<Refusal | undefined> {
  try {
    const { planned } = await planWrites(deps, ctx, [request], false);
    for (const { stream, write } of planned) {
      await deps.resources.handle({
        stream,
        metadata: metadataBase(ctx),
        now: ctx.now,
        owner: ctx.caller.sees.owner,
        touches: [
          ...touchedIds(stream, [write]),
          ...(recordPatient(stream) === undefined ? [] : grantIds(ctx.caller)),
        ],
        decide(state, clock) {
          if (recordPatient(stream) !== undefined) requireActiveGrant(state, ctx.caller);
          return { drafts: [], result: decideWrites(state, clock, [write]).result };
        },
      });
    }
    return undefined;
  } catch (error) {
    if (error instanceof Refusal && error.kind !== 'unavailable') return error;
    throw error;
  }
}
