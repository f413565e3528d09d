/** Reads the events of a stream that aren't about resources, for auditors: what happened, when, and with which credential. */
import type { EventType, StoredEvent } from '#src/events/catalog.ts';
import type { RecordedEvent, StreamHead } from '#src/events/store.ts';
import { type NamedCredential, unnamed } from './names.ts';
import { Replay } from './replay.ts';

/** An event that isn't about a resource: it concerns a project, an organization, an application, or who may use a record. */
export interface Occurrence {
  readonly revision: number;
  readonly event: string;
  readonly type: string;
  /** Instant. */
  readonly recorded: string;
  /** The credential that authorized it: an API key, or a person's ID token, identified by `iss` and `sub`. */
  readonly credential: NamedCredential;
  readonly request_id: string;
  /** The event's data; an API key appears as its hash, never as the key. */
  readonly data: object;
}

/** A stream's events. */
export interface Occurrences {
  /** The newest first. */
  readonly occurrences: readonly Occurrence[];
  /** The first revision with a broken hash chain; undefined if the chain is intact. */
  readonly brokenAt: number | undefined;
  /** The stream's last event; undefined if the hash chain is broken. */
  readonly head: StreamHead | undefined;
}

const ACCESS: ReadonlySet<EventType> = new Set<EventType>([
  'RecordLinked',
  'RecordUnlinked',
  'ConsentGranted',
  'ConsentRevoked',
  'ConsentExpired',
  'SharedLinkCreated',
  'SharedLinkEnded',
  'ProposalMade',
  'ProposalAccepted',
  'ProposalRejected',
  'ProposalWithdrawn',
  'ProposalSuperseded',
  'ProposalExpired',
]);

/**
 * Returns whether an event is about who may use a record: links to people, grants and proposals of applications, and shared
 * links.
 */
export const concernsAccess = (type: EventType): boolean => ACCESS.has(type);

/**
 * Reads a stream.
 * @param events of one stream, from revision 0.
 * @throws UnreadableEvent
 */
export async function readOccurrences(events: AsyncIterable<RecordedEvent>): Promise<Occurrences> {
  const occurrences: Occurrence[] = [];
  const replay = new Replay(events);
  for await (const event of replay) occurrences.push(occurrenceIn(event));
  return { occurrences: occurrences.reverse(), brokenAt: replay.brokenAt, head: replay.head };
}

/** Returns an event as auditors see it. */
export function occurrenceIn({ id, revision, event, metadata }: StoredEvent): Occurrence {
  return {
    revision,
    event: id,
    type: event.type,
    recorded: metadata.recorded_at,
    credential: unnamed(metadata.credential),
    request_id: metadata.request_id,
    data: 'data' in event ? event.data : {},
  };
}
