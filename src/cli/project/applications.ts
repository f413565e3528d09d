/** `annal applications`: an operator gives an application trust, or withdraws it; lists guests, and blocks their hosts. */
import { trust } from '#commands/application/decide.ts';
import { APPLICATION } from '#commands/application/state.ts';
import { applicationStream } from '#src/events/streams.ts';
import { expectAction, Failure, MISUNDERSTOOD } from '../failure.ts';
import { blockGuests, listGuests } from './guests.ts';
import { decideAsOperator, type OperatorOptions } from './operator.ts';

/** The options on the command line. */
export interface ApplicationsOptions extends OperatorOptions {
  /** Lists guests; without an action. */
  readonly guests?: boolean;
}

/**
 * Runs an action, or lists guests.
 * @param subject an application, or a host
 * @throws Failure for invalid arguments, or if the application doesn't exist
 */
export async function applicationsCommand(
  action: string,
  subject: string,
  { guests = false, ...options }: ApplicationsOptions,
): Promise<void> {
  if (guests && action === '') return listGuests(options);
  if (guests) throw new Failure(`--guests lists guests, without ${action}`, MISUNDERSTOOD);
  expectAction('applications', action, ['trust', 'withdraw', 'block', 'unblock']);
  if (action === 'block' || action === 'unblock') return blockGuests(action, subject, options);
  if (subject === '')
    throw new Failure(`name the application: annal applications ${action} app_…`, MISUNDERSTOOD);
  const trusted = action === 'trust';
  await decideAsOperator(
    {
      fold: APPLICATION,
      stream: applicationStream(subject),
      decide: trust(subject, trusted),
      sentence: `${subject} ${trusted ? 'is trusted: it may use the identity grant' : 'is not trusted'}`,
      data: { application: subject, trusted },
    },
    options,
  );
}
