/** The table of receipts, in schema `operations`, which no rebuild touches (docs/receipts.md). */

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
