/** `annal applications`: an operator gives an application trust, or withdraws it. */
import { trust } from '#commands/application/decide.ts';
import { APPLICATION } from '#commands/application/state.ts';
import { applicationStream } from '#src/events/streams.ts';
import { expectAction } from '../failure.ts';
import { decideAsOperator, type OperatorOptions } from './operator.ts';

/**
 * Runs `trust` or `withdraw`.
 * @throws Failure for invalid arguments, or if the application doesn't exist
 */
export async function applicationsCommand(
  action: string,
  application: string,
  options: OperatorOptions,
): Promise<void> {
  expectAction('applications', action, ['trust', 'withdraw']);
  const trusted = action === 'trust';
  await decideAsOperator(
    {
      fold: APPLICATION,
      stream: applicationStream(application),
      decide: trust(application, trusted),
      sentence: `${application} ${trusted ? 'is trusted: it may use the identity grant' : 'is not trusted'}`,
      data: { application, trusted },
    },
    options,
  );
}
