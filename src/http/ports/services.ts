/**
 * Defines the services that the routes of the JSON interfaces use. A new service becomes a member here, and is created in
 * `src/app.ts`.
 */
import type { AdminCommands } from '#commands/admin.ts';
import type { Commands } from '#commands/commands.ts';
import type { Proposals } from '#commands/proposal/proposals.ts';
import type { Sandboxes } from '#commands/sandbox/sandboxes.ts';
import type { AccessLogOf } from '#queries/access-log.ts';
import type { GrantUseOf } from '#queries/access-use.ts';
import type { AdminQueries } from '#queries/admin/admin.ts';
import type { ConsentQueries } from '#queries/consents/consents.ts';
import type { Queries } from '#queries/queries.ts';
import type { FindSlot } from '#queries/rest/document-slot.ts';
import type { DocumentStore } from '#src/documents/store.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import type { FindImplausible } from '#src/shared/implausible.ts';
import type { Moment } from '#src/shared/time/moment.ts';
import type { Concepts } from '#src/terminology/concepts/concepts.ts';
import type { Terminology } from '#src/terminology/terminology.ts';
import type { AccessLog } from './access-log.ts';
import type { AccessRequestServices } from './access-requests.ts';
import type { AuditServices } from './audit.ts';
import type { ConsentCommands } from './consents.ts';
import type { Freshness } from './freshness.ts';
import type { OperationServices } from './operations.ts';
import type { RemadeReceipts } from './receipts.ts';
import type { RecordReads } from './record-reads.ts';
import type { Settings } from './settings.ts';
import type { SharedLinkServices } from './shared-links.ts';
import type { OwnSessions } from './signin.ts';
import type { TakebackOrders } from './takebacks.ts';
import type { WebhookServices } from './webhooks.ts';

/** A patient's record at a point in time. */
export interface ShownRecord {
  /** Number of events in the record. */
  readonly events: number;
  /** The first revision at which the hash chain is broken; undefined if the chain is intact. */
  readonly brokenAt: number | undefined;
  /** The resources that aren't deleted, as the JSON text of a `collection` Bundle. */
  readonly bundle: string;
}

export interface LogoBytes {
  readonly contentType: string;
  readonly content: Buffer;
}

/** The services that a route's `run` finds in `request.services`. */
export interface Services {
  readonly config: Pick<Settings, 'baseUrl' | 'mode' | 'limits' | 'productionAccess' | 'accessLog'>;
  readonly commands: Commands;
  readonly queries: Queries;
  readonly admin: AdminCommands;
  readonly adminQueries: AdminQueries;
  /** Returns the id of the organization that operates the installation; undefined if none does. */
  readonly operatorOrganization: () => Promise<string | undefined>;
  /** Issues an access token to a member. `secret` is 256 bits from a CSPRNG. */
  readonly issueMemberToken: (asked: {
    readonly identity: Identity;
    readonly project: string;
    readonly environment: Environment;
    readonly scopes: readonly ('read' | 'write')[];
    readonly secret: Buffer;
  }) => Promise<string>;
  /** The services for operators, in addition to queries and commands. */
  readonly operations: OperationServices;
  readonly takebacks: TakebackOrders;
  readonly consentQueries: ConsentQueries;
  readonly accessLogOf: AccessLogOf;
  readonly accessLog: Pick<AccessLog, 'written'>;
  readonly grantUseOf: GrantUseOf;
  readonly receipts: RemadeReceipts;
  readonly audit: AuditServices;
  readonly consents: ConsentCommands;
  readonly accessRequests: AccessRequestServices;
  readonly sharedLinks: SharedLinkServices;
  /** Services with which members read a record, in addition to the REST v1 routes. */
  readonly recordReads: RecordReads;
  /** Operations by applications and people on proposals; lists are in `consentQueries`. */
  readonly proposals: Omit<Proposals, 'lapse'>;
  readonly webhooks: WebhookServices;
  readonly sessions: OwnSessions;
  readonly sandboxes: Sandboxes;
  /** Bytes of documents. */
  readonly documents: {
    readonly store: DocumentStore;
    /** The key that signs upload URLs, 32 bytes. */
    readonly key: Buffer;
    readonly findSlot: FindSlot;
    /** Returns whether a record is being purged. During a purge, bytes are deleted before the documents. */
    readonly isErasing: (record: string) => Promise<boolean>;
  };
  /** The bytes of applications' logos; hashes are SHA-256 in hex. */
  readonly logos: {
    /**
     * Stores a logo before the event that makes it visible is written. `shown` is the hash of the logo that is currently
     * shown.
     */
    keep(application: string, sha256: string, logo: LogoBytes, shown: string | null): Promise<void>;
    /** Returns the logo that an application currently shows; undefined if its hash is different. */
    find(application: string, sha256: string): Promise<LogoBytes | undefined>;
  };
  /**
   * Returns the properties of a code in a code system, which is given by its URL; undefined if the code system isn't
   * installed.
   */
  readonly describeCode: Terminology['describe'];
  /** Symptoms, conditions and treatments in everyday and clinical language. */
  readonly concepts: Concepts;
  /** Returns the names of codes in installed code systems, by `system|code`. */
  readonly displays: Terminology['displays'];
  readonly findImplausible: FindImplausible;
  readonly freshness: Freshness;
  /**
   * Returns a patient's record at a point in time, rebuilt from its events; undefined if it was purged.
   * @throws Refusal too_large (413, `too-costly`) if it has more than `most` bytes
   */
  readonly recordAt: (patientId: string, moment: Moment, most: number) => Promise<ShownRecord | undefined>;
}
