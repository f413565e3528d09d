/** The tables of the access log, in schema `operations`, which rebuilds don't touch. */

/**
 * Migration. Each record has a head: the number of its entries and the last entry's hash. Writers lock the head's row, and a
 * purge leaves the row in place so that nothing is written afterwards.
 */
export const ACCESS_LOG_SQL = `
CREATE TABLE operations.access_head (
  record uuid PRIMARY KEY,
  entries int8 NOT NULL DEFAULT 0,
  hash bytea NOT NULL DEFAULT '\\x${'00'.repeat(32)}',
  at int8 NOT NULL DEFAULT 0,          -- of the last entry, microseconds since 1970
  erased boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50);
CREATE TABLE operations.access_entry (
  record uuid NOT NULL,
  seq int8 NOT NULL,                   -- 1, 2, … of the record
  id uuid NOT NULL,
  at int8 NOT NULL,                    -- the database's clock, never before the entry before; microseconds since 1970
  action text NOT NULL,
  actor_kind text NOT NULL,            -- application, key or person
  actor_id text NOT NULL,              -- of a person: the subject
  issuer text,
  role text,
  grant_id text,
  resource_type text,
  resource_id text,
  purpose text,
  status text NOT NULL,
  count int4,
  request_id text NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (record, seq)
);
CREATE INDEX access_entry_of_actor ON operations.access_entry (actor_id, at);
CREATE INDEX access_entry_at ON operations.access_entry USING brin (at);
CREATE INDEX access_entry_refused ON operations.access_entry (id) WHERE status <> 'ok';
CREATE FUNCTION operations.access_link(state bytea, head bytea, entry bytea) RETURNS bytea
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN sha256(coalesce(state, head) || entry); END';
CREATE AGGREGATE operations.access_chain(bytea, bytea) (sfunc = operations.access_link, stype = bytea);
`;

/**
 * Migration that adds the columns that people see in their records' logs. The index makes it possible to count a grant's reads
 * without reading the entries. The function returns the number of a record's first entry at or after a time in microseconds;
 * if there is none, the number that the record's next entry will get. Times within a record never decrease, so the function
 * uses binary search.
 */
export const ACCESS_OF_GRANTS_SQL = `
CREATE INDEX access_entry_of_grant ON operations.access_entry (grant_id, seq) INCLUDE (at, status, resource_type)
  WHERE grant_id IS NOT NULL;
CREATE FUNCTION operations.access_seq_from(named uuid, moment int8) RETURNS int8 LANGUAGE plpgsql STABLE AS '
DECLARE
  low int8 := 1;
  high int8 := 1;
  middle int8;
  found int8;
BEGIN
  SELECT h.entries + 1 INTO high FROM operations.access_head h WHERE h.record = named;
  WHILE low < high LOOP
    middle := (low + high) / 2;
    SELECT e.at INTO found FROM operations.access_entry e WHERE e.record = named AND e.seq = middle;
    IF found IS NULL OR found < moment THEN low := middle + 1; ELSE high := middle; END IF;
  END LOOP;
  RETURN low;
END';
`;
/** Migration that adds the names that people give when they open shared links. */
export const ACCESS_LOG_NAMES_SQL = `
ALTER TABLE operations.access_entry ADD COLUMN actor_name text;  -- of a link's recipient; null for others`;
