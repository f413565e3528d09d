import { didYouMean } from '#src/shared/nearest.ts';

/** A command that cannot go on: its message is for the person at the terminal, without a stack. */
export class Failure extends Error {
  override readonly name = 'Failure';
  /** @param exitCode what the process ends with. */
  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}

/** Exit code of a command line that was not understood. */
export const MISUNDERSTOOD = 2;

/** Exit code of a check that was carried out and found something. */
export const FAULTS_FOUND = 3;

/** @throws Failure for an action that a command does not have; it names those that it has. */
export function expectAction(command: string, action: string, actions: readonly string[]): void {
  if (actions.includes(action)) return;
  const all =
    actions.length === 1 ? `its action is ${actions[0]}` : `its actions are ${actions.join(' and ')}`;
  throw new Failure(
    `unknown action ${action} of annal ${command}; ${all}${didYouMean(action, actions)}`,
    MISUNDERSTOOD,
  );
}
