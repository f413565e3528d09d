/** Tables of the read model `search`. */
import { isWidePeriod, isWideQuantity } from '#src/fhir/search/spans.ts';

/** Columns of `entry`, in the table's order. */
export const ENTRY = {
  id: 'uuid',
  version: 'int',
  record: 'uuid',
  keys: 'int8[]',
  targets: 'uuid[]',
  sorts: 'text[]',
  container: 'uuid',
} as const;

/** Columns of `string`. */
export const STRING = {
  id: 'uuid',
  key: 'int8',
  folded: 'text',
  rest: 'text',
  exact: 'text',
  about: 'int8',
  about_system: 'int8',
} as const;

/** Columns of `period`. */
export const PERIOD = {
  id: 'uuid',
  key: 'int8',
  low: 'int8',
  high: 'int8',
  about: 'int8',
  about_system: 'int8',
  about_record: 'int8',
} as const;

/** Columns of `quantity`. */
export const QUANTITY = {
  id: 'uuid',
  key: 'int8',
  low: 'numeric',
  high: 'numeric',
  system: 'text',
  code: 'text',
  unit: 'text',
  dimension: 'int8',
  canonical_low: 'numeric',
  canonical_high: 'numeric',
  about: 'int8',
  about_system: 'int8',
} as const;

/**
 * Returns the DDL: one row per resource with hashes of its tokens, references and URIs, and tables of values that have an
 * order. All keys contain tenant, type and parameter (`src/fhir/search/keys.ts`), so nothing from another project matches. A
 * deleted resource keeps its row, without values, so that no older version can reappear. A contained resource has its own row
 * with keys that only chained searches use.
 */
export const tables = (schema: string): string => `
create table ${schema}.entry (
  id uuid primary key,
  version int not null,
  record uuid,                   -- the patient whose record it is in; null in the directory
  keys int8[] not null,          -- hashes, each once
  targets uuid[] not null,       -- ids that its references name, but its record's
  sorts text[] collate "C",      -- what tokens and references are sorted by (src/fhir/search/sorts.ts)
  container uuid                 -- of a contained resource the one that contains it
  -- Room for a new version of one resource a page: if it has the same keys, no index is written.
) with (fillfactor = 90);
-- a whole record, by the key of the record, when it is erased; every token, reference and uri
create index entry_keys on ${schema}.entry using gin (keys) with (gin_pending_list_limit = 256);
-- the contained resources of one resource, when it changes
create index entry_in on ${schema}.entry (container) where container is not null;

-- how many entries have all of some keys, for searches that asked (tallies.ts): counted + changed
create table ${schema}.tally (
  keys int8[] primary key,
  tenant uuid not null,
  type text not null,
  counted int8,                  -- null until they are counted, less the changes until then
  changed int8 not null default 0
) with (fillfactor = 10);

create table ${schema}.string (
  id uuid not null,
  key int8 not null,             -- hash of tenant, type and parameter, as in period and quantity
  folded text collate "C" not null,   -- without case and accents: its beginning, which an index row can hold
  rest text collate "C",         -- what of a long one follows
  exact text collate "C",        -- as it stands; null for texts of \`:text\`
  about int8,                    -- hash of tenant, type, parameter and the code that the value is of, for composites
  about_system int8              -- hash of that code's system
);
-- the strings of one resource, when it changes or is a candidate
create index string_of on ${schema}.string (id, key);

create table ${schema}.period (
  id uuid not null,
  key int8 not null,
  low int8 not null,             -- microseconds since 1970, low <= moment < high
  high int8 not null,
  about int8,
  about_system int8,
  about_record int8              -- hash of about and the record
);
create index period_of on ${schema}.period (id, key);

create table ${schema}.quantity (
  id uuid not null,
  key int8 not null,
  low numeric not null,          -- both ends included; open ones are infinite
  high numeric not null,
  system text,
  code text,
  unit text,
  dimension int8,                -- hash of the dimension in UCUM's base units, and both ends in them
  canonical_low numeric,
  canonical_high numeric,
  about int8,
  about_system int8
);
create index quantity_of on ${schema}.quantity (id, key);
`;

/** Returns the DDL for indexes that only queries need, created after the rows are loaded. */
export const indexes = (schema: string): string => `
-- strings that begin with a text; with the id, as the next two, so that a page of a sorted search begins where one ended
create index if not exists string_by_value on ${schema}.string (key, folded, id);
-- periods in the order of time
create index if not exists period_by_low on ${schema}.period (key, low, id);
-- quantities in the order of numbers
create index if not exists quantity_by_low on ${schema}.quantity (key, low, id);
-- the same in canonical units
create index if not exists quantity_by_canonical on ${schema}.quantity (key, dimension, canonical_low)
  where dimension is not null;
-- values of a code, for composites and timelines
create index if not exists string_about on ${schema}.string (about, folded) where about is not null;
create index if not exists period_about on ${schema}.period (about, low, id) where about is not null;
-- the same in one record
create index if not exists period_in_record on ${schema}.period (about_record, low, id) where about_record is not null;
create index if not exists quantity_about on ${schema}.quantity (about, low, id) where about is not null;
create index if not exists quantity_about_canonical on ${schema}.quantity (about, dimension, canonical_low)
  where about is not null and dimension is not null;
-- ranges that are not bounded on both sides by where they begin: long periods, quantities that are no single number
create index if not exists period_wide on ${schema}.period (key, low, id, high) where ${isWidePeriod()};
create index if not exists period_about_wide on ${schema}.period (about, low, id, high)
  where about is not null and ${isWidePeriod()};
create index if not exists period_in_record_wide on ${schema}.period (about_record, low, id, high)
  where about_record is not null and ${isWidePeriod()};
create index if not exists quantity_wide on ${schema}.quantity (key, low, id, high) where ${isWideQuantity(undefined, '')};
create index if not exists quantity_wide_canonical on ${schema}.quantity (key, dimension, canonical_low, canonical_high)
  where dimension is not null and ${isWideQuantity(undefined, 'canonical_')};
create index if not exists quantity_about_wide on ${schema}.quantity (about, low, high)
  where about is not null and ${isWideQuantity(undefined, '')};
create index if not exists quantity_about_wide_canonical
  on ${schema}.quantity (about, dimension, canonical_low, canonical_high)
  where about is not null and dimension is not null and ${isWideQuantity(undefined, 'canonical_')};
`;
