/** A transaction that is decided on what is there: under a lock, as conditional writes are, but one for all its entries. */
import { Refusal } from '#src/shared/refusal.ts';
import type { CommandContext, Written } from '../command.ts';
import type { Results, WriteDeps } from './deps.ts';
import { earlierResults } from './earlier.ts';
import type { WriteRequest } from './request.ts';
import { write } from './write.ts';

/** How often it is decided again when others change meanwhile what was looked at. */
const TRIES = 5;

/**
 * Decides and writes while holding a key, which lets go only when reads show what was written.
 * @param decide looks up what is there and gives the requests.
 */
export async function writeDecided(
  deps: WriteDeps,
  ctx: CommandContext,
  key: string,
  decide: () => Promise<readonly WriteRequest[]>,
): Promise<Written<Results>> {
  const earlier = await earlierResults(deps, ctx);
  if (earlier !== undefined) return earlier;
  return deps.locks.hold([`${ctx.caller.tenantId}/${key}`], async () => {
    for (let tries = 1; ; tries += 1) {
      try {
        const written = await write(deps, ctx, await decide(), true);
        if (written.position !== undefined) await deps.visible(written.position);
        return written;
      } catch (error) {
        const moved = error instanceof Refusal && error.kind === 'precondition_failed';
        if (!moved || tries === TRIES) throw error;
      }
    }
  });
}
