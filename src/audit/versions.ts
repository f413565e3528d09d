/** Computes the versions of a stream's resources, with author, time, reason, source and changes, by folding its events. */
import type { StoredEvent } from '#src/events/catalog.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import type { RecordedEvent, StreamHead } from '#src/events/store.ts';
import { withoutAiLabel } from '#src/shared/access/ai-label.ts';
import { isObject, type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { type Difference, differences } from '#src/shared/json/json-difference.ts';
import { without } from '#src/shared/json/json-value.ts';
import { type NamedCredential, unnamed } from './names.ts';
import { concernsAccess, type Occurrence, occurrenceIn } from './occurrences.ts';
import { ClientProvenances, type SaidProvenance } from './provenances.ts';
import { Replay } from './replay.ts';

/** One version of a resource. */
export interface Version {
  /** `Type/id`. */
  readonly resource: string;
  readonly version: number;
  /** Instant. */
  readonly recorded: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** `patient`, `practitioner`, `device`, `import` or `ai`; null if the service itself wrote the version. */
  readonly author_type: string | null;
  /** `Practitioner/…`. */
  readonly author: string | null;
  /** The name of `author`, otherwise of `acting_as`, as it was when this version was written. */
  readonly author_name: string | null;
  /** `Practitioner/…` or `PractitionerRole/…`: the role in which the author acted. */
  readonly acting_as: string | null;
  readonly acting_as_name: string | null;
  /** An `Organization/…` and its name at that time. */
  readonly on_behalf_of: { readonly reference: string | null; readonly display: string | null } | null;
  readonly source_system: string | null;
  /** The data's id in the source system. */
  readonly origin_id: string | null;
  /** The credential that authorized the write. */
  readonly credential: NamedCredential;
  /**
   * The person who accepted the proposal for this version; `credential` is then the credential of the application that
   * proposed it.
   */
  readonly approved_by?: NonNullable<EventMetadata['approved_by']>;
  readonly request_id: string;
  /** An id shared by all versions that one transaction wrote. */
  readonly transaction_id: string | null;
  /** `Provenance/…`: the Provenance that the service derives from the version's event. */
  readonly provenance: string;
  /** Clients' own Provenances about this version. */
  readonly provenances: readonly SaidProvenance[];
  /** The revision of the version's event in the stream. */
  readonly revision: number;
  /** Differences from the previous version. A first version lists all its elements; a deletion lists none. */
  readonly differences: readonly Difference[];
}

/** A stream's versions. */
export interface History {
  /** The newest first. */
  readonly versions: readonly Version[];
  /** People's links and applications' grants, newest first; empty if the history is of one resource. */
  readonly access: readonly Occurrence[];
  /** The number of events read, including events without a version. */
  readonly events: number;
  /** The first revision with a broken hash chain; undefined if the chain is intact. */
  readonly brokenAt: number | undefined;
  /** The stream's last event; undefined if the hash chain is broken. */
  readonly head: StreamHead | undefined;
}

const OPERATIONS = {
  ResourceCreated: 'CREATE',
  ResourceUpdated: 'UPDATE',
  ResourceDeleted: 'DELETE',
} as const;

/**
 * Reads a stream's history.
 * @param events of one stream, from revision 0.
 * @param only the id of a single resource to return. Default: all resources.
 * @throws UnreadableEvent
 */
export async function readHistory(events: AsyncIterable<RecordedEvent>, only?: string): Promise<History> {
  const versions: Omit<Version, 'provenances'>[] = [];
  const access: Occurrence[] = [];
  /** The last content of each resource: a restored resource is compared with its content before the deletion. */
  const contents = new Map<string, JsonObject>();
  const said = new ClientProvenances();
  const replay = new Replay(events);
  for await (const event of replay) {
    said.note(event);
    if (only === undefined && concernsAccess(event.event.type)) access.push(occurrenceIn(event));
    const version = versionIn(event, contents, only);
    if (version !== undefined) versions.push(version);
  }
  const about = said.byVersion();
  return {
    versions: versions.reverse().map((version) => ({
      ...version,
      provenances: about.get(`${version.resource}/_history/${version.version}`) ?? [],
    })),
    access: access.reverse(),
    events: replay.events,
    brokenAt: replay.brokenAt,
    head: replay.head,
  };
}

function versionIn(
  { id, revision, event, metadata }: StoredEvent,
  contents: Map<string, JsonObject>,
  only: string | undefined,
): Omit<Version, 'provenances'> | undefined {
  if (!('resourceId' in event) || (only !== undefined && event.resourceId !== only)) return undefined;
  const {
    author,
    acting_as,
    acting_as_display,
    on_behalf_of,
    organization,
    source_system,
    origin_id,
    approved_by,
  } = metadata;
  return {
    resource: `${event.resourceType}/${event.resourceId}`,
    version: event.version,
    recorded: metadata.recorded_at,
    operation: OPERATIONS[event.type],
    author_type: author?.type ?? null,
    author: author?.reference ?? null,
    author_name: author?.display ?? null,
    acting_as: acting_as ?? null,
    acting_as_name: acting_as_display ?? (author?.reference === undefined ? author?.display : null) ?? null,
    on_behalf_of:
      on_behalf_of !== undefined
        ? { reference: on_behalf_of.reference, display: on_behalf_of.display ?? null }
        : organization === undefined
          ? null
          : { reference: null, display: organization.display ?? organization.identifier?.value ?? null },
    source_system: source_system ?? null,
    origin_id: origin_id ?? null,
    credential: unnamed(metadata.credential),
    ...(approved_by === undefined ? {} : { approved_by }),
    request_id: metadata.request_id,
    transaction_id: metadata.transaction_id ?? null,
    provenance: `Provenance/${id}`,
    revision,
    differences: event.type === 'ResourceDeleted' ? [] : changes(event.resourceId, event.body, contents),
  };
}

/**
 * Describes a version's author: the name, and the name of the person who entered the version on the author's behalf, or
 * references if the event has no names. The service's own Provenance lists the same agents (docs/spec/interface.md, section
 * 2.4).
 */
export function writtenBy({ author, author_name, author_type, acting_as, acting_as_name }: Version): string {
  const entered = acting_as_name ?? acting_as;
  if (author === null || author === acting_as) return author_name ?? entered ?? author ?? author_type ?? '';
  const first = author_name ?? author;
  return entered === null ? first : `${first}, entered by ${entered}`;
}

/** A version as reads show it. */
export interface ReadVersion {
  /** FHIR JSON text. */
  readonly body: string;
  readonly byAi: boolean;
}

/** Returns the elements in which a version differs from an earlier one; without an earlier version, all its elements. */
export function changesBetween(before: ReadVersion | undefined, after: ReadVersion): Difference[] {
  const [was, is] = [before, after].map((version) =>
    version === undefined ? undefined : writtenIn(version),
  );
  return is === undefined ? [] : differences(was, is);
}

/** Returns the content as written, without the label that reads add. */
function writtenIn({ body, byAi }: ReadVersion): JsonObject | undefined {
  const { value } = parseJson(body);
  if (!isObject(value)) return undefined;
  return ownContent(byAi ? withoutAiLabel(value) : value);
}

function changes(id: string, body: string, contents: Map<string, JsonObject>): Difference[] {
  const { value } = parseJson(body);
  if (!isObject(value)) return [];
  const content = ownContent(value);
  const found = differences(contents.get(id), content);
  contents.set(id, content);
  return found;
}

/** Returns the content without elements that the service sets in every version. */
function ownContent(resource: JsonObject): JsonObject {
  const rest = without(resource, 'resourceType', 'id', 'meta');
  const meta = isObject(resource.meta) ? without(resource.meta, 'versionId', 'lastUpdated') : {};
  return Object.keys(meta).length === 0 ? rest : { meta, ...rest };
}

/** Returns, in words, who accepted the proposal that became a version; undefined if the version wasn't proposed. */
export function approvedBy({ approved_by: by }: Version): string | undefined {
  if (by === undefined) return undefined;
  const who = by.role === 'self' ? 'the patient' : 'a person who looks after the patient';
  return `${who} (${by.subject} of ${by.issuer}), proposal ${by.proposal_id}`;
}
