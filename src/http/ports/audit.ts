/** Defines the services for auditors' routes (docs/audit.md). */
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

/** An event as stored in the log, with the hashes that link it to the hash chain. */
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
  /** True if the event's texts and the previous hash result in the event's hash. */
  readonly holds: boolean;
}

/** The record or directory that contains a resource. */
export interface ResourceHome {
  readonly environment: Environment;
  /** The patient; null if the resource is in the directory. */
  readonly record: string | null;
}

/** The lines of a signed file. */
export type SignedFile = Iterable<string> | AsyncIterable<string>;

/** Services for auditors. */
export interface AuditServices extends EventQueries, EventContents, AccessSearch {
  readonly nameCredentials: NameCredentials;
  /** Searches the events about a project itself, its applications and its webhook endpoints. */
  readonly ownEvents: (project: string, asked: Omit<EventsAsked, 'resource'>) => Promise<EventPage>;
  /**
   * Reads an event about a project itself, its applications or its webhook endpoints; undefined if there is none with this id.
   */
  readonly ownEvent: (
    project: string,
    id: string,
  ) => Promise<{ readonly row: EventRow; readonly event: LoggedEvent } | undefined>;
  /** Reads an event in a record or directory; undefined if it isn't in the log. */
  readonly loggedEvent: (
    tenant: Tenant,
    place: { readonly record: string | null; readonly at: Micros; readonly id: string },
  ) => Promise<LoggedEvent | undefined>;
  /**
   * Returns the service's newest checkpoint, if it covers the given revision of a stream.
   * @param stream a stream of events, or `access-` and a patient's id
   */
  readonly coveredBy: (stream: string, revision: number) => Promise<CoveringCheckpoint | undefined>;
  /** Finds where one of a project's resources is stored, even if it is deleted. */
  readonly findHome: (project: string, type: string, id: string) => Promise<ResourceHome | undefined>;
  /**
   * Creates the signed file for a record; undefined if the record doesn't exist or was purged.
   * @throws Refusal conflict (409) if its hash chain is broken
   */
  readonly exportRecord: (patient: string, asOf: string | undefined) => Promise<SignedFile | undefined>;
  /**
   * Creates the signed file for a resource's history, as `exportRecord` does for a record.
   * @param resource `Type/id`
   */
  readonly exportHistory: (
    home: ResourceHome & { readonly project: string },
    resource: string,
    asOf: string | undefined,
  ) => Promise<SignedFile | undefined>;
  /**
   * Finds the events that produced the versions in a Bundle, in the Bundle's order.
   * @throws Refusal conflict (409) if a version differs from the log or isn't in the log
   */
  readonly showVersions: (
    tenant: Tenant,
    bundle: string,
  ) => Promise<readonly (ShownVersion & { readonly record: string | null })[]>;
  readonly exportSearch: (answered: AnsweredSearch) => Promise<SignedFile>;
  /** Returns the public key for signatures, with its id. */
  readonly readKey: () => Promise<{ readonly id: string; readonly text: string }>;
  /** Returns the newest event's position. */
  readonly position: () => Promise<Position>;
  /**
   * Lists the checkpoints that the service keeps, newest first.
   * @throws Refusal invalid (422) for a cursor from another list
   */
  readonly listCheckpoints: (asked: PageAsked) => Promise<Page<KeptCheckpoint>>;
  readonly findCheckpoint: (id: string) => Promise<KeptCheckpoint | undefined>;
  /** Yields the compressed content of a checkpoint's file. */
  readonly readCheckpoint: (id: string) => AsyncIterable<Buffer>;
  /** Lists a project's jobs of a given kind, including jobs on its records, newest first. */
  readonly jobsOfProject: (kind: string, project: string, asked: PageAsked) => Promise<Page<Job>>;
  /**
   * Returns the elements in which a version differs from the previous version. For a first version, these are all elements;
   * for a deletion, they are the elements of the last version.
   */
  readonly listChanges: (id: string, version: number) => Promise<readonly Difference[]>;
}
