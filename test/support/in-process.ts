/**
 * Runs the real service in the test's own process, on its own database. For tables with many requests, this is faster than a
 * separate process. If the environment sets WORKERS above 1, the service runs as that many processes, for tests that don't
 * change its internals.
 */
import { expect } from 'chai';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { startApp } from '#src/app.ts';
import { type Config, loadConfig } from '#src/config.ts';
import { devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import './patience.ts';
import { createMigratedDatabase, type TestDatabase } from './database.ts';
import { NO_LIMIT } from './no-limit.ts';
import { type OlderLog, putLog } from './older-log.ts';
import { eventually, freePort } from './process.ts';
import { caughtUp, EVENTSTORE_URL, foundProject, foundQuickstart } from './project.ts';
import { Answer, type Call, newDataDir, type ServiceOptions, startService } from './service.ts';
import { temporaryFolder } from './temporary.ts';

/**
 * Settings for tests that change the service's internals: the service runs in the test's process, whatever WORKERS and
 * PROJECTORS say.
 */
export const HERE = { WORKERS: '1', PROJECTORS: '0' } as const;

/** How long another process's log line may take to arrive, in ms. */
const LOGGED_MS = 10_000;

/** A call. `key` replaces the service's first key; null means that no key is sent. */
export interface KeyedCall extends Call {
  readonly key?: string | null;
}

/** A running service. */
export interface InProcess {
  /** Without a trailing slash. */
  readonly url: string;
  /** `${url}/fhir/R4`. */
  readonly base: string;
  /** A key for the first project, with the scopes read and write. */
  readonly key: string;
  /** Connections to the service's database. */
  readonly pool: Pool;
  /** The `postgres://…` URL of the service's database. */
  readonly databaseUrl: string;
  /** The id of the process that signals are sent to. */
  readonly pid: number;
  /** Lines logged so far. */
  readonly log: readonly string[];
  /**
   * Returns the first line logged so far that contains a text. Waits for it, because lines from other processes arrive a
   * little later.
   * @throws Error if there is no such line within ten seconds
   */
  logged(text: string): Promise<string>;
  /** Creates another project and returns its key. */
  newProject(): Promise<string>;
  /**
   * Sends a request.
   * @param path below `/fhir/R4`, with a leading slash, or a whole URL
   */
  fhir(path: string, call?: KeyedCall): Promise<Answer>;
  /**
   * Sends a resource or Bundle as JSON.
   * @throws if the status is not 2xx
   */
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  stop(): Promise<void>;
}

/**
 * Starts a service.
 * @param settings additional environment variables
 * @param older a log to start with, and the key of its project; only if the log is in PostgreSQL
 */
export async function startInProcess(
  limits: Partial<Config['limits']> = {},
  settings: Readonly<Record<string, string>> = {},
  older?: OlderLog,
): Promise<InProcess> {
  const database = await createMigratedDatabase();
  if (older !== undefined) await putLog(database.pool, older);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const shared = EVENTSTORE_URL === '' ? undefined : await foundQuickstart(database.url, devIssuerUrl(url));
  const operator =
    shared === undefined || settings.MODE === 'production'
      ? {}
      : { OPERATOR_ORGANIZATION: shared.organization };
  const isSplit = Number(settings.WORKERS ?? process.env.WORKERS ?? '1') > 1;
  if (isSplit && Object.keys(limits).length === 0)
    return startSplit(
      database,
      { ...operator, ...settings },
      older === undefined ? shared && { port, key: shared.key } : { key: older.key },
    );
  const env = {
    PORT: String(port),
    BASE_URL: url,
    DATA_DIR: await temporaryFolder(),
    EVENTSTORE_URL,
    RATE_LIMIT_PER_MINUTE: NO_LIMIT,
    SANDBOX_PATIENTS: '0',
    PRODUCTION_ACCESS: 'open',
    ...operator,
    ...settings,
  };
  const loaded = loadConfig(env);
  const config = { ...loaded, limits: { ...loaded.limits, ...limits } };
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const app = await startApp({ config, databaseUrl: database.url, log });
  await app.listen();
  const quickstart = await app.quickstart();
  if (shared !== undefined) await caughtUp(url, true);
  const key = older?.key ?? shared?.key ?? quickstart?.sandbox_key;
  if (key === undefined) throw new Error('no project was made');
  return open({ url, key, pid: process.pid, lines, stop: () => app.close() }, database);
}

/**
 * Starts a service with several processes.
 * @param given a key that is already in the service's log, and the port that the key's project was created for
 */
async function startSplit(
  database: TestDatabase,
  { DATA_DIR: dataDir, ...settings }: Readonly<Record<string, string>>,
  given: Pick<ServiceOptions, 'key' | 'port'> = {},
): Promise<InProcess> {
  const lines: string[] = [];
  const service = await startService({
    ...{ databaseUrl: database.url, dataDir: dataDir ?? (await newDataDir()), lines },
    env: { LOG_LEVEL: 'info', ...settings },
    ...given,
  });
  if (EVENTSTORE_URL !== '') await caughtUp(service.url, true);
  const { url, pid } = service;
  return open({ url, key: service.key, pid, lines, stop: () => service.stop() }, database);
}

function open(
  {
    url,
    key,
    pid,
    lines,
    stop,
  }: Pick<InProcess, 'url' | 'key' | 'pid' | 'stop'> & { readonly lines: readonly string[] },
  database: TestDatabase,
): InProcess {
  const base = `${url}/fhir/R4`;
  const fhir = (path: string, call: KeyedCall = {}): Promise<Answer> =>
    send(path.startsWith('http') ? path : base + path, call, key);
  return {
    url,
    base,
    key,
    pool: database.pool,
    databaseUrl: database.url,
    pid,
    log: lines,
    async logged(text) {
      const find = (): string | undefined => lines.find((line) => line.includes(text));
      await eventually(() => find() !== undefined, LOGGED_MS).catch(() => undefined);
      return find() ?? expect.fail(`nothing logged includes: ${text}`);
    },
    newProject: async () => (await foundProject(database.url)).key,
    fhir,
    async post(path, body, headers = {}) {
      const answer = await fhir(path, { method: 'POST', body: JSON.stringify(body), headers });
      if (answer.status >= 300) throw new Error(`POST ${path}: ${answer}`);
      return answer;
    },
    async stop() {
      await stop();
      await database.drop();
    },
  };
}

async function send(url: string, call: KeyedCall, defaultKey: string): Promise<Answer> {
  const key = call.key === undefined ? defaultKey : call.key;
  const response = await fetch(url, {
    method: call.method ?? 'GET',
    headers: {
      ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
      ...(call.body === undefined ? {} : { 'Content-Type': 'application/fhir+json' }),
      ...call.headers,
    },
    ...(call.body === undefined ? {} : { body: call.body }),
    signal: AbortSignal.timeout(call.timeoutMs ?? 120_000),
  });
  return new Answer(response.status, response.headers, await response.text());
}
