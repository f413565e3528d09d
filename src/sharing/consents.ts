/** Assembles the write side of consent: grants, links, invitations, personal records. */

import type { Pool } from 'pg';
import type { CriteriaLocks } from '#commands/command.ts';
import { openConsents } from '#commands/consent/open.ts';
import type { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { PROJECT } from '#commands/project/state.ts';
import type { Resources } from '#commands/resource/state.ts';
import type { IdsOfSector } from '#queries/consents/sector-ids.ts';
import { projectName } from '#queries/projects.ts';
import type { Freshness } from '../freshness/freshness.ts';
import type { ConsentCommands } from '../http/ports/consents.ts';
import { openPairwise } from '../oauth/pairwise.ts';
import { installationKey } from '../operations/installation-key.ts';
import type { Invitations } from '../operations/invitations.ts';
import type { SharedLinks } from '../operations/shared-links.ts';

/** Opens it. */
export async function openConsent(deps: {
  readonly pool: Pool;
  readonly kernel: Kernel;
  readonly resources: Streams<Resources>;
  readonly locks: CriteriaLocks;
  readonly invitations: Invitations;
  readonly sharedLinks: Pick<SharedLinks, 'removeEnded'>;
  readonly idsOfSector: IdsOfSector;
  readonly freshness: Pick<Freshness, 'waitFor'>;
}): Promise<ConsentCommands> {
  const { pool, kernel, resources, locks, invitations, sharedLinks, idsOfSector, freshness } = deps;
  const pairwise = openPairwise(await installationKey(pool, 'pairwise_key'));
  const consents = openConsents({
    resources,
    projects: new Streams(kernel, PROJECT),
    pairwise: { ...pairwise, earlier: idsOfSector },
    locks,
    invitations,
    projectName: (id) => projectName(pool, id),
    waitFor: (position) => freshness.waitFor(position, ['consents']),
  });
  return {
    ...consents,
    async unlink(by, record, ...asked) {
      const done = await consents.unlink(by, record, ...asked);
      await sharedLinks.removeEnded(record);
      return done;
    },
  };
}
