/** `annal production`: an operator allows a project to make keys of production, or withdraws that. */
import { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { setProductionAccess } from '#commands/project/decide.ts';
import { PROJECT } from '#commands/project/state.ts';
import { projectStream } from '#src/events/streams.ts';
import { IdSource, newId, newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { nowMicros } from '#src/shared/time.ts';
import { databaseUrlOf, withEventStore } from './database.ts';
import { expectAction, Failure } from './failure.ts';
import type { ServiceOptions } from './service.ts';

/** The options on the command line. */
export interface ProductionOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
}

/**
 * Runs `allow` or `withdraw`, effective at once on every instance.
 * @throws Failure for invalid arguments, or if the project doesn't exist or isn't open
 */
export async function productionCommand(
  action: string,
  project: string,
  { json = false, ...where }: ProductionOptions,
): Promise<void> {
  expectAction('production', action, ['allow', 'withdraw']);
  const allowed = action === 'allow';
  const wrote = await withEventStore(await databaseUrlOf(where), async (store) => {
    const projects = new Streams(new Kernel(store), PROJECT);
    const operator = {
      credential: { kind: 'system' },
      requestId: newId('req_'),
      ids: new IdSource(newUuid(), Date.now()),
      now: nowMicros,
    } as const;
    return projects
      .transact(projectStream(project), operator, setProductionAccess(project, allowed))
      .catch((error: unknown) => {
        throw error instanceof Refusal ? new Failure(error.message) : error;
      });
  });
  const may = allowed
    ? 'may create production keys and applications'
    : 'may no longer create production keys or applications';
  const text = `${project} ${may}${wrote === undefined ? ' (unchanged)' : ''}.`;
  const data = { project, production_access: allowed, changed: wrote !== undefined };
  process.stdout.write(`${json ? JSON.stringify(data, null, 2) : text}\n`);
}
