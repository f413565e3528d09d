/** Services for the routes of auditors (docs/audit.md). */
import type { AccessSearch } from '#queries/audit/access-search.ts';
import type { EventPage, EventQueries, EventsAsked } from '#queries/audit/events.ts';
import type { NameCredentials } from '#queries/audit/names.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import type { Difference } from '#src/shared/json/json-difference.ts';
import type { Micros } from '#src/shared/time/time.ts';

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

/** The head of a stream, or of a patient's access log, in a checkpoint. */
export interface CoveringCheckpoint {
  readonly id: string;
  /** Instant at which it was made. */
  readonly time: string;
  /** Of the last event, or number of the last entry. */
  readonly revision: number;
  readonly hash: string;
  readonly root: string;
}

/** Services for auditors. */
export interface AuditServices extends EventQueries, AccessSearch {
  readonly nameCredentials: NameCredentials;
  /** Searches the events of a project itself, its applications and its webhook endpoints. */
  readonly ownEvents: (project: string, asked: Omit<EventsAsked, 'resource'>) => Promise<EventPage>;
  /** Reads such an event; undefined if there is none with this id. */
  readonly ownEvent: (project: string, id: string) => Promise<LoggedEvent | undefined>;
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
  /** Returns the elements in which a version differs from the previous one; all of them for a first version. */
  readonly listChanges: (id: string, version: number) => Promise<readonly Difference[]>;
}
