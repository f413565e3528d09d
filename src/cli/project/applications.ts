/**
 * `annal applications`: lets an operator mark an application as trusted or withdraw its trust, list guests, and block the
 * hosts of guests.
 */
import { trust } from '#commands/application/decide.ts';
import { APPLICATION } from '#commands/application/state.ts';
import { applicationStream } from '#src/events/streams.ts';
import { expectAction, Failure, MISUNDERSTOOD } from '../failure.ts';
import { blockGuests, listGuests } from './guests.ts';
import { decideAsOperator, type OperatorOptions } from './operator.ts';

/** The command-line options. */
export interface ApplicationsOptions extends OperatorOptions {
  /** Lists guests; used without an action. */
  readonly guests?: boolean;
}

/**
 * Runs an action, or lists guests.
 * @param subject an application, or a host
 * @throws Failure if arguments are invalid or the application doesn't exist
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
