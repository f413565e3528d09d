/** Assembles the parts of the admin interface. */
import type { Pool } from 'pg';
import { type AdminCommands, openAdmin } from '#commands/admin.ts';
import type { CriteriaLocks } from '#commands/command.ts';
import type { Kernel } from '#commands/kernel/kernel.ts';
import { openSandboxQueue, type SandboxQueue } from '#commands/sandbox/queue.ts';
import { type AdminQueries, openAdminQueries } from '#queries/admin/admin.ts';
import { newestProductionApplication } from '#queries/admin/production.ts';
import type { SandboxQueries } from '#queries/admin/sandbox.ts';
import { refuseCostly } from '#queries/database/gather.ts';
import { findQuickstartOrganization } from '#queries/projects.ts';
import { recordAt, toCollection } from '../audit/record-at.ts';
import type { Config } from '../config.ts';
import { type EventStore, type Position, StreamDeleted } from '../events/store.ts';
import { recordStream } from '../events/streams.ts';
import type { Freshness } from '../freshness/freshness.ts';
import type { Services } from '../http/ports/services.ts';
import { wrapCalls } from '../shared/wrap-calls.ts';

/** The parts that routes use, as members of the services object. */
export interface Administration {
  readonly admin: AdminCommands;
  readonly adminQueries: AdminQueries;
  /** The queue of new and reset sandboxes. */
  readonly queue: SandboxQueue;
  readonly operatorOrganization: Services['operatorOrganization'];
  readonly recordAt: Services['recordAt'];
}

/** Opens them. */
export function openAdministration({
  pool,
  store,
  kernel,
  base,
  locks,
  freshness,
  sandboxPatients,
  config,
  waiting,
}: {
  readonly pool: Pool;
  readonly store: EventStore;
  readonly kernel: Kernel;
  /** URL of the FHIR interface, without a trailing slash. */
  readonly base: string;
  readonly locks: CriteriaLocks;
  /** The number of patients in a new project's sandbox. */
  readonly sandboxPatients: number;
  readonly config: Pick<Config, 'mode' | 'productionAccess' | 'operatorOrganization'>;
  /** Returns the number of waiting sandboxes. */
  readonly waiting: SandboxQueries['sandboxesWaiting'];
  readonly freshness: Freshness;
}): Administration {
  const adminQueries = wrapCalls(openAdminQueries(pool), refuseCostly);
  const waitFor = (position: Position) => freshness.waitFor(position, ['projects']);
  const queue = openSandboxQueue({ locks, waiting, waitFor });
  const admin = openAdmin({
    kernel,
    locks,
    sandboxPatients,
    productionAccess: config.productionAccess,
    queue,
    newestApplication: async (project) => {
      await freshness.reachHead(['projects']);
      return newestProductionApplication(pool, project);
    },
    domainHolders: async (domains) => {
      await freshness.reachHead(['projects']);
      return adminQueries.domainHolders(domains);
    },
    waitFor,
  });
  return {
    admin,
    adminQueries,
    queue,
    async operatorOrganization() {
      if (config.operatorOrganization !== undefined || config.mode === 'production')
        return config.operatorOrganization;
      return findQuickstartOrganization(pool);
    },
    async recordAt(patientId, moment, most) {
      try {
        const record = await recordAt(store.read(recordStream(patientId)), moment, () => false, most);
        return { ...record, bundle: toCollection(record, base) };
      } catch (error) {
        if (error instanceof StreamDeleted) return undefined;
        throw error;
      }
    },
  };
}
