/**
 * Controls an EventStoreDB that tests may break. EVENTSTORE_URL is its URL, and EVENTSTORE_CONTROL names a program that takes
 * the action as its argument.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

// The server reads variables named EVENTSTORE_… as its own settings, so these variables must not be passed to the program.
const { EVENTSTORE_URL = '', EVENTSTORE_CONTROL = '', ...env } = process.env;
const run = promisify(execFile);

/** True if such a server is configured. */
export const CONTROLLED = EVENTSTORE_URL !== '' && EVENTSTORE_CONTROL !== '';

/** True if the server is a cluster: if its leader fails, another node may take over. */
export const CLUSTER = EVENTSTORE_URL.split('?')[0]?.includes(',') === true;

/** The ways in which the server can fail and recover: SIGKILL, SIGTERM, SIGSTOP. */
export const FAULTS = [
  { says: 'killed', down: 'kill', up: 'start' },
  { says: 'stopped', down: 'stop', up: 'start' },
  { says: 'frozen', down: 'freeze', up: 'thaw' },
] as const;

/** Runs the control program with an action. */
export async function control(what: (typeof FAULTS)[number]['down' | 'up']): Promise<void> {
  await run(EVENTSTORE_CONTROL, [what], { env });
}
