/** A command that cannot go on: its message is for the person at the terminal, without a stack. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** Exit code of a check that was carried out and found something. */
export const FAULTS_FOUND = 3;
