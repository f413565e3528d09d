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
