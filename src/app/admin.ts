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
import { recordAt, toCollection } from '../audit/record-at.ts';
import type { Config } from '../config.ts';
import { type EventStore, type Position, StreamDeleted } from '../events/store.ts';
import { recordStream } from '../events/streams.ts';
import type { Services } from '../http/ports/services.ts';
import { unavailable } from '../shared/refusal.ts';
import { wrapCalls } from '../shared/wrap-calls.ts';

/** The parts that routes use, as members of the services. */
export interface Administration {
  readonly admin: AdminCommands;
  readonly adminQueries: AdminQueries;
  /** The queue of new and reset sandboxes. */
  readonly queue: SandboxQueue;
  readonly recordAt: Services['recordAt'];
}

/** Opens them. */
export function openAdministration({
  pool,
  store,
  kernel,
  base,
  locks,
  passed,
  sandboxPatients,
  productionAccess,
  waiting,
}: {
  readonly pool: Pool;
  readonly store: EventStore;
  readonly kernel: Kernel;
  /** URL of the FHIR interface, without a slash at its end. */
  readonly base: string;
  readonly locks: CriteriaLocks;
  /** The number of patients in a new project's sandbox. */
  readonly sandboxPatients: number;
  readonly productionAccess: Config['productionAccess'];
  /** Returns the number of waiting sandboxes. */
  readonly waiting: SandboxQueries['sandboxesWaiting'];
  /** Waits until the named read models show a position; false when it takes too long. */
  readonly passed: (position: Position, by: readonly string[]) => Promise<boolean>;
}): Administration {
  const adminQueries = wrapCalls(openAdminQueries(pool), refuseCostly);
  const visible = (position: Position) => passed(position, ['projects']);
  /** Waits until the read model shows everything in the log. @throws Refusal unavailable */
  const whenUpToDate = async () => {
    if (!(await passed(await store.head(), ['projects']))) throw unavailable('projects lag behind the log');
  };
  const queue = openSandboxQueue({ locks, waiting, visible });
  const admin = openAdmin({
    kernel,
    locks,
    sandboxPatients,
    productionAccess,
    queue,
    newestApplication: async (project) => {
      await whenUpToDate();
      return newestProductionApplication(pool, project);
    },
    domainHolders: async (domains) => {
      await whenUpToDate();
      return adminQueries.domainHolders(domains);
    },
    visible,
  });
  return {
    admin,
    adminQueries,
    queue,
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
