/** Another instance next to a running service. */
import { pino } from 'pino';
import { startApp } from '#src/app.ts';
import { loadConfig } from '#src/config.ts';
import type { InProcess } from './in-process.ts';
import { NO_LIMIT } from './no-limit.ts';
import { freePort } from './process.ts';
import { EVENTSTORE_URL } from './project.ts';
import { temporaryFolder } from './temporary.ts';

/** Another instance on a service's database. */
export interface SecondInstance {
  /** Where it listens. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts an instance in this process. Clients know both instances by the first instance's URL, as behind a load balancer.
 * @param start starts a different version of the program; by default, this version
 * @param settings additional environment variables
 */
export async function startSecondInstance(
  service: InProcess,
  start = startApp,
  settings: Readonly<Record<string, string>> = {},
): Promise<SecondInstance> {
  const port = await freePort();
  const config = loadConfig({
    PORT: String(port),
    BASE_URL: service.url,
    DATA_DIR: await temporaryFolder(),
    EVENTSTORE_URL,
    RATE_LIMIT_PER_MINUTE: NO_LIMIT,
    SANDBOX_PATIENTS: '0',
    PRODUCTION_ACCESS: 'open',
    ...settings,
  });
  const app = await start({ config, databaseUrl: service.databaseUrl, log: pino({ level: 'silent' }) });
  await app.listen();
  return { url: `http://127.0.0.1:${port}`, close: () => app.close() };
}
