/** A version's automatic Provenance, generated from its history row: docs/spec/interface.md, section 2.4. */
import type { EventMetadata } from '#src/events/metadata.ts';
import { type Micros, toInstant } from '#src/shared/time/time.ts';
import type { Queryable } from '../database/gather.ts';
import { readWriters, type Writer } from './writers.ts';

/** Identifier system for author types (docs/spec/decisions.md, section 1). */
export const AUTHOR_TYPE_SYSTEM = 'https://annal.dev/fhir/author-type';
/** Identifier system for API keys: the value is the key's id, never the key. */
export const API_KEY_SYSTEM = 'https://annal.dev/fhir/api-key';
/** Identifier system for applications. */
export const APPLICATION_SYSTEM = 'https://annal.dev/fhir/application';
/**
 * Identifier system for people in relation to a record; values are as in the access log's `actor_ref` (docs/spec/decisions.md,
 * section 4).
 */
export const ACTOR_SYSTEM = 'https://annal.dev/fhir/actor';
/**
 * Identifier system for the organizations that own projects; Organizations in the directory are identified by references
 * instead.
 */
export const ORGANIZATION_SYSTEM = 'https://annal.dev/fhir/organization';

/** The extension for further identifiers on a reference, because `who.identifier` already contains the author type. */
const ADDITIONAL_IDENTIFIER = 'http://hl7.org/fhir/StructureDefinition/additionalIdentifier';

const DATA_OPERATION = 'http://terminology.hl7.org/CodeSystem/v3-DataOperation';
const PARTICIPANTS = 'http://terminology.hl7.org/CodeSystem/provenance-participant-type';

/** Codings for `activity`. */
export const OPERATIONS = {
  CREATE: { system: DATA_OPERATION, code: 'CREATE', display: 'create' },
  UPDATE: { system: DATA_OPERATION, code: 'UPDATE', display: 'revise' },
  DELETE: { system: DATA_OPERATION, code: 'DELETE', display: 'delete' },
} as const;

/** Codings for `agent.type`. */
export const AGENT_TYPES = {
  author: { system: PARTICIPANTS, code: 'author', display: 'Author' },
  enterer: { system: PARTICIPANTS, code: 'enterer', display: 'Enterer' },
  verifier: { system: PARTICIPANTS, code: 'verifier', display: 'Verifier' },
} as const;

/** The columns of history.version that describe one version. */
export interface RecordedVersion {
  /** The id of the version's event, which is also the id of its automatic Provenance. */
  readonly event_id: string;
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly recorded_at: Micros;
  readonly operation: keyof typeof OPERATIONS;
  /** JSON of the event's metadata. */
  readonly metadata: string;
}

/**
 * Returns the FHIR JSON of the versions' Provenances, in the same order; the names of all writers are read together.
 * @param readBy `Calls.projectId`: the names of keys and applications are visible only to their own project
 */
export async function provenanceTexts(
  database: Queryable,
  readBy: string,
  rows: readonly RecordedVersion[],
): Promise<string[]> {
  const metadata = rows.map((row) => JSON.parse(row.metadata) as EventMetadata);
  const writers = await readWriters(
    database,
    readBy,
    metadata.map(({ credential }) => credential),
  );
  return rows.flatMap((row, n) => {
    const [said, writer] = [metadata[n], writers[n]];
    return said === undefined || writer === undefined ? [] : provenanceText(row, said, writer);
  });
}

function provenanceText(row: RecordedVersion, metadata: EventMetadata, writer: Writer): string {
  const recorded = toInstant(row.recorded_at);
  const entity = source(metadata);
  return JSON.stringify({
    resourceType: 'Provenance',
    id: row.event_id,
    meta: { versionId: '1', lastUpdated: recorded },
    target: [{ reference: `${row.type}/${row.id}/_history/${row.version}` }],
    recorded,
    activity: { coding: [OPERATIONS[row.operation]] },
    agent: [...listAgents(metadata, writer), ...approver(metadata)],
    ...(entity === undefined ? {} : { entity: [entity] }),
  });
}

