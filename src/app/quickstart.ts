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
  /** How far the read model of projects has come; undefined while nobody knows. */
  readonly projectsAt: () => Position | undefined;
}

/** Name of the project that a newcomer begins with. */
const QUICKSTART = 'Quickstart';

/**
 * The key of an earlier start while it works, else a new one of the installation's quickstart project, which the first
 * start founds with its organization; where there is a development issuer, one of its people owns that. In production
 * only an installation without any project gets one; else undefined.
 */
export async function quickstart(deps: QuickstartDeps): Promise<Quickstart | undefined> {
  const { config, pool, handler, queries, locks, passed } = deps;
  const earlier = await readQuickstart(config.dataDir);
  if (earlier !== undefined && (await queries.apiKey(sha256(earlier.sandbox_key))) !== undefined) {
    return { ...earlier, base_url: config.baseUrl };
  }
  // Not under the lock: others would not wait for it that long.
  await upToDate(deps);
  // One at a time, and each sees what the one before it founded.
  return locks.hold(['quickstart'], async () => {
    await upToDate(deps);
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

/**
 * Waits until the read model of projects shows all that is in the log, as long as it comes nearer: on a new database it
 * begins with the first event.
 * @throws Refusal unavailable when it comes no nearer.
 */
async function upToDate({ head, passed, projectsAt }: QuickstartDeps): Promise<void> {
  const end = await head();
  let before = projectsAt();
  while (!(await passed(end, ['projects']))) {
    const now = projectsAt();
    if (now === before) throw unavailable('projects lag behind the log');
    before = now;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
