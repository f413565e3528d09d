/** The composition root: makes every part and hands it what it needs. No side effects before `startApp`. */
import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { completeCarried } from '#commands/directory/carry.ts';
import { Handler } from '#commands/handle.ts';
import { openCommands } from '#commands/open.ts';
import { found } from '#commands/project/found.ts';
import { erase } from '#commands/record/erasure.ts';
import { States } from '#commands/resource/states.ts';
import { PROJECTIONS } from '#projections/all.ts';
import { Progress } from '#projections/progress.ts';
import { Projector } from '#projections/projector.ts';
import { type RebuildDeps, RebuildRunning, rebuild } from '#projections/rebuild.ts';
import { prepareReadModels } from '#projections/tables.ts';
import { openLookup } from '#queries/lookup.ts';
import { anyProject } from '#queries/projects.ts';
import { openQueries } from '#queries/queries.ts';
import type { Config } from './config.ts';
import { type Quickstart, readQuickstart } from './data-dir.ts';
import { openPool } from './database/pool.ts';
import { understand } from './events/catalog.ts';
import { PostgresEventStore } from './events/postgres/store.ts';
import type { EventStore, Position } from './events/store.ts';
import { recordStream } from './events/streams.ts';
import type { ReadinessChecks } from './http/health.ts';
import { createServer } from './http/server.ts';
import { createMetrics, observeProjections } from './metrics.ts';
import { openIdempotency } from './operations/idempotency.ts';
import { PostgresCriteriaLocks } from './operations/locks.ts';
import { Process } from './operations/process.ts';
import { PostgresSnapshots } from './operations/snapshots.ts';
import { unavailable } from './shared/refusal.ts';
import { nowMicros } from './shared/time.ts';

/** What the service runs on. */
export interface AppDeps {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly log: Logger;
  /** Opens the event store. Default: the log in PostgreSQL. */
  readonly openStore?: (options: { url: string; log: Logger }) => Promise<EventStore>;
}

/** A running service. */
export interface App {
  /** Opens the port. */
  listen(): Promise<{ url: string }>;
  /**
   * What a newcomer begins with: the key of an earlier start while it works, else a new organization, project and key.
   * In production only an installation without any project gets one; else undefined.
   */
  quickstart(): Promise<Quickstart | undefined>;
  /** Answers what is under way, then stops every part. */
  close(): Promise<void>;
}

/** How long a write's answer waits for the read models, and a read of the write side for them to catch up, in ms. */
const VISIBLE_MS = 10_000;
/** The read models that serve records and directories. */
const RECORD_MODELS = ['resources', 'history'];
/** How long a start waits for the read models to catch up, in ms. */
const CATCH_UP_MS = 3_000;
/** How often expired idempotency keys are removed, in ms. */
const SWEEP_MS = 10 * 60_000;
/** How long a purge's answer waits for its end, in ms. */
const ERASURE_MS = 60_000;

/**
 * Starts every part over a migrated database; the port opens with `listen`.
 * @throws when the database cannot be used.
 */
