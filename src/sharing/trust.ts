/**
 * Revokes trust in applications that wasn't given by the operator, because owners used to be able to give it. Such trust has
 * no effect, even before the event is written.
 */

import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { trust } from '#commands/application/decide.ts';
import { APPLICATION } from '#commands/application/state.ts';
import type { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { trustedByOthers } from '#queries/projects.ts';
import { applicationStream } from '../events/streams.ts';
import type { Freshness } from '../freshness/freshness.ts';
import { Endings } from './endings.ts';

/**
 * Interval between two checks for such trust, in ms. It can exist after an upgrade, and while an older instance still gives
 * it.
 */
const LOOK_MS = 2_000;
const CAUSE = 'not_given_by_operator';

/** Creates the process, which begins to run only when it is started. */
export function openTrustEnding({
  pool,
  kernel,
  freshness,
  log,
}: {
  readonly pool: Pool;
  readonly kernel: Kernel;
  readonly freshness: Pick<Freshness, 'waitFor'>;
  readonly log: Pick<Logger, 'warn'>;
}): Endings<string> {
  const applications = new Streams(kernel, APPLICATION);
  return new Endings<string>({
    what: "application's trust",
    everyMs: LOOK_MS,
    find: (_at, except) => trustedByOthers(pool, except),
    idOf: (id) => id,
    async end(by, id) {
      const ended = await applications.transact(
        applicationStream(id),
        { ...by, cause: CAUSE },
        trust(id, false),
      );
      if (ended !== undefined)
        log.warn(
          { application: id, cause: CAUSE },
          'an application is no longer trusted, because no operator gave it trust; to trust it, run `annal applications trust`',
        );
      return { result: undefined, wrote: ended };
    },
    awaitModels: (position) => freshness.waitFor(position, ['projects']),
    log,
  });
}
