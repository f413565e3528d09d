/** What a newcomer begins with: an organization, a project and a key, once for an installation. */
import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import type { Handler } from '#commands/handle.ts';
import { addKey, found } from '#commands/project/found.ts';
import { anyProject, firstProject } from '#queries/projects.ts';
import type { Queries } from '#queries/queries.ts';
import type { Config } from '../config.ts';
import { type Quickstart, readQuickstart } from '../data-dir.ts';
import type { Position } from '../events/store.ts';
import { quickstartOwner } from '../identity/dev-issuer/people.ts';
import type { PostgresCriteriaLocks } from '../operations/locks.ts';
import { unavailable } from '../shared/refusal.ts';
import { nowMicros } from '../shared/time.ts';
import { ownIssuer } from './identity.ts';

/** What it works with. */
export interface QuickstartDeps {
  readonly config: Pick<Config, 'dataDir' | 'baseUrl' | 'mode' | 'oidcIssuers' | 'sandboxPatients'>;
  readonly pool: Pool;
  readonly handler: Handler;
  readonly queries: Pick<Queries, 'apiKey'>;
  readonly locks: Pick<PostgresCriteriaLocks, 'hold'>;
  readonly head: () => Promise<Position>;
  /** Waits until the named read models show a position; false when it takes too long. */
  readonly passed: (position: Position, by: readonly string[]) => Promise<boolean>;
}

/** Name of the project that a newcomer begins with. */
const QUICKSTART = 'Quickstart';

/**
 * The key of an earlier start while it works, else a new one of the installation's quickstart project, which the first
 * start founds with its organization; where there is a development issuer, one of its people owns that. In production
 * only an installation without any project gets one; else undefined.
 */
export async function quickstart({
  config,
  pool,
  handler,
  queries,
  locks,
  head,
  passed,
}: QuickstartDeps): Promise<Quickstart | undefined> {
  const earlier = await readQuickstart(config.dataDir);
  if (earlier !== undefined && (await queries.apiKey(sha256(earlier.sandbox_key))) !== undefined) {
    return { ...earlier, base_url: config.baseUrl };
  }
  // One at a time, and each sees what the one before it founded.
  return locks.hold(['quickstart'], async () => {
    if (!(await passed(await head(), ['projects']))) throw unavailable('projects lag behind the log');
    if (config.mode === 'production' && (await anyProject(pool))) return undefined;
    const founding = { handler, now: nowMicros, sandboxPatients: config.sandboxPatients };
    const issuer = ownIssuer(config);
    const owner = issuer === undefined ? undefined : quickstartOwner(issuer);
    const there = await firstProject(pool, QUICKSTART);
    const { organization, project, key, position } =
      there === undefined
        ? await found(founding, QUICKSTART, 'sandbox', owner)
        : { ...there, ...(await addKey(founding, there.project, 'sandbox')) };
    await passed(position, ['projects']);
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
