/** The table of receipts, in schema `operations`, which rebuilds don't touch (docs/receipts.md). */

/** A migration. */
export const RECEIPTS_SQL = `
CREATE TABLE operations.receipt (
  id text PRIMARY KEY,                 -- with a hash of the other columns
  made_at int8 NOT NULL,               -- microseconds since 1970
  kind text NOT NULL,
  reader text NOT NULL,                -- the grant, key or link
  record uuid NOT NULL,                -- a purge deletes the row
  position int8,                       -- time of the record's last change, microseconds since 1970
  name text,                           -- of a context
  parameters bytea NOT NULL,           -- JSON, deflated
  versions bytea NOT NULL,
  inputs bytea NOT NULL,               -- JSON, deflated
  renderer text NOT NULL,
  sha256 bytea NOT NULL                -- of the answer
);
CREATE INDEX receipt_of_record ON operations.receipt (record, made_at);
CREATE INDEX receipt_by_name ON operations.receipt (name) WHERE name IS NOT NULL;
ALTER TABLE operations.access_entry ADD COLUMN receipt text;  -- null: the answer has none
`;

/**
 * Migration: packed and deflated columns don't get smaller with PostgreSQL's compression, which took half of the time to write
 * a row.
 */
export const RECEIPTS_UNCOMPRESSED_SQL = `
ALTER TABLE operations.receipt
  ALTER COLUMN parameters SET STORAGE EXTERNAL,
  ALTER COLUMN versions SET STORAGE EXTERNAL,
  ALTER COLUMN inputs SET STORAGE EXTERNAL;
`;

/** Migration that adds the receipt for a shared link's stored content. */
export const LINK_RECEIPTS_SQL = `
ALTER TABLE operations.shared_link ADD COLUMN receipt text;  -- null: made before receipts, or whenever it is opened
`;
