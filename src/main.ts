/**
 * The service's process: reads settings, locks DATA_DIR, opens and migrates the database, and starts either the app or the
 * processes that share its work. Then it prints one line to report that it is ready.
 */
import cluster from 'node:cluster';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import type { Logger } from 'pino';
import { type Config, ConfigError, loadConfig } from './config.ts';
import {
  announceDatabase,
  DataDirInUse,
  forgetDatabase,
  lockDataDir,
  type Quickstart,
  writeQuickstart,
} from './data-dir.ts';
import { startEmbeddedPostgres } from './database/embedded.ts';
import { keepRunning } from './database/kept-running.ts';
import { errorMessage, unusableDatabase } from './database/unusable.ts';
import { LogClosed } from './events/closed.ts';
import { Unavailable } from './events/store.ts';
import { createLogger } from './logging.ts';
import { fitConnections } from './machine/budgets.ts';
import { MemberFailed, Primary, type PrimaryOptions } from './machine/primary.ts';
import { chooseSizes, countCores, readMemory } from './machine/sizes.ts';
import { migrate } from './migrations/migrate.ts';
import { type Misspelt, misspeltSettings } from './misspelt.ts';
import { ForeignLog } from './operations/log-identity.ts';
import { LogBehind } from './operations/restored-log.ts';
import { refusedAddress, tryPort } from './port.ts';
import { fullDisk, isFull } from './shared/load/full-disks.ts';
import { manifestUrlWarning } from './shl/manifest-url.ts';
import { Shutdown, Stopping } from './shutdown.ts';

/** Thrown if something outside the program prevents it from starting; the message alone tells the reader everything. */
class CannotStart extends Error {
  override readonly name = 'CannotStart';
}

const DATABASE_STOP_MS = 60_000;

async function main(): Promise<void> {
  const misspelt = misspeltSettings(process.env).map(sentenceOfMisspelt);
  const config = settings(misspelt);
  const log = createLogger(config.logLevel);
  for (const sentence of misspelt) log.warn(sentence);
  const tooLong = manifestUrlWarning(config.baseUrl);
  if (tooLong !== undefined) log.warn(tooLong);
  const shutdown = new Shutdown(log, config.shutdownSeconds * 1_000);
  shutdown.listen();
  try {
    await start(config, log, shutdown);
  } catch (error) {
    // Work in progress fails when the parts that it uses stop, so its errors are ignored here.
    if (shutdown.ending) return;
    if (!(error instanceof Stopping)) tell(error);
    await shutdown.end(error instanceof Stopping ? 0 : 1);
  }
}

/**
 * Parses the settings.
 * @throws ConfigError that also names misspelt settings, because they may be the cause
 */
function settings(misspelt: readonly string[]): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError([error.message, ...misspelt].join('\n'));
  }
}

function sentenceOfMisspelt({ name, setting }: Misspelt): string {
  return `the environment variable ${name} is not a setting and is ignored; did you mean ${setting}?`;
}

async function start(config: Config, log: Logger, shutdown: Shutdown): Promise<void> {
  const lock = await lockDataDir(config.dataDir).catch((error: unknown) => {
    throw refusedFolder(error, config.dataDir) ?? error;
  });
  shutdown.add('lock', 1_000, () => lock.release());
  // Checked now, so that no cluster is created and no read models are rebuilt if the service can't start anyway.
  await tryPort(config).catch((error: unknown) => addressRefused(error, config));
  // The app is the largest part of the program, so it is loaded while the database starts. Errors in the settings have been
  // reported already.
  const sizes = chooseSizes(config, {
    cores: countCores(),
    memory: readMemory(),
    embedded: config.databaseUrl === undefined,
  });
  const loading = sizes.projectors === 0 ? import('./app.ts') : undefined;
  loading?.catch(() => undefined);
  await tryEventStore(config).catch((error: unknown) => eventStoreRefused(error, config));
  const databaseUrl = config.databaseUrl ?? (await startDatabase(config, log, shutdown));
  const applied = await migrate(databaseUrl).catch((error: unknown) => {
    if (config.databaseUrl === undefined) throw error;
    const text = unusableDatabase(error) ?? `DATABASE_URL: cannot use the database: ${errorMessage(error)}`;
    throw new CannotStart(text, { cause: error });
  });
  if (applied.length > 0) log.info({ applied }, 'database migrated');
  if (loading === undefined) {
    const allowed = await countAllowed(databaseUrl);
    const fitting = fitConnections(sizes, allowed, config.workers !== undefined);
    if (typeof fitting === 'string') throw new CannotStart(fitting);
    return startMachine(config, log, shutdown, { sizes: fitting, databaseUrl });
  }
  const { startApp } = await loading;
  const onLogClosed = (): void => void shutdown.end(1);
  const app = await startApp({ config, databaseUrl, log, onLogClosed }).catch((error: unknown) =>
    eventStoreRefused(error, config),
  );
  shutdown.add('app', config.shutdownSeconds * 1_000, () => app.close());
  // Must happen before the service reports that it is ready, because clients read the file at that point.
  const quickstart = await app.quickstart();
  const file = quickstart && (await writeQuickstart(config.dataDir, quickstart));
  const { url } = await app.listen().catch((error: unknown) => addressRefused(error, config));
  shutdown.started();
  sayReady(config, url, file);
}

