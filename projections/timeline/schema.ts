/** Tables of the read model `timeline`: REST v1's lists, sorted by time, and the entries' text. */

/** Columns of `entry`, in the table's order. */
export const ENTRY = {
  id: 'uuid',
  version: 'int',
  tenant: 'uuid',
  record: 'uuid',
  type: 'text',
  since: 'int8',
  at: 'int8',
  day: 'int',
  last_day: 'int',
  lists: 'int8[]',
  vague_lists: 'int8[]',
  categories: 'int8[]',
  date: 'text',
  date_means: 'text',
  title: 'text',
  title_system: 'text',
  summary: 'text',
  summary_codes: 'text',
  fields: 'text',
  refers: 'uuid',
  refers_version: 'int',
  author_type: 'text',
  source_system: 'text',
  origin_id: 'text',
} as const;

/** Columns of `place`. */
export const PLACE = {
  record: 'uuid',
  list: 'int8',
  at: 'int8',
  id: 'uuid',
  version: 'int',
  day: 'int',
  since: 'int8',
  until: 'int8',
} as const;

/** Columns of `tally`. */
export const TALLY = { record: 'uuid', list: 'int8', stretch: 'int', count: 'int' } as const;

/**
 * Returns the DDL. Places have a period of validity: all pages of a list show it as of the same time, so a changed date can't
 * move an entry past a reader. A version has its own places if it differs from the previous version in its lists, in its
 * positions in those lists, or in who may see it. Totals are kept per time bucket (`bucketNumber`), so that counting a list
 * reads only a few hundred rows, however long the list is.
 */
export const tables = (schema: string): string => `
create table ${schema}.entry (
  id uuid not null,
  version int not null,
  tenant uuid not null,
  record uuid not null,          -- the patient whose record it is in
  type text not null,
  since int8 not null,           -- when the version was recorded: microseconds since 1970, as at
  at int8 not null,              -- when what it tells of happened; before all else without a date
  day int not null,              -- the first day that its date is written for: days since 1970
  last_day int not null,         -- the last one: of a month or a year
  lists int8[] not null,         -- hashes of the lists it is in; of the one that nobody reads when it is not shown
  vague_lists int8[],            -- hashes of their parts for dates by month or year; null for other dates
  categories int8[],             -- hashes of its category codes; null for types without them, and when deleted
  date text,                     -- as the resource writes it; null when it says none
  date_means text,               -- what the date means (src/clinical/reading/dates.ts); null with it
  title text,                    -- null when it is not shown: deleted or entered in error
  title_system text,             -- the code system of a title that is a code; null where it is words
  summary text,
  summary_codes text,            -- codes in it without words: JSON, an array of [offset in UTF-16, system, code]; null for none
  fields text,                   -- what lists show of it: members of JSON; null for what only the timeline shows
  refers uuid,                   -- the Medication that names it, where it does not name itself
  refers_version int,            -- which version of that; null: as it stands
  author_type text,              -- who wrote this version
  source_system text,
  origin_id text,
  primary key (id, version)
);

create table ${schema}.place (
  record uuid not null,
  list int8 not null,
  at int8 not null,
  id uuid not null,
  version int not null,          -- the first version here; those after it are, too, until the place ends
  day int not null,              -- its first day; the last one in the part of a list for dates by month or year
  since int8 not null,           -- when its first version was recorded
  until int8,                    -- when a version elsewhere was recorded; null: the current version is here
  -- a page of a list; a whole record, when it is erased
  primary key (record, list, at, id, version) include (day, since, until)
);

create table ${schema}.tally (
  record uuid not null,
  list int8 not null,
  stretch int not null,
  count int not null,            -- current places
  primary key (record, list, stretch)
);
`;
