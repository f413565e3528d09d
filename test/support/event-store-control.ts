/**
 * The EventStoreDB that the tests may break: EVENTSTORE_URL names it, EVENTSTORE_CONTROL a program that does to it what
 * its argument says.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

// The server reads variables named EVENTSTORE_… as settings of its own: the program must not hand these on.
const { EVENTSTORE_URL = '', EVENTSTORE_CONTROL = '', ...env } = process.env;
const run = promisify(execFile);

/** Whether there is one. */
export const CONTROLLED = EVENTSTORE_URL !== '' && EVENTSTORE_CONTROL !== '';

/** Whether it is a cluster: what is done to its leader, another node may take over from. */
export const CLUSTER = EVENTSTORE_URL.split('?')[0]?.includes(',') === true;

/** How it can fail, and how it comes back: SIGKILL, SIGTERM, SIGSTOP. */
export const FAULTS = [
  { says: 'killed', down: 'kill', up: 'start' },
  { says: 'stopped', down: 'stop', up: 'start' },
  { says: 'frozen', down: 'freeze', up: 'thaw' },
] as const;

/** Does it. */
export async function control(what: (typeof FAULTS)[number]['down' | 'up']): Promise<void> {
  await run(EVENTSTORE_CONTROL, [what], { env });
}