/** Returns how many connections PostgreSQL allows this service, including connections that others are using. */
async function countAllowed(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ n: number }>(
      `select sum(case name when 'max_connections' then setting::int else -setting::int end)::int as n from pg_settings
        where name in ('max_connections', 'superuser_reserved_connections', 'reserved_connections')`,
    );
    return rows[0]?.n ?? 0;
  } finally {
    await client.end();
  }
}

function sayReady({ baseUrl }: Config, url: string, file: string | undefined): void {
  const key = file === undefined ? '' : `, sandbox key in ${file}`;
  process.stdout.write(`Annal is ready at ${url} (FHIR: ${baseUrl}/fhir/R4${key})\n`);
}

/** Starts the processes that share the work. */
async function startMachine(
  config: Config,
  log: Logger,
  shutdown: Shutdown,
  machine: Pick<PrimaryOptions, 'sizes' | 'databaseUrl'>,
): Promise<void> {
  let file: string | undefined;
  const folder = await mkdtemp(join(tmpdir(), 'annal-'));
  shutdown.add('sockets', 1_000, () => rm(folder, { recursive: true, force: true }));
  const primary = new Primary({
    ...machine,
    folder,
    log,
    async onBegun(quickstart) {
      if (quickstart !== undefined && quickstart !== null)
        file = await writeQuickstart(config.dataDir, quickstart as Quickstart);
    },
    onFatal(error) {
      tell(error, 'Annal stops');
      void shutdown.end(1);
    },
  });
  shutdown.onAbandon(() => primary.abandon());
  shutdown.add('processes', 2 * config.shutdownSeconds * 1_000, () => primary.stop());
  const url = await primary.start();
  process.on('SIGHUP', () => void primary.replace());
  shutdown.started();
  log.info(machine.sizes, 'processes share the work');
  sayReady(config, url, file);
}

async function startDatabase(config: Config, log: Logger, shutdown: Shutdown): Promise<string> {
  const { dataDir } = config;
  const server = await startEmbeddedPostgres({ dataDir, log: (message) => log.info(message) }).catch(
    (error: unknown) => {
      log.debug({ err: error }, 'the embedded database');
      throw new CannotStart(errorMessage(error), { cause: error });
    },
  );
  const kept = keepRunning(server, log, () => void shutdown.end(1));
  shutdown.onAbandon(() => process.kill(kept.pid, 'SIGQUIT'));
  shutdown.add('database', DATABASE_STOP_MS, async () => {
    await forgetDatabase(dataDir);
    await kept.stop();
  });
  const { eventStoreUrl } = config;
  await announceDatabase(dataDir, {
    url: server.url,
    ...(eventStoreUrl === undefined ? {} : { event_store: eventStoreUrl }),
  });
  return server.url;
}

/** Returns the message for a system error about creating or writing to DATA_DIR. */
function refusedFolder(error: unknown, dataDir: string): CannotStart | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return undefined;
  if (isFull(code)) return new CannotStart(`DATA_DIR ${dataDir}: ${fullDisk('DATA_DIR')}`);
  return new CannotStart(
    `cannot use DATA_DIR ${dataDir} (${code}): it must be a folder that this user can create in ${dirname(dataDir)} and write to`,
  );
}

/**
 * Connects once to the event store that the settings name, so that no cluster is created if the store can't be used.
 * @throws the errors that `openEventStore` throws
 */
async function tryEventStore({ databaseUrl, eventStoreUrl, dataDir }: Config): Promise<void> {
  if (eventStoreUrl === undefined || databaseUrl !== undefined || existsSync(join(dataDir, 'postgres')))
    return;
  const { openEventStore } = await import('./events/open.ts');
  await (await openEventStore({ url: eventStoreUrl, eventStoreUrl })).close();
}

/** @throws CannotStart if the event store that the settings name can't be used, otherwise the error itself */
function eventStoreRefused(error: unknown, { eventStoreUrl }: Config): never {
  if (eventStoreUrl === undefined || !(error instanceof Unavailable)) throw error;
  throw new CannotStart(`EVENTSTORE_URL: cannot use the event store: ${errorMessage(error)}`, {
    cause: error,
  });
}

/** @throws CannotStart if the cause lies outside the program, otherwise the error itself */
async function addressRefused(error: unknown, config: Config): Promise<never> {
  const reason = await refusedAddress(error, config);
  throw reason === undefined ? error : new CannotStart(reason, { cause: error });
}

/** Returns whether the message alone tells the reader everything. */
function isPlain(error: unknown): boolean {
  if (error instanceof MemberFailed) return error.plain;
  return [ConfigError, DataDirInUse, CannotStart, ForeignLog, LogBehind, LogClosed].some(
    (kind) => error instanceof kind,
  );
}

/** Reports the reason on standard error: a single sentence if the cause lies outside the program, otherwise the whole error. */
function tell(error: unknown, what = 'Annal cannot start'): void {
  const text = isPlain(error)
    ? errorMessage(error)
    : error instanceof Error
      ? (error.stack ?? error.message)
      : String(error);
  process.stderr.write(`${what}: ${text}\n`);
}

if (cluster.isWorker) {
  const { runMember } = await import('./member.ts');
  runMember(isPlain);
} else
  main().catch((error: unknown) => {
    tell(error);
    process.exitCode = 1;
  });
