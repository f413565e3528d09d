/** The consent commands on a service's database, as another instance of the service would run them. */
import type { RequestContext } from '#commands/command.ts';
import type { NewGrant } from '#commands/consent/consents.ts';
import { openConsents } from '#commands/consent/open.ts';
import { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { PROJECT } from '#commands/project/state.ts';
import { RESOURCES, SnapshotLoader } from '#commands/resource/state.ts';
import { openPool } from '#src/database/pool.ts';
import { openEventStore } from '#src/events/open.ts';
import type { EventStore, RecordedEvent } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import type { ConsentCommands } from '#src/http/ports/consents.ts';
import { openPairwise } from '#src/oauth/pairwise.ts';
import { installationKey } from '#src/operations/installation-key.ts';
import { Invitations } from '#src/operations/invitations.ts';
import { PostgresCriteriaLocks } from '#src/operations/locks.ts';
import { PostgresSnapshots } from '#src/operations/snapshots.ts';
import type { Identity, PersonId } from '#src/shared/access/identity.ts';
import { IdSource, newId, newUuid } from '#src/shared/ids.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { EVENTSTORE_URL } from './project.ts';

/** An instance. */
export interface ConsentInstance {
  readonly consents: ConsentCommands;
  readonly resources: Streams<ReturnType<typeof RESOURCES.initial>>;
  readonly store: EventStore;
  /** Returns a record's events, with their data. */
  events(
    record: string,
  ): Promise<readonly { readonly type: string; readonly data: Record<string, unknown> }[]>;
  close(): Promise<void>;
}

/** Opens an instance, without read models, on a migrated database. */
export async function openInstance(databaseUrl: string): Promise<ConsentInstance> {
  const pool = openPool(databaseUrl);
  const lockPool = openPool(databaseUrl);
  const store = await openEventStore({ url: databaseUrl, eventStoreUrl: EVENTSTORE_URL });
  const kernel = new Kernel(store);
  const resources = new Streams(kernel, RESOURCES, new SnapshotLoader(store, new PostgresSnapshots(pool)));
  const pairwise = openPairwise(await installationKey(pool, 'pairwise_key'));
  const consents = openConsents({
    resources,
    projects: new Streams(kernel, PROJECT),
    pairwise: { ...pairwise, earlier: async () => ({}) },
    locks: new PostgresCriteriaLocks(lockPool),
    invitations: new Invitations(pool),
    projectName: async () => 'Clinic',
    waitFor: async () => true,
  });
  return {
    consents,
    resources,
    store,
    async events(record) {
      const found: RecordedEvent[] = [];
      for await (const event of store.read(recordStream(record))) found.push(event);
      return found.map(({ type, data }) => ({ type, data: JSON.parse(data) as Record<string, unknown> }));
    },
    async close() {
      await store.close();
      await Promise.all([pool.end(), lockPool.end()]);
    },
  };
}

/** Returns the context of a person's request. */
export function byPerson({ issuer, subject }: PersonId): RequestContext {
  return {
    credential: { kind: 'id_token', issuer, subject },
    requestId: newId('req_'),
    ids: new IdSource(newUuid(), Date.now()),
    now: nowMicros,
  };
}

/** Returns the identity of a person at an issuer. */
export const identityOf = (subject: string, email = `${subject}@example.org`): Identity => ({
  issuer: 'https://issuer.example',
  subject,
  email,
  emailVerified: true,
});

/** Returns a grant that a person gives on a record. */
export function grantBy(
  person: PersonId,
  record: string,
  { application = 'app_1', environment = 'sandbox' as 'sandbox' | 'production', ...rest } = {},
): NewGrant {
  return {
    record,
    person,
    application: { id: application, project: 'proj_apps', environment, sector: application },
    scopes: ['patient/*.rs'],
    purpose: null,
    days: 90,
    grantedBy: 'patient',
    lang: 'en',
    sentences: ['Read everything'],
    ...rest,
  };
}
