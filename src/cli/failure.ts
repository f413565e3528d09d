import type { FailureReason } from '#src/shared/job.ts';
import { didYouMean } from '#src/shared/nearest.ts';

/** Thrown when a command can't continue. The message is printed without a stack trace. */
export class Failure extends Error {
  override readonly name = 'Failure';
  /**
   * @param exitCode the exit code of the process.
   * @param reason reported to the job that runs the command
   */
  constructor(
    message: string,
    readonly exitCode = 1,
    readonly reason?: FailureReason,
  ) {
    super(message);
  }
}

/** Exit code for an invalid command line. */
export const MISUNDERSTOOD = 2;

/** Exit code of a check that ran and found faults. */
export const FAULTS_FOUND = 3;

/** Exit code of a check that found no faults but couldn't check everything. */
export const NOT_ALL_CHECKED = 4;

/**
 * Checks that a command accepts an action.
 * @throws Failure that lists the valid actions.
 */
export function expectAction(command: string, action: string, actions: readonly string[]): void {
  if (actions.includes(action)) return;
  const all =
    actions.length === 1
      ? `its action is ${actions[0]}`
      : `its actions are ${actions.slice(0, -1).join(', ')} and ${actions.at(-1)}`;
  throw new Failure(
    `unknown action ${action} of annal ${command}; ${all}${didYouMean(action, actions)}`,
    MISUNDERSTOOD,
  );
}
