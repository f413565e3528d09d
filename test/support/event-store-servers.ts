/**
 * Starts EventStoreDB servers with empty logs for one test. EVENTSTORE_START names a program that runs a server in the
 * foreground without TLS, on the port given as its argument, until it receives SIGTERM.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { openEventStore } from '#src/events/open.ts';
import { freePort } from './process.ts';

// The server reads variables named EVENTSTORE_… as its own settings, so these variables must not be passed to the program.
const { EVENTSTORE_START = '', EVENTSTORE_URL: _url, EVENTSTORE_CONTROL: _control, ...env } = process.env;

/** True if such servers can be started. */
export const STARTABLE = EVENTSTORE_START !== '';

/** A running server. */
export interface EventStoreServer {
  /** `esdb://…` */
  readonly url: string;
  readonly port: number;
  /** Sends the server a signal: SIGSTOP freezes it, SIGCONT resumes it. */
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/** Maximum time in ms until a server answers. */
const START_MS = 120_000;

const running = new Set<number>();
process.once('exit', () => {
  for (const pid of running) process.kill(pid, 'SIGKILL');
});

/**
 * Starts a server and waits until it answers.
 * @throws Error if it doesn't answer within two minutes
 */
export async function startEventStoreDb(): Promise<EventStoreServer> {
  const port = await freePort();
  const child = spawn(EVENTSTORE_START, [String(port)], { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const { pid } = child;
  if (pid === undefined) throw new Error(`EVENTSTORE_START: ${EVENTSTORE_START} can't be run`);
  running.add(pid);
  void ended.then(() => running.delete(pid));
  const url = `esdb://127.0.0.1:${port}?tls=false`;
  for (const until = Date.now() + START_MS; ; await pause(100)) {
    const store = await openEventStore({ url: '', eventStoreUrl: url }).catch(() => undefined);
    await store?.close();
    if (store !== undefined) break;
    if (Date.now() > until || child.exitCode !== null)
      throw new Error(`EVENTSTORE_START: no server answers on port ${port}`);
  }
  return {
    url,
    port,
    signal: (name) => void child.kill(name),
    async stop() {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      const killing = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(killing);
    },
  };
}
