/** Runs the service's processes, which react to events and resume after crashes. */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { completeCarried } from '#commands/directory/carry.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { PROJECT } from '#commands/project/state.ts';
import { erase } from '#commands/record/erasure.ts';
import type { Resources } from '#commands/resource/state.ts';
import { fillSandbox } from '#commands/sandbox/reset.ts';
import { SANDBOX } from '#commands/sandbox/state.ts';
import type { SandboxQueries } from '#queries/admin/sandbox.ts';
import { understand } from '../events/codec.ts';
import type { NewerEvents } from '../events/newer.ts';
import type { EventStore, Position } from '../events/store.ts';
import { recordStream } from '../events/streams.ts';
import { forgetRecord } from '../oauth/revoke.ts';
import { eraseAccessLog } from '../operations/access-log/erase.ts';
import type { ContextManifests } from '../operations/context-manifests.ts';
import { Erasing } from '../operations/erasing.ts';
import type { IdempotencyStore } from '../operations/idempotency.ts';
import type { Invitations } from '../operations/invitations.ts';
import type { RecordVisits } from '../operations/record-visits.ts';
import type { RequestLog } from '../operations/request-log.ts';
import type { SharedLinks } from '../operations/shared-links.ts';
import type { PostgresSnapshots } from '../operations/snapshots.ts';
import type { Takebacks } from '../operations/takebacks/takebacks.ts';
import { Process } from '../processes/process.ts';
import type { WebhookDeliveries } from '../reactions/webhooks/deliveries.ts';
import { unavailable } from '../shared/refusal.ts';
import { nowMicros } from '../shared/time/time.ts';
import type { Documents } from './documents.ts';

/** The processes; each runs only after it is started. */
export interface Processes {
  /** Carries out purges. */
  readonly carried: Process;
  /** Carries purges out. */
  readonly erasures: Process;
  /** Fills sandboxes with synthetic patients, and resets them. */
  readonly sandboxes: Process;
}

/** How long a purge waits for other processes, in ms; also how long the response waits for the purge to finish. */
export const ERASURE_MS = 60_000;

/** Creates the processes. */
export function openProcesses({
  resources,
  snapshots,
  idempotency,
  requestLog,
  documents,
  webhooks,
  deliveries,
  manifests,
  invitations,
  sharedLinks,
  visits,
  takebacks,
  recordsBefore,
  waitFor,
  ...processDeps
}: {
  readonly store: EventStore;
  readonly pool: Pool;
  readonly databaseUrl: string;
  /** Returns true if the event log responds to this instance. */
  readonly logAnswers: () => boolean;
  /** Receives events that a newer version wrote. */
  readonly newer: NewerEvents;
  readonly log: Logger;
  /** Records and directories. */
  readonly resources: Streams<Resources>;
  readonly snapshots: PostgresSnapshots;
  readonly idempotency: IdempotencyStore;
  readonly requestLog: Pick<RequestLog, 'forget'>;
  readonly documents: Pick<Documents, 'store' | 'contents'>;
  /** Notifies subscribers of events; a purge waits for this process. */
  readonly webhooks: Process;
  readonly deliveries: Pick<WebhookDeliveries, 'forget'>;
  readonly manifests: Pick<ContextManifests, 'forget'>;
  readonly invitations: Pick<Invitations, 'forget'>;
  readonly sharedLinks: Pick<SharedLinks, 'forget'>;
  readonly visits: Pick<RecordVisits, 'forget'>;
  readonly takebacks: Pick<Takebacks, 'forget'>;
  /** Returns the records to purge when a sandbox is reset. */
  readonly recordsBefore: SandboxQueries['recordsBefore'];
  /** Waits until all read models of records have reached a position. */
  readonly waitFor: (position: Position) => Promise<boolean>;
}): Processes {
  const carried = new Process(
    {
      name: 'directory-entries',
      types: ['DirectoryEntriesCarried'],
      act: async (event) => void (await completeCarried(resources, understand(event), nowMicros)),
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
            resources,
            projects: new Streams(resources.kernel, PROJECT),
            now: nowMicros,
            erased: new Erasing(processDeps.pool),
            eraseAccessLog: (patient) => eraseAccessLog(processDeps.pool, patient),
            waitFor,
            reacted: async (position, patient) => {
              if (!(await carried.hasPassed(position, ERASURE_MS)))
                throw unavailable("the record's directory entries are not complete yet");
              // Erasing the record would delete them too.
              if (await carried.parked.isParked('directory-entries', recordStream(patient)))
                throw new Error(
                  'directory entries of the record are parked and not complete (annal parked lists them)',
                );
              if (!(await webhooks.hasPassed(position, ERASURE_MS)))
                throw unavailable('the webhooks of the deletion are not written yet');
              if (await webhooks.parked.isParked('webhooks', recordStream(patient)))
                throw new Error('webhook events of the record are parked (annal parked lists them)');
            },
            forget: async (patient) => {
              await snapshots.forget(recordStream(patient));
              await idempotency.forget(patient);
              await requestLog.forget(patient);
              await deliveries.forget(patient);
              await manifests.forget(patient);
              await invitations.forget(patient);
              await sharedLinks.forget(patient);
              await visits.forget(patient);
              await takebacks.forget(patient);
              await forgetRecord(processDeps.pool, patient);
              await documents.store.removeRecord(patient);
            },
          },
          understand(event),
        ),
    },
    processDeps,
  );
  const sandboxes = new Process(
    {
      name: 'sandbox',
      prefixes: ['project-'],
      types: ['SandboxProvisioningRequested', 'SandboxResetRequested'],
      act: (event) =>
        fillSandbox(
          {
            resources,
            sandboxes: new Streams(resources.kernel, SANDBOX),
            contents: documents.contents,
            now: nowMicros,
            waitFor: async (position) => {
              if (!(await waitFor(position))) throw unavailable('the read models lag behind the log');
            },
            records: recordsBefore,
            erased: (position) => erasures.hasDone(position, ERASURE_MS),
          },
          understand(event),
        ),
    },
    processDeps,
  );
  return { carried, erasures, sandboxes };
}
