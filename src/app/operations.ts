/** Assembles what operators see and do: jobs and instances (docs/operations.md#in-the-dashboard). */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { Instance } from '../operations/instances.ts';
import { Jobs } from '../operations/jobs/jobs.ts';
import { JobRunner } from '../operations/jobs/runner.ts';

/** The parts that run for operators on this instance. */
export interface Operations {
  readonly jobs: Jobs;
  readonly runner: Pick<JobRunner, 'look'>;
  start(): void;
  stop(): Promise<void>;
}

/** Opens them. */
export function openOperations({
  pool,
  databaseUrl,
  config,
  version,
  log,
}: {
  readonly pool: Pool;
  readonly databaseUrl: string;
  readonly config: Pick<Config, 'dataDir' | 'eventStoreUrl'>;
  readonly version: string;
  readonly log: Logger;
}): Operations {
  const instance = new Instance(pool, version);
  const jobs = new Jobs(pool);
  const { dataDir, eventStoreUrl } = config;
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    EVENTSTORE_URL: eventStoreUrl,
    ANNAL_EVENTSTORE_URL: undefined,
  };
  const runner = new JobRunner({ jobs, instance: instance.id, env, log });
  return {
    jobs,
    runner,
    start() {
      instance.start();
      runner.start();
    },
    async stop() {
      await runner.stop();
      await instance.stop();
    },
  };
}
