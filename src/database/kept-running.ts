/** Restarts the embedded PostgreSQL if it exits unexpectedly. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { EmbeddedPostgres } from './embedded.ts';

/** Pauses before restarts within `WITHIN_MS`, in ms. After this many restarts, the service exits. */
const PAUSES: readonly number[] = [100, 1_000, 5_000, 15_000, 30_000];
const WITHIN_MS = 600_000;

/** The embedded server, across restarts. */
export interface KeptServer {
  /** The current server's process id. */
  readonly pid: number;
  /** Stops the server for good. */
  stop(): Promise<void>;
}

/**
 * Keeps a server running: restarts it up to five times within ten minutes, with growing pauses. Each restart waits until none
 * of the previous server's processes are left.
 * @param giveUp called if the server exits once more, or can't be restarted
 * @param pauses in ms, one for each restart
 */
export function keepRunning(
  first: EmbeddedPostgres,
  log: Pick<Logger, 'error' | 'fatal' | 'info'>,
  giveUp: () => void,
  pauses: readonly number[] = PAUSES,
): KeptServer {
  let server = first;
  let starting: Promise<unknown> | undefined;
  const stopped = new AbortController();
  const ends: number[] = [];

  /**
   * Restarts the server.
   * @returns false if the server has exited too often
   */
  const again = async (output: string): Promise<boolean> => {
    const now = Date.now();
    while (ends[0] !== undefined && now - ends[0] > WITHIN_MS) ends.shift();
    const wait = pauses[ends.length];
    if (wait === undefined) {
      const times = `${ends.length + 1} times within ${WITHIN_MS / 60_000} minutes`;
      log.fatal(
        { output },
        `PostgreSQL stopped unexpectedly ${times}, so the service stops; see postgres.log in DATA_DIR`,
      );
      giveUp();
      return false;
    }
    ends.push(now);
    const which = `restart ${ends.length} of ${pauses.length} in ${wait / 1_000} s`;
    log.error({ output }, `PostgreSQL stopped unexpectedly; ${which}`);
    await pause(wait, undefined, { signal: stopped.signal });
    const next = server.restart();
    starting = next.catch(() => undefined);
    server = await next;
    log.info(`PostgreSQL is running again (pid ${server.pid})`);
    return true;
  };
  const watch = async (): Promise<void> => {
    let output = await server.died;
    for (;;) {
      try {
        if (!(await again(output))) return;
        output = await server.died;
      } catch (error) {
        if (stopped.signal.aborted) return;
        output = error instanceof Error ? error.message : String(error);
      }
    }
  };
  void watch();
  return {
    get pid() {
      return server.pid;
    },
    async stop() {
      stopped.abort();
      await starting;
      await server.stop();
    },
  };
}
