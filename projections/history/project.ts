/**
 * The read model `history`: one row per version of a resource. Provenances are built from these rows when they are read; they
 * can be searched by the keys of an event's agents or of a client's own Provenance.
 */
import type { ClientBase, QueryConfig } from 'pg';
import { searchable } from '#projections/history/searchable.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import { toMicros } from '#src/shared/time/time.ts';
import {
  erasedIn,
  isResourceEvent,
  readOwner,
  readSight,
  type SightColumns,
  type StoredResourceEvent,
  sightOfDeletion,
} from '../owner.ts';
import type { Projection } from '../projection.ts';
import { copyRows, parameters, type Row, recordset, runAll } from '../rows.ts';
import { CLIENT_PROVENANCE, indexes, tables, VERSION } from './schema.ts';

const OPERATION = {
  ResourceCreated: 'CREATE',
  ResourceUpdated: 'UPDATE',
  ResourceDeleted: 'DELETE',
} as const;

const version = recordset(VERSION);
const provenance = recordset(CLIENT_PROVENANCE);

/**
 * Versions never change, so an existing row is identical. `on conflict` would write a second record for each row to
 * PostgreSQL's log.
 */
const unlessKnown = (schema: string) => `
left join lateral (
  select true as known from ${schema}.version k where k.id = x.id and k.version = x.version offset 0) k on true
where k.known is null`;

const insertVersions = (schema: string) => `
insert into ${schema}.version (${version.names}) select ${version.values} from ${version.from} ${unlessKnown(schema)}`;

/** Inserts deletions whose previous version was in an earlier batch; the callers who see that version see the deletion too. */
const insertDeletions = (schema: string) => `
insert into ${schema}.version (${version.names})
select ${version.values.replace(/\b(categories|targets)\b/g, 'b.$1')} from ${version.from}
left join lateral (
  select p.categories, p.targets from ${schema}.version p where p.id = x.id and p.version = x.version - 1 offset 0) b on true
${unlessKnown(schema)}`;

/** Upserts the current versions of clients' own Provenances. */
const upsertProvenances = (schema: string) => `
insert into ${schema}.client_provenance as p (${provenance.names}) select ${provenance.values} from ${provenance.from}
on conflict (id) do update set
  version = excluded.version, last_updated = excluded.last_updated, recorded = excluded.recorded,
  targets = excluded.targets, agents = excluded.agents, deleted = excluded.deleted
where excluded.version > p.version`;

function statements(schema: string, events: readonly StoredEvent[]): QueryConfig[] {
  const changes = events.filter(isResourceEvent);
  const { whole, deletions } = versionRows(changes);
  const versions = {
    name: `${schema}.version`,
    text: insertVersions(schema),
    values: parameters(VERSION, whole),
  };
  return [
    ...(whole.length > 0 ? [versions] : []),
    ...deleted(schema, deletions),
    ...provenances(schema, changes),
    ...erase(schema, events),
  ];
}

async function load(tx: ClientBase, schema: string, events: readonly StoredEvent[]): Promise<void> {
  const changes = events.filter(isResourceEvent);
  const { whole, deletions } = versionRows(changes);
  await copyRows(tx, `${schema}.version`, VERSION, whole);
  await runAll(tx, [
    ...deleted(schema, deletions),
    ...provenances(schema, changes),
    ...erase(schema, events),
  ]);
}

function deleted(schema: string, rows: readonly Row<typeof VERSION>[]): QueryConfig[] {
  if (rows.length === 0) return [];
  return [{ name: `${schema}.deletion`, text: insertDeletions(schema), values: parameters(VERSION, rows) }];
}

interface VersionRows {
  readonly whole: Row<typeof VERSION>[];
  /**
   * Deletions whose previous version isn't in the batch, of types for which the previous version determines who sees the
   * deletion.
   */
  readonly deletions: Row<typeof VERSION>[];
}

function versionRows(changes: readonly StoredResourceEvent[]): VersionRows {
  const last = new Map<string, SightColumns>();
  const rows: VersionRows = { whole: [], deletions: [] };
  for (const stored of changes) {
    const { event } = stored;
    const sight = readSight(event) ?? last.get(event.resourceId) ?? sightOfDeletion(event.resourceType);
    if (sight !== undefined) last.set(event.resourceId, sight);
    const into = sight === undefined ? rows.deletions : rows.whole;
    into.push(versionRow(stored, sight ?? { categories: null, targets: null }));
  }
  return rows;
}

