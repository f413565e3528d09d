/** Creates an organization, a project and a key for first use, once per installation. */
import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import type { Kernel } from '#commands/kernel/kernel.ts';
import { addKey, found } from '#commands/project/found.ts';
import { anyProject, firstProject, QUICKSTART } from '#queries/projects.ts';
import type { Queries } from '#queries/queries.ts';
import type { Config } from '../config.ts';
import { type Quickstart, readQuickstart } from '../data-dir.ts';
import { quickstartOwner } from '../dev-issuer/people.ts';
import { upToDate, type Waiting } from '../freshness/up-to-date.ts';
import { type IssuerSettings, ownIssuer } from '../identity/open.ts';
import type { PostgresCriteriaLocks } from '../operations/locks.ts';
import { nowMicros } from '../shared/time/time.ts';

/**
 * Returns the key from an earlier start if it still works. Otherwise it creates a key for the installation's quickstart
 * project, which the first start creates together with its organization. If there is a development issuer, one of its people
 * owns the organization. In production, a key is created only if the installation has no project; otherwise undefined.
 */
export async function quickstart(
  deps: Waiting & {
    readonly config: IssuerSettings & Pick<Config, 'dataDir' | 'sandboxPatients'>;
    readonly pool: Pool;
    readonly kernel: Kernel;
    readonly queries: Pick<Queries, 'apiKey'>;
    readonly locks: Pick<PostgresCriteriaLocks, 'hold'>;
  },
): Promise<Quickstart | undefined> {
  const { config, pool, kernel, queries, locks, waitFor } = deps;
  const earlier = await readQuickstart(config.dataDir);
  if (earlier !== undefined && (await queries.apiKey(sha256(earlier.sandbox_key))) !== undefined) {
    return { ...earlier, base_url: config.baseUrl };
  }
  // Done before taking the lock, because other starts don't wait for the lock that long.
  await upToDate(deps);
  // Only one start at a time runs this, and each start sees what the previous one created.
  return locks.hold(['quickstart'], async () => {
    await upToDate(deps);
    if (config.mode === 'production' && (await anyProject(pool))) return undefined;
    const founding = { kernel, now: nowMicros, sandboxPatients: config.sandboxPatients };
    const issuer = ownIssuer(config);
    const owner = issuer === undefined ? undefined : quickstartOwner(issuer);
    const there = await firstProject(pool, QUICKSTART);
    const { organization, project, key, position } =
      there === undefined
        ? await found(founding, QUICKSTART, 'sandbox', owner)
        : { ...there, ...(await addKey(founding, there.project, 'sandbox')) };
    await waitFor(position, ['projects']);
    return {
      base_url: config.baseUrl,
      organization_id: organization,
      project_id: project,
      sandbox_key: key,
    };
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
