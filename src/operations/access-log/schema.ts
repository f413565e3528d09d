/** The tables of the access log, in schema `operations`, which no rebuild touches. */

/**
 * A migration. Each record has a head: the number of its entries and the hash of the last. Its row is what writers lock,
 * and what a purge leaves behind, so that nothing is written afterwards.
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