/** Returns the agents, author first. Under a grant, the application is the second agent (docs/spec/decisions.md, section 9). */
function listAgents(metadata: EventMetadata, writer: Writer): object[] {
  const { author, entered } = people(metadata);
  const holder = credentialAgent(writer);
  return metadata.credential.kind === 'grant'
    ? [author, ...holder, ...entered]
    : [author, ...entered, ...holder];
}

/** Returns the author and, if both are named and differ, the person who entered the data for the author. */
function people(metadata: EventMetadata): { readonly author: object; readonly entered: object[] } {
  const { author, acting_as: actingAs, acting_as_display: display, acting_as_identifier } = metadata;
  const onBehalfOf = metadata.on_behalf_of ?? metadata.organization;
  const reference = author?.reference ?? actingAs;
  const behalf = onBehalfOf === undefined ? {} : { onBehalfOf };
  const who = {
    ...(author?.identifier === undefined
      ? {}
      : { extension: [{ url: ADDITIONAL_IDENTIFIER, valueIdentifier: author.identifier }] }),
    ...(reference === undefined ? {} : { reference }),
    identifier: { system: AUTHOR_TYPE_SYSTEM, value: author?.type ?? 'import' },
    ...(author?.display === undefined ? {} : { display: author.display }),
  };
  const entered = {
    ...(actingAs === undefined || actingAs === reference ? {} : { reference: actingAs }),
    ...(acting_as_identifier === undefined ? {} : { identifier: acting_as_identifier }),
    ...(display === undefined ? {} : { display }),
  };
  return {
    author: { type: { coding: [AGENT_TYPES.author] }, who, ...behalf },
    entered:
      Object.keys(entered).length === 0
        ? []
        : [{ type: { coding: [AGENT_TYPES.enterer] }, who: entered, ...behalf }],
  };
}

/**
 * Returns the person who accepted a proposal. R4's `verifier` "verifies the correctness and appropriateness of the activity":
 * the person says that the change is wanted, but not that its values are right, which an `attester` would say.
 */
function approver({ approved_by: by }: EventMetadata): object[] {
  if (by === undefined) return [];
  const identifier = { system: ACTOR_SYSTEM, value: `person/${by.role}` };
  const display = by.role === 'self' ? 'The patient' : 'A person who looks after the patient';
  return [{ type: { coding: [AGENT_TYPES.verifier] }, who: { identifier, display } }];
}

/** Identifier systems for holders of credentials. */
const SYSTEM_OF = {
  api_key: API_KEY_SYSTEM,
  application: APPLICATION_SYSTEM,
  organization: ORGANIZATION_SYSTEM,
} as const;

/**
 * Returns the key, application or member as an agent. Without this agent, a write without an author would name only `import`.
 */
function credentialAgent(writer: Writer): object[] {
  if (writer.kind === 'service') return [];
  const system = writer.kind === 'member' ? writer.issuer : SYSTEM_OF[writer.kind];
  const display = writer.kind === 'api_key' ? keyLabel(writer) : writer.name;
  const who = {
    ...(writer.id === null ? {} : { identifier: { system, value: writer.id } }),
    ...(display === null ? {} : { display }),
  };
  return Object.keys(who).length === 0 ? [] : [{ type: { coding: [AGENT_TYPES.enterer] }, who }];
}

/** Returns `name (…last4)`; null if the key is unknown. */
function keyLabel({ name, last4 }: Extract<Writer, { kind: 'api_key' }>): string | null {
  return name === null || last4 === null ? null : `${name} (…${last4})`;
}

/** Returns the source of the data: the source system's name as a URI, with the origin id as the value. */
function source(metadata: EventMetadata): object | undefined {
  const { source_system: system, origin_id: value } = metadata;
  if (system === undefined && value === undefined) return undefined;
  const identifier = {
    ...(system === undefined ? {} : { system: encodeURI(system) }),
    ...(value === undefined ? {} : { value }),
  };
  return { role: 'source', what: { identifier, ...(system === undefined ? {} : { display: system }) } };
}