export async function startApp(deps: AppDeps): Promise<App> {
  const { config, databaseUrl, log, openStore = PostgresEventStore.open } = deps;
  const pool = openPool(databaseUrl, { max: 10, name: 'annal' });
  const lockPool = openPool(databaseUrl, { max: 16, name: 'annal criteria locks' });
  const store = await openStore({ url: databaseUrl, log });
  await bringReadModelsUpToDate(pool, { store, databaseUrl, log });

  const names = PROJECTIONS.map(({ name }) => name);
  const progress = new Progress({ store, databaseUrl, names });
  const projector = new Projector({ store, databaseUrl, projections: PROJECTIONS, progress, log });
  projector.start();
  await progress.start();
  // Ready should mean that reads are served; what a crash left behind may take longer and answers 503 meanwhile.
  await progress.waitFor(await store.head(), names, CATCH_UP_MS);
  const passed = (position: Position, by: readonly string[]): Promise<boolean> =>
    progress.waitFor(position, by, VISIBLE_MS);
  const visible = (position: Position): Promise<boolean> => passed(position, RECORD_MODELS);
  const atHead = async (): Promise<void> => {
    if (!(await passed(await store.head(), ['resources']))) {
      throw unavailable('the read model lags behind the log');
    }
  };

  const base = `${config.baseUrl}/fhir/R4`;
  const snapshots = new PostgresSnapshots(pool);
  const states = new States(store, snapshots);
  const handler = new Handler(store, states);
  const idempotency = openIdempotency(pool);
  const processDeps = { store, pool, databaseUrl, log };
  const carried = new Process(
    {
      name: 'directory-entries',
      prefixes: ['record-'],
      types: ['DirectoryEntriesCarried'],
      act: async (event) => void (await completeCarried(handler, understand(event), nowMicros)),
    },
    processDeps,
  );
  const erasures = new Process(
    {
      name: 'erasure',
      prefixes: ['project-'],
      types: ['RecordErasureRequested'],
      act: (event) =>
        erase(
          {
            handler,
            now: nowMicros,
            visible,
            reacted: async (position) => {
              if (!(await carried.finished(position, ERASURE_MS)))
                throw unavailable('directory entries are not completed yet');
            },
            forget: async (patient) => {
              await snapshots.forget(recordStream(patient));
              await idempotency.forget(patient);
            },
          },
          understand(event),
        ),
    },
    processDeps,
  );
  carried.start();
  erasures.start();

  const commands = openCommands({
    store,
    handler,
    lookup: openLookup(pool, `${base}/`, atHead),
    locks: new PostgresCriteriaLocks(lockPool),
    visible,
    bases: [`${base}/`],
    erasure: { finished: (position) => erasures.finished(position, ERASURE_MS) },
  });
  const queries = openQueries(pool);
  const checks: ReadinessChecks = {
    event_store: () => store.ping(),
    database: async () => void (await pool.query('SELECT 1')),
    projections: async () => {
      const stale = progress.stale();
      if (stale.length > 0) throw new Error(`${stale.join(', ')} lag`);
    },
  };
  const sweeping = setInterval(() => {
    idempotency
      .sweep()
      .catch((error: unknown) => log.warn({ err: error }, 'expired idempotency keys were not removed'));
  }, SWEEP_MS).unref();
  const metrics = createMetrics();
  observeProjections(
    metrics.registry,
    () => projector.status(),
    () => progress.stale(),
  );
  const server = createServer({
    config,
    log,
    commands,
    queries,
    idempotency,
    visible,
    stale: () => progress.stale(),
    checks,
    metrics,
  });

  return {
    async listen() {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(config.port, config.host, resolve);
      });
      const { port } = server.address() as AddressInfo;
      return { url: config.baseUrl.replace(/:0$/, `:${port}`) };
    },

    async quickstart() {
      const earlier = await readQuickstart(config.dataDir);
      if (earlier !== undefined && (await queries.apiKey(sha256(earlier.sandbox_key))) !== undefined) {
        return { ...earlier, base_url: config.baseUrl };
      }
      if (config.mode === 'production' && (await anyProject(pool))) return undefined;
      const { organization, project, key, position } = await found(
        { handler, now: nowMicros },
        'Quickstart',
        'sandbox',
      );
      await passed(position, ['projects']);
      return {
        base_url: config.baseUrl,
        organization_id: organization,
        project_id: project,
        sandbox_key: key,
      };
    },

    async close() {
      await drain(server);
      carried.stop();
      erasures.stop();
      await projector.stop();
      progress.stop();
      await store.close();
      clearInterval(sweeping);
      await queries.close();
      await Promise.all([pool.end(), lockPool.end()]);
    },
  };
}

/** Makes missing read models; those that software of another version made are rebuilt, by one instance at a time. */
async function bringReadModelsUpToDate(
  pool: Pool,
  deps: RebuildDeps & { readonly log: Logger },
): Promise<void> {
  for (;;) {
    const outdated = await prepareReadModels(pool, PROJECTIONS);
    if (outdated.length === 0) return;
    deps.log.warn(
      { projections: outdated },
      'read models of another version are rebuilt before the service starts',
    );
    try {
      await rebuild(deps, outdated, { force: true });
    } catch (error) {
      if (!(error instanceof RebuildRunning)) throw error;
      await delay(1_000);
    }
  }
}

/** Stops listening, and resolves when every request has been answered. Connections close as they fall idle. */
async function drain(server: Server): Promise<void> {
  if (!server.listening) return;
  const closing = setInterval(() => server.closeIdleConnections(), 20);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(closing);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
