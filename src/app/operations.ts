/** Assembles the services of operators: jobs, instances, and the states of all that follows the log. */
import type { Logger } from 'pino';
import { PROJECTIONS } from '#projections/all.ts';
import type { Config } from '../config.ts';
import type { DocumentStore } from '../documents/store.ts';
import type { EventMetadata } from '../events/metadata.ts';
import { type EventStore, StreamDeleted, Unavailable } from '../events/store.ts';
import { type FollowerParts, readFollowers } from '../freshness/states.ts';
import type { OperationServices } from '../http/ports/operations.ts';
import { Instance } from '../operations/instances.ts';
import { Jobs } from '../operations/jobs/jobs.ts';
import { JobRunner } from '../operations/jobs/runner.ts';
import { SizeSamples } from '../operations/size-samples.ts';
import type { ParkedEvents } from '../processes/parked.ts';
import type { Process } from '../processes/process.ts';

/** The parts that run for operators on this instance. */
export interface Operations {
  readonly services: OperationServices;
  start(): void;
  stop(): Promise<void>;
}

/** Opens them. */
export function openOperations({
  databaseUrl,
  config,
  version,
  log,
  followers,
  documents,
  issuers,
  notices,
}: {
  readonly databaseUrl: string;
  readonly config: Pick<Config, 'dataDir' | 'eventStoreUrl'>;
  readonly version: string;
  readonly log: Logger;
  readonly followers: Omit<FollowerParts, 'parked' | 'processes' | 'store'> & {
    readonly store: EventStore;
    readonly parked: ParkedEvents;
    readonly processes: readonly Pick<Process, 'definition' | 'leads'>[];
  };
  readonly documents: Pick<DocumentStore, 'list'>;
  readonly issuers: OperationServices['issuers'];
  readonly notices: OperationServices['notices'];
}): Operations {
  const { pool, projector, processes, parked, store } = followers;
  const instance = new Instance(pool, version, () => [
    ...processes.filter(({ leads }) => leads).map(({ definition }) => `process ${definition.name}`),
    ...projector.status().flatMap(({ name, state }) => (state === 'running' ? [`read model ${name}`] : [])),
  ]);
  const jobs = new Jobs(pool);
  const { dataDir, eventStoreUrl } = config;
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    EVENTSTORE_URL: eventStoreUrl,
    ANNAL_EVENTSTORE_URL: undefined,
  };
  const runner = new JobRunner({ jobs, instance: instance.id, env, log });
  const samples = new SizeSamples(pool, () => documents.list());
  return {
    services: {
      instance: instance.id,
      jobs: {
        async start(job) {
          const started = await jobs.start(job);
          runner.look();
          return started;
        },
        find: (kind, id) => jobs.find(kind, id),
        cancel: (kind, id) => jobs.cancel(kind, id),
      },
      readModels: PROJECTIONS.map(({ name }) => name),
      followers: () => readFollowers(followers),
      retryParked: (process, eventId) => parked.hurryOne(process, eventId),
      async eventAt(stream, revision) {
        try {
          for await (const { type, metadata } of store.read(stream, { from: revision, limit: 1 }))
            return { type, ...(JSON.parse(metadata) as EventMetadata).owner };
        } catch (error) {
          if (!(error instanceof StreamDeleted || error instanceof Unavailable)) throw error;
        }
        return undefined;
      },
      issuers,
      notices,
    },
    start() {
      instance.start();
      runner.start();
      samples.start();
    },
    async stop() {
      samples.stop();
      await runner.stop();
      await instance.stop();
    },
  };
}