function versionRow(stored: StoredResourceEvent, sight: SightColumns): Row<typeof VERSION> {
  const { event, metadata } = stored;
  return {
    id: event.resourceId,
    version: event.version,
    type: event.resourceType,
    ...readOwner(stored),
    recorded_at: toMicros(metadata.recorded_at),
    event_id: stored.id,
    operation: OPERATION[event.type],
    agents: listAgents(metadata),
    ...sight,
    // JSON omits undefined members, and copying the whole object is faster than copying part of it.
    metadata: JSON.stringify({ ...metadata, append: undefined, hash: undefined }),
    body: event.type === 'ResourceDeleted' ? null : event.body,
  };
}

function provenances(schema: string, changes: readonly StoredResourceEvent[]): QueryConfig[] {
  const rows = provenanceRows(changes);
  if (rows.length === 0) return [];
  const [values] = parameters(CLIENT_PROVENANCE, rows);
  return [{ name: `${schema}.provenance`, text: upsertProvenances(schema), values: [values] }];
}

/** Returns clients' own Provenances in the batch, each in its latest state. Searches never find a deleted one. */
function provenanceRows(changes: readonly StoredResourceEvent[]): Row<typeof CLIENT_PROVENANCE>[] {
  const last = new Map<string, Row<typeof CLIENT_PROVENANCE> & { readonly version: number }>();
  for (const stored of changes) {
    const { event } = stored;
    if (event.resourceType !== 'Provenance') continue;
    const before = last.get(event.resourceId);
    if (before !== undefined && before.version >= event.version) continue;
    const deleted = event.type === 'ResourceDeleted';
    const lastUpdated = toMicros(stored.metadata.recorded_at);
    const said = deleted ? undefined : clientProvenance(event.body);
    last.set(event.resourceId, {
      id: event.resourceId,
      version: event.version,
      ...readOwner(stored),
      recorded: said === undefined ? lastUpdated : toMicros(said.recorded),
      last_updated: lastUpdated,
      targets: said?.targets ?? [],
      agents: said?.agents ?? [],
      deleted,
    });
  }
  return [...last.values()];
}

/** Removes any rows of the given records (indexes version_of_record, client_provenance_of_record). */
function erase(schema: string, events: readonly StoredEvent[]): QueryConfig[] {
  const patients = erasedIn(events);
  if (patients.length === 0) return [];
  const text = `with gone as (delete from ${schema}.version where record = any($1::uuid[]))
    delete from ${schema}.client_provenance where record = any($1::uuid[])`;
  return [{ text, values: [patients] }];
}

/** Serves vread, history and Provenance. */
export const history: Projection = {
  name: 'history',
  version: 4,
  transaction: 'versions',
  prefixes: ['record-', 'directory-', 'project-'],
  tables,
  indexes,
  compared: ['version', 'client_provenance'],
  statements,
  load,
};

/**
 * Returns the references in `author` and `acting_as` (R4: Provenance.agent.who), each once; null if the event names neither.
 */
function listAgents(metadata: EventMetadata): string[] | null {
  const { author, acting_as } = metadata;
  if (author?.reference === undefined && acting_as === undefined) return null;
  return each([author?.reference, acting_as]);
}

/** The search keys for a client's own Provenance: `recorded` as a FHIR instant, and its references. */
interface ClientProvenance {
  readonly recorded: string;
  readonly targets: string[];
  readonly agents: string[];
}

interface Reference {
  readonly reference?: string;
}

/** Reads a Provenance body (valid R4). A target that names a version can also be found by its resource. */
function clientProvenance(body: string): ClientProvenance {
  const { recorded, target, agent } = JSON.parse(body) as {
    recorded: string;
    target: readonly Reference[];
    agent: readonly { readonly who?: Reference }[];
  };
  return {
    recorded,
    targets: each(
      target.flatMap(({ reference }) => [reference, reference?.replace(/\/_history\/[^/]*$/, '')]),
    ),
    agents: each(agent.map(({ who }) => who?.reference)),
  };
}

function each(references: readonly (string | undefined)[]): string[] {
  return [...new Set(references.filter((reference) => reference !== undefined).map(searchable))];
}
