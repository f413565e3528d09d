/** Assembles the write side of proposals. */
import { unavailable } from '#src/shared/refusal.ts';
import type { Done } from '../command.ts';
import { accept } from './accept.ts';
import type { ProposalDeps } from './deps.ts';
import { lapse, reject, withdraw } from './end.ts';
import type { Proposals } from './proposals.ts';
import { propose } from './propose.ts';

/** Creates the commands. When they return, the decision that they wrote is visible on every instance. */
export function openProposals(deps: ProposalDeps): Proposals {
  const awaitShown = async <T>(doing: Promise<Done<T>>): Promise<Done<T>> => {
    const done = await doing;
    if (done.wrote !== undefined && !(await deps.awaitModels(done.wrote.position)))
      throw unavailable("the change was saved but isn't active on every instance yet; retry in a second");
    return done;
  };
  return {
    propose: (...asked) => awaitShown(propose(deps, ...asked)),
    withdraw: (...asked) => awaitShown(withdraw(deps, ...asked)),
    accept: (...asked) => awaitShown(accept(deps, ...asked)),
    reject: (...asked) => awaitShown(reject(deps, ...asked)),
    lapse: (...asked) => lapse(deps, ...asked),
  };
}
