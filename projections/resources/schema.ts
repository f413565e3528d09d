/** Tables of the read model `resources`: the current version of every resource, including deleted ones. */
import { SIGHT } from '../owner.ts';

/** Columns of `resource`, in the table's order. */
export const RESOURCE = {
  id: 'uuid',
  type: 'text',
  tenant: 'uuid',
  record: 'uuid',
  version: 'int',
  created_at: 'int8',
  last_updated: 'int8',
  deleted: 'boolean',
  stream: 'text',
  ...SIGHT,
  body: 'long',
} as const;

/**
 * Bodies are stored unchanged and uncompressed, inside the row up to 8 KB: compressing 2 to 8 KB on every write costs more
 * time than the saved space is worth. No fillfactor is set: every update changes `last_updated`, which is indexed, so no
 * update is HOT.
 */
export const tables = (schema: string): string => `
create table ${schema}.resource (
  id uuid primary key,
  type text not null,
  tenant uuid not null,
  record uuid,                   -- the patient whose record it is in; null in the directory
  version int not null,
  created_at int8 not null,      -- microseconds since 1970, as last_updated
  last_updated int8 not null,
  deleted boolean not null,
  stream text not null,
  categories int8[],             -- hashes of its category codes; null for types without them; deleted: those of the version before
  targets text[],                -- of a Provenance: ids, and id/version where one is named; as categories when deleted
  body text                      -- exact FHIR JSON text; null when deleted
) with (toast_tuple_target = 8160);
alter table ${schema}.resource alter body set storage external;
-- search in one patient's record, in the order of ids; the whole record, deleted ones too, when it is erased
create index resource_of_record on ${schema}.resource (record, type, id) where record is not null;
`;

/** Returns the DDL for indexes that only queries need, created after the rows are loaded. */
export const indexes = (schema: string): string => `
-- search of a tenant in the order of ids, the default; _id
create index if not exists resource_by_id on ${schema}.resource (tenant, type, id) where not deleted;
-- _sort=_lastUpdated, _lastUpdated
create index if not exists resource_of_tenant on ${schema}.resource (tenant, type, last_updated desc, id) where not deleted;
`;
