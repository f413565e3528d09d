/** The automatic Provenance of a version, made from its history row: interface.md, section 2.4. */
import type { EventMetadata } from '#src/events/metadata.ts';
import { type Micros, toInstant } from '#src/shared/time.ts';

/** Identifier system of author types (decisions.md, section 1). */
export const AUTHOR_TYPE_SYSTEM = 'https://annal.dev/fhir/author-type';

const DATA_OPERATION = 'http://terminology.hl7.org/CodeSystem/v3-DataOperation';
const PARTICIPANTS = 'http://terminology.hl7.org/CodeSystem/provenance-participant-type';

/** Codings of `activity`. */
export const OPERATIONS = {
  CREATE: { system: DATA_OPERATION, code: 'CREATE', display: 'create' },
  UPDATE: { system: DATA_OPERATION, code: 'UPDATE', display: 'revise' },
  DELETE: { system: DATA_OPERATION, code: 'DELETE', display: 'delete' },
} as const;

/** Codings of `agent.type`. */
export const AGENT_TYPES = {
  author: { system: PARTICIPANTS, code: 'author', display: 'Author' },
  enterer: { system: PARTICIPANTS, code: 'enterer', display: 'Enterer' },
} as const;

/** What a history row says of one version. */
export interface RecordedVersion {
  /** Also the id of the Provenance. */
  readonly event_id: string;
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly recorded_at: Micros;
  readonly operation: keyof typeof OPERATIONS;
  /** JSON of the event's metadata. */
  readonly metadata: string;
}

/** The FHIR JSON text of a version's Provenance. */
export function provenanceText(row: RecordedVersion): string {
  const metadata = JSON.parse(row.metadata) as EventMetadata;
  const recorded = toInstant(row.recorded_at);
  const entity = source(metadata);
  return JSON.stringify({
    resourceType: 'Provenance',
    id: row.event_id,
    meta: { versionId: '1', lastUpdated: recorded },
    target: [{ reference: `${row.type}/${row.id}/_history/${row.version}` }],
    recorded,
    activity: { coding: [OPERATIONS[row.operation]] },
    agent: agents(metadata),
    ...(entity === undefined ? {} : { entity: [entity] }),
  });
}

/** The author; and whoever entered it for them, when both are named and differ. */
function agents(metadata: EventMetadata): object[] {
  const { author, acting_as: actingAs, on_behalf_of: onBehalfOf } = metadata;
  const reference = author?.reference ?? actingAs;
  const behalf = onBehalfOf === undefined ? {} : { onBehalfOf };
  const who = {
    ...(reference === undefined ? {} : { reference }),
    identifier: { system: AUTHOR_TYPE_SYSTEM, value: author?.type ?? 'import' },
  };
  const all: object[] = [{ type: { coding: [AGENT_TYPES.author] }, who, ...behalf }];
  if (actingAs !== undefined && actingAs !== reference) {
    all.push({ type: { coding: [AGENT_TYPES.enterer] }, who: { reference: actingAs }, ...behalf });
  }
  return all;
}

/** Where the data came from: the source system's name as a uri, the origin id as its value there. */
function source(metadata: EventMetadata): object | undefined {
  const { source_system: system, origin_id: value } = metadata;
  if (system === undefined && value === undefined) return undefined;
  const identifier = {
    ...(system === undefined ? {} : { system: encodeURI(system) }),
    ...(value === undefined ? {} : { value }),
  };
  return { role: 'source', what: { identifier, ...(system === undefined ? {} : { display: system }) } };
}
