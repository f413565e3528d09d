/** Tables of the read model `history`: every version of every resource; Provenances are built from them when they are read. */
import { SIGHT } from '../owner.ts';

/** Columns of `version`, in the table's order. */
export const VERSION = {
  id: 'uuid',
  version: 'int',
  type: 'text',
  tenant: 'uuid',
  record: 'uuid',
  recorded_at: 'int8',
  event_id: 'uuid',
  operation: 'text',
  agents: 'text[]',
  ...SIGHT,
  metadata: 'long',
  body: 'long',
} as const;

/** Columns of `client_provenance`. */
export const CLIENT_PROVENANCE = {
  id: 'uuid',
  version: 'int',
  tenant: 'uuid',
  record: 'uuid',
  recorded: 'int8',
  last_updated: 'int8',
  targets: 'text[]',
  agents: 'text[]',
  deleted: 'boolean',
} as const;

/** Bodies are stored uncompressed, and inside the row up to 8 KB, as in `resources`. */
export const tables = (schema: string): string => `
create table ${schema}.version (
  id uuid not null,
  version int not null,
  type text not null,
  tenant uuid not null,
  record uuid,                   -- the patient whose record it is in; null in the directory
  recorded_at int8 not null,     -- microseconds since 1970
  event_id uuid not null,        -- also the id of its Provenance
  operation text not null,       -- CREATE, UPDATE, DELETE
  agents text[],                 -- references of author, acting-as and on-behalf-of; null when there is none
  categories int8[],             -- hashes of its category codes; null for types without them; deleted: those of the version before
  targets text[],                -- of a client's Provenance: ids, and id/version where one is named; as categories when deleted
  metadata text not null,        -- JSON of the event's metadata without append and hash
  body text,                     -- exact FHIR JSON text; null for a deletion
  primary key (id, version)      -- vread; history of one resource; Provenance?target
) with (toast_tuple_target = 8160);
alter table ${schema}.version alter body set storage external, alter metadata set storage external;
-- Patient/<id>/Provenance; a record as of a moment; the whole record when it is erased
create index version_of_record on ${schema}.version (record, recorded_at, event_id) where record is not null;

create table ${schema}.client_provenance (
  id uuid primary key,           -- a client's own Provenance, its current version
  version int not null,
  tenant uuid not null,
  record uuid,
  recorded int8 not null,        -- Provenance.recorded, microseconds
  last_updated int8 not null,
  targets text[] not null,       -- 'Type/id', and 'Type/id/_history/n' where it names a version
  agents text[] not null,        -- agent.who and agent.onBehalfOf references
  deleted boolean not null
);
-- Patient/<id>/Provenance; the whole record when it is erased
create index client_provenance_of_record on ${schema}.client_provenance (record, recorded, id);
`;

/** Returns the DDL for indexes that only queries need, created after the rows are loaded. */
export const indexes = (schema: string): string => `
-- Provenance by id. Not unique: what a writer gets wrong about an id must not stop the projection
create index if not exists version_event on ${schema}.version (event_id);
-- history of a type (of a system: one probe a type); Provenance?recorded
create index if not exists version_of_tenant on ${schema}.version (tenant, type, recorded_at, event_id);
-- Provenance?agent. Written directly (no pending list): smaller, as fast to write, and no read pays for a long list;
-- a table of agents in order would take a hundred times the room and halve the rate of writing
create index if not exists version_agents on ${schema}.version using gin (agents) with (fastupdate = off) where agents is not null;

-- Provenance?target, ?agent among clients' own
create index if not exists client_provenance_targets on ${schema}.client_provenance using gin (targets) with (fastupdate = off) where not deleted;
create index if not exists client_provenance_agents on ${schema}.client_provenance using gin (agents) with (fastupdate = off) where not deleted;
-- Provenance?recorded among clients' own
create index if not exists client_provenance_of_tenant on ${schema}.client_provenance (tenant, recorded, id) where not deleted;
`;
