/** A random world in a running service, and an application's grant on one of the world's records. */
import { newUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { BEGAN } from '#test/projections/made.ts';
import type { Allowed, Application, Granting } from '../granted.ts';
import type { InProcess } from '../in-process.ts';
import { foundProject } from '../project.ts';
import { scopeTexts, type TypeScope } from './scopes.ts';
import { type Plan, type World, worldOf } from './world.ts';
import { untilShown, versionsOf, writeWorld } from './write.ts';

/** Both. */
export interface WorldWithGrant {
  readonly world: World;
  readonly allowed: Allowed;
  /** A key for the world's owner. */
  readonly key: string;
}

/** Writes a world in a new project, and gives an application a grant on its record `mine`. */
export async function worldWithGrant(
  service: Pick<InProcess, 'databaseUrl' | 'pool'>,
  granting: Granting,
  application: Application,
  plan: Plan,
  scopes: readonly TypeScope[],
): Promise<WorldWithGrant> {
  const world = worldOf(plan);
  const { project, key } = await foundProject(service.databaseUrl);
  const all = versionsOf(world);
  const at = new Map(all.map(({ id, version }, n) => [`${id}/${version}`, (BEGAN + n) as Micros]));
  await writeWorld(granting.events.store, { project, environment: 'sandbox' }, world, ({ id, version }) => ({
    at: at.get(`${id}/${version}`) ?? (BEGAN as Micros),
    id: newUuid(),
  }));
  await untilShown(service.pool, all);
  return {
    world,
    key,
    allowed: await granting.allow(application, world.mine, { scopes: scopeTexts(scopes) }),
  };
}
