/** Assembles the services for operators: jobs, instances, and the states of everything that follows the log. */
import type { Logger } from 'pino';
import { PROJECTIONS } from '#projections/all.ts';
import type { Config } from '../config.ts';
import type { DocumentStore } from '../documents/store.ts';
import type { EventMetadata } from '../events/metadata.ts';
import { type EventStore, StreamDeleted, Unavailable } from '../events/store.ts';
import { type FollowerParts, readFollowers } from '../freshness/states.ts';
import type { OperationServices } from '../http/ports/operations.ts';
import type { InstanceMark } from '../machine/messages.ts';
import { Instance } from '../operations/instances.ts';
import { Jobs } from '../operations/jobs/jobs.ts';
import { JobRunner } from '../operations/jobs/runner.ts';
import { SizeSamples } from '../operations/size-samples.ts';
import type { ParkedEvents } from '../processes/parked.ts';
import type { Process } from '../processes/process.ts';
import { newId } from '../shared/ids.ts';

/** This instance's parts for operators. */
export interface Operations {
  readonly services: OperationServices;
  /** Begins to run jobs and to report that the instance is alive. Idempotent. */
  start(): void;
  stop(): Promise<void>;
}

/** Opens them. */
export function openOperations({
  databaseUrl,
  config,
  mark = { id: newId('inst_'), pid: process.pid },
  version,
  log,
  followers,
  documents,
  issuers,
  notices,
}: {
  readonly databaseUrl: string;
  readonly config: Pick<Config, 'dataDir' | 'eventStoreUrl'>;
  /** The instance that this process is part of. Default: an instance of its own. */
  readonly mark: InstanceMark | undefined;
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
  const instance = new Instance(pool, mark, version, () => [
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
  const runner = new JobRunner({ jobs, instance: mark.id, env, log });
  const samples = new SizeSamples(pool, () => documents.list());
  let isStarted = false;
  return {
    services: {
      instance: mark.id,
      jobs: {
        async start(job) {
          const started = await jobs.start(job);
          // Jobs may run in another process on this machine, which checks for new ones every second.
          if (isStarted) runner.look();
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
      if (isStarted) return;
      isStarted = true;
      instance.start();
      runner.start();
      samples.start();
    },
    async stop() {
      if (!isStarted) return;
      samples.stop();
      await runner.stop();
      await instance.stop();
    },
  };
}
