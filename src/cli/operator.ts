/** Decisions of the operator of an installation, written to its log. */
import type { RequestContext, Wrote } from '#commands/command.ts';
import type { Decide } from '#commands/kernel/decision.ts';
import { Kernel } from '#commands/kernel/kernel.ts';
import type { Fold } from '#commands/kernel/stream.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { IdSource, newId, newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { nowMicros } from '#src/shared/time.ts';
import { withEventStore } from './database.ts';
import { Failure } from './failure.ts';

/**
 * Carries out a decision on one stream, effective at once on every instance.
 * @param url of the database
 * @returns undefined if nothing changed
 * @throws Failure for a decision that is refused
 */
export function decideAsOperator<S>(
  url: string,
  fold: Fold<S>,
  stream: string,
  decide: Decide<S>,
): Promise<Wrote | undefined> {
  const operator: RequestContext = {
    credential: { kind: 'system' },
    requestId: newId('req_'),
    ids: new IdSource(newUuid(), Date.now()),
    now: nowMicros,
  };
  return withEventStore(url, (store) =>
    new Streams(new Kernel(store), fold).transact(stream, operator, decide).catch((error: unknown) => {
      throw error instanceof Refusal ? new Failure(error.message) : error;
    }),
  );
}
