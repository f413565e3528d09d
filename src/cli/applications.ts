/** `annal applications`: an operator gives an application trust, or withdraws it. */
import { trust } from '#commands/application/decide.ts';
import { APPLICATION } from '#commands/application/state.ts';
import { applicationStream } from '#src/events/streams.ts';
import { databaseUrlOf } from './database.ts';
import { expectAction } from './failure.ts';
import { decideAsOperator } from './operator.ts';
import type { ServiceOptions } from './service.ts';

/** The options on the command line. */
export interface ApplicationsOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
}

/**
 * Runs `trust` or `withdraw`, effective at once on every instance.
 * @throws Failure for invalid arguments, or if the application doesn't exist
 */
export async function applicationsCommand(
  action: string,
  application: string,
  { json = false, ...where }: ApplicationsOptions,
): Promise<void> {
  expectAction('applications', action, ['trust', 'withdraw']);
  const trusted = action === 'trust';
  const wrote = await decideAsOperator(
    await databaseUrlOf(where),
    APPLICATION,
    applicationStream(application),
    trust(application, trusted),
  );
  const state = trusted ? 'is trusted: it may use the identity grant' : 'is not trusted';
  const text = `${application} ${state}${wrote === undefined ? ' (unchanged)' : ''}.`;
  const data = { application, trusted, changed: wrote !== undefined };
  process.stdout.write(`${json ? JSON.stringify(data, null, 2) : text}\n`);
}
