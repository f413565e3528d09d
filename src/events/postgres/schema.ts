/**
 * Defines the tables of the embedded log: one for events, and one for the names of erased streams. Order: every writer takes
 * an advisory lock before it draws positions and holds it until its transaction has ended. So positions become visible in
 * ascending order, and a reader that continues after a position can't miss an event. If a transaction is rolled back, the
 * positions that it drew stay unused; such gaps are harmless, because no reader waits for a particular number. Storage:
 * PostgreSQL 16 or later. Bodies up to 8 KB stay in the row uncompressed (`toast_tuple_target`, `EXTERNAL`), because
 * compressing them would cost more than the insert itself.
 */

/** The advisory lock that every writer of the log takes: the ASCII codes of "annal". */
const WRITE_LOCK = '418464555372';
/** The advisory lock that is held while the schema is installed. */
const INSTALL_LOCK = '418464555373';

/** The NOTIFY channel; the payload is the position of the newest event, or `erased`. */
export const CHANNEL = 'annal_log';

/** Idempotent SQL, to be sent as one simple query (one transaction). */
export const LOG_SCHEMA_SQL = `
SELECT pg_advisory_xact_lock(${INSTALL_LOCK});
CREATE SCHEMA IF NOT EXISTS log;
CREATE TABLE IF NOT EXISTS log.events (
  position int8 NOT NULL,
  stream text COLLATE "C" NOT NULL,
  revision int4 NOT NULL,
  id uuid NOT NULL,
  type text NOT NULL,
  data text STORAGE EXTERNAL NOT NULL,
  metadata text STORAGE EXTERNAL NOT NULL,
  CONSTRAINT events_position PRIMARY KEY (position),
  CONSTRAINT events_stream_revision UNIQUE (stream, revision)
) WITH (toast_tuple_target = 8160);
CREATE SEQUENCE IF NOT EXISTS log.positions OWNED BY log.events.position;
CREATE TABLE IF NOT EXISTS log.erased (
  stream text COLLATE "C" NOT NULL,
  CONSTRAINT erased_stream PRIMARY KEY (stream)
);

-- Writes a batch of appends to distinct streams; each is accepted or refused on its own. Being VOLATILE plpgsql,
-- each statement after the lock sees what was committed before the lock was granted (READ COMMITTED).
-- previous: the head of the log before; base: the event at index i (from 0) of the batch is at base + i;
-- refused: [index of the append, actual revision or null, erased] of every append that was not written.
CREATE OR REPLACE FUNCTION log.append_batch(
  streams text[], expected int4[], hashes text[],
  appends int4[], revisions int4[], ids uuid[], types text[], data text[], metadata text[],
  OUT previous int8, OUT base int8, OUT refused json
) LANGUAGE plpgsql VOLATILE AS $body$
DECLARE
  accepted boolean[];
BEGIN
  PERFORM pg_advisory_xact_lock(${WRITE_LOCK});
  SELECT coalesce(max(e.position), 0) INTO previous FROM log.events e;

  SELECT array_agg(checked.fits ORDER BY checked.n),
         json_agg(json_build_array(checked.n - 1, checked.revision, checked.erased)) FILTER (WHERE NOT checked.fits)
    INTO accepted, refused
    FROM (
      SELECT append.n, head.revision, tombstone.erased IS NOT NULL AS erased,
             tombstone.erased IS NULL
               AND coalesce(head.revision, -1) = append.revision
               AND (head.revision IS NULL OR head.ending = convert_to(append.hash || '"}', 'UTF8')) AS fits
        FROM unnest(streams, expected, hashes) WITH ORDINALITY AS append(stream, revision, hash, n)
        LEFT JOIN LATERAL (
          -- events_stream_revision, backwards; right() would count characters from the start
          SELECT e.revision, substring(convert_to(e.metadata, 'UTF8') FROM octet_length(e.metadata) - 65) AS ending
            FROM log.events e
           WHERE e.stream = append.stream ORDER BY e.revision DESC LIMIT 1
        ) head ON true
        LEFT JOIN LATERAL (
          SELECT true AS erased FROM log.erased t
           WHERE head.revision IS NULL AND t.stream = append.stream LIMIT 1
        ) tombstone ON true
    ) checked;

  IF true = ANY (accepted) THEN
    -- Under the lock nobody else draws: without nextval, PostgreSQL's own log has one record of it instead of two.
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END + 1 INTO base FROM log.positions;
    PERFORM setval('log.positions', base + cardinality(ids) - 1);
    INSERT INTO log.events (position, stream, revision, id, type, data, metadata)
    SELECT base + event.n - 1, streams[event.append], event.revision, event.id, event.type, event.data, event.metadata
      FROM unnest(appends, revisions, ids, types, data, metadata)
           WITH ORDINALITY AS event(append, revision, id, type, data, metadata, n)
     WHERE accepted[event.append];
    PERFORM pg_notify('${CHANNEL}', (base + cardinality(ids) - 1)::text);
  END IF;
END
$body$;

-- Removes a stream's events and leaves its name behind, so that nobody can begin it anew.
CREATE OR REPLACE FUNCTION log.erase_stream(name text) RETURNS void LANGUAGE plpgsql VOLATILE AS $body$
BEGIN
  PERFORM pg_advisory_xact_lock(${WRITE_LOCK});
  INSERT INTO log.erased (stream) VALUES (name) ON CONFLICT DO NOTHING;
  DELETE FROM log.events WHERE stream = name;
  PERFORM pg_notify('${CHANNEL}', 'erased');
END
$body$;
`;
