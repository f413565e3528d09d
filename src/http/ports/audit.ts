/** Services for the routes of auditors (docs/audit.md). */
import type { Page, PageAsked } from '#queries/admin/page.ts';
import type { AccessSearch } from '#queries/audit/access-search.ts';
import type { EventContents } from '#queries/audit/contents.ts';
import type { EventPage, EventQueries, EventRow, EventsAsked } from '#queries/audit/events.ts';
import type { NameCredentials } from '#queries/audit/names.ts';
import type { AnsweredSearch, ShownVersion } from '#src/shared/access/answered-search.ts';
import type { Environment, Tenant } from '#src/shared/access/caller.ts';
import type { CoveringCheckpoint, KeptCheckpoint } from '#src/shared/checkpoint.ts';
import type { Job } from '#src/shared/job.ts';
import type { Difference } from '#src/shared/json/json-difference.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Position } from './position.ts';

/** An event as the log has it, with its link of the hash chain. */
export interface LoggedEvent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: string;
  /** Exact JSON texts. */
  readonly data: string;
  readonly metadata: string;
  /** The previous event's hash; empty if that event is missing. */
  readonly previous: string;
  readonly hash: string | null;
  /** True if the texts and the previous hash give its hash. */
  readonly holds: boolean;
}

/** The record or directory that a resource is in. */
export interface ResourceHome {
  readonly environment: Environment;
  /** The patient; null in the directory. */
  readonly record: string | null;
}

/** The lines of a signed file. */
export type SignedFile = Iterable<string> | AsyncIterable<string>;

/** Services for auditors. */
export interface AuditServices extends EventQueries, EventContents, AccessSearch {
  readonly nameCredentials: NameCredentials;
  /** Searches the events of a project itself, its applications and its webhook endpoints. */
  readonly ownEvents: (project: string, asked: Omit<EventsAsked, 'resource'>) => Promise<EventPage>;
  /** Reads such an event; undefined if there is none with this id. */
  readonly ownEvent: (
    project: string,
    id: string,
  ) => Promise<{ readonly row: EventRow; readonly event: LoggedEvent } | undefined>;
  /** Reads an event of a record or directory; undefined if the log doesn't have it. */
  readonly loggedEvent: (
    tenant: Tenant,
    place: { readonly record: string | null; readonly at: Micros; readonly id: string },
  ) => Promise<LoggedEvent | undefined>;
  /**
   * Returns the newest checkpoint of the service, if it covers a revision of a stream.
   * @param stream of events, or `access-` and a patient's id
   */
  readonly coveredBy: (stream: string, revision: number) => Promise<CoveringCheckpoint | undefined>;
  /** Finds where a resource of a project is, also a deleted one. */
  readonly findHome: (project: string, type: string, id: string) => Promise<ResourceHome | undefined>;
  /**
   * Makes the signed file of a record; undefined without one, also if it was purged.
   * @throws Refusal conflict (409) if its hash chain is broken
   */
  readonly exportRecord: (patient: string, asOf: string | undefined) => Promise<SignedFile | undefined>;
  /** Makes the signed file of a resource's history, like `exportRecord`. @param resource `Type/id` */
  readonly exportHistory: (
    home: ResourceHome & { readonly project: string },
    resource: string,
    asOf: string | undefined,
  ) => Promise<SignedFile | undefined>;
  /**
   * Finds the events of the versions that a Bundle shows, in its order.
   * @throws Refusal conflict (409) if the log has one of them otherwise, or not at all
   */
  readonly showVersions: (
    tenant: Tenant,
    bundle: string,
  ) => Promise<readonly (ShownVersion & { readonly record: string | null })[]>;
  readonly exportSearch: (answered: AnsweredSearch) => Promise<SignedFile>;
  /** Returns the public key that signs, with its id. */
  readonly readKey: () => Promise<{ readonly id: string; readonly text: string }>;
  /** Returns the position of the newest event. */
  readonly position: () => Promise<Position>;
  /** Lists the checkpoints that the service keeps, the newest first. @throws Refusal invalid (422) for another cursor */
  readonly listCheckpoints: (asked: PageAsked) => Promise<Page<KeptCheckpoint>>;
  readonly findCheckpoint: (id: string) => Promise<KeptCheckpoint | undefined>;
  /** Yields the compressed file. */
  readonly readCheckpoint: (id: string) => AsyncIterable<Buffer>;
  /** Lists jobs of a kind about a project and its records, the newest first. */
  readonly jobsOfProject: (kind: string, project: string, asked: PageAsked) => Promise<Page<Job>>;
  /**
   * Returns the elements in which a version differs from the previous one; all of them for a first version, and for a
   * deletion those that the last version had.
   */
  readonly listChanges: (id: string, version: number) => Promise<readonly Difference[]>;
}
