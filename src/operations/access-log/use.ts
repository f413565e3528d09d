/**
 * Counts the uses of grants while the access log is written. There is one row per grant, day (UTC) and resource type, so that
 * pages never have to count a grant's entries.
 */

/**
 * Migration. The trigger runs in the statement that writes a batch. That statement locks the heads of all its records, so two
 * batches never count for the same record at once. The counting is done by a trigger because, during a rolling upgrade,
 * instances of an earlier version also write entries, which must be counted too. While the trigger is being created, no
 * entries can be written until the earlier entries have been counted.
 */
export const ACCESS_USE_SQL = `
CREATE TABLE operations.access_use (
  record uuid NOT NULL,
  grant_id text NOT NULL,
  day int4 NOT NULL,                   -- days since 1970, UTC
  resource_type text NOT NULL,         -- empty if the reads weren't of one type
  entries int8 NOT NULL,
  reads int8 NOT NULL,                 -- those that showed something
  last_at int8,                        -- of the last of these, microseconds since 1970
  PRIMARY KEY (record, grant_id, day, resource_type)
) WITH (fillfactor = 50);
CREATE FUNCTION operations.access_count() RETURNS trigger LANGUAGE plpgsql AS $count$ BEGIN
  INSERT INTO operations.access_use AS u (record, grant_id, day, resource_type, entries, reads, last_at)
  ${selectUse('added')}
  ON CONFLICT (record, grant_id, day, resource_type) DO UPDATE
    SET entries = u.entries + excluded.entries, reads = u.reads + excluded.reads,
        last_at = greatest(u.last_at, excluded.last_at);
  RETURN NULL;
END $count$;
CREATE TRIGGER access_counted AFTER INSERT ON operations.access_entry
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION operations.access_count();
INSERT INTO operations.access_use (record, grant_id, day, resource_type, entries, reads, last_at)
${selectUse('operations.access_entry')};
`;

/**
 * Returns SQL that counts a table's entries, as rows of `operations.access_use`.
 * @param entries the table, as SQL
 */
export function selectUse(entries: string): string {
  return `SELECT e.record, e.grant_id, (e.at / 86400000000)::int4 AS day, coalesce(e.resource_type, '') AS resource_type, count(*) AS entries,
         count(*) FILTER (WHERE e.status = 'ok') AS reads, max(e.at) FILTER (WHERE e.status = 'ok') AS last_at
    FROM ${entries} e WHERE e.grant_id IS NOT NULL GROUP BY 1, 2, 3, 4`;
}
