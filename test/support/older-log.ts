/**
 * Reads the log of a service at commit 2a2c921 as it was written: events of every type that it knew, a record with a snapshot,
 * a purged record, documents. `older-log.json.gz` also contains that service's answers based on the log. Some of its resources
 * were valid according to that version's rules but would be refused now.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Pool } from 'pg';
import { LOG_SCHEMA_SQL } from '#src/events/postgres/schema.ts';

/** A row of `log.events`. */
export interface OlderEvent {
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

/** A log with its project's key, and the recorded answers. */
export interface OlderLog {
  readonly key: string;
  /** The service's FHIR base, without a trailing slash. */
  readonly base: string;
  /** Maps the subject of a resource to `Type/id`. */
  readonly ids: Readonly<Record<string, string>>;
  /** The Patient ids of a record with about 560 events, and of a purged record. */
  readonly patients: { readonly long: string; readonly purged: string };
  readonly events: readonly OlderEvent[];
  /** Rows of `operations.snapshot`, and rows of `operations.snapshot_entry` without their stream. */
  readonly snapshots: { readonly snapshot: readonly [object]; readonly snapshot_entry: readonly object[] };
  /** Maps a path in the document folder to the bytes in base64. */
  readonly documents: Readonly<Record<string, string>>;
  /** SHA-256 (hex) of the output of `annal record <patient> --at <at> --json`. */
  readonly records: readonly { readonly patient: string; readonly at: string; readonly sha256: string }[];
  /** The key with which the export and the checkpoint were signed. */
  readonly publicKey: string;
  /** A record's signed export. */
  readonly export: string;
  /** A signed checkpoint, compressed, in base64. */
  readonly checkpoint: string;
}

/** Returns the log written at that commit. */
export async function olderLog(): Promise<OlderLog> {
  const compressed = await readFile(new URL('./older-log.json.gz', import.meta.url));
  return JSON.parse(gunzipSync(compressed).toString('utf8')) as OlderLog;
}

/** Writes a log and its snapshots, byte for byte, to a database that has neither. */
export async function putLog(pool: Pool, { events, snapshots }: OlderLog): Promise<void> {
  await pool.query(LOG_SCHEMA_SQL);
  await pool.query(
    'insert into log.events select * from json_populate_recordset(null::log.events, $1) order by position',
    [JSON.stringify(events)],
  );
  await pool.query("select setval('log.positions', max(position)) from log.events");
  const head = 'stream, revision, hash, recorded_at, project, environment';
  await pool.query(
    `with head as (
       insert into operations.snapshot (${head})
       select ${head} from json_populate_recordset(null::operations.snapshot, $1) returning stream)
     insert into operations.snapshot_entry (stream, id, type, version, deleted, revision)
     select h.stream, e.id, e.type, e.version, e.deleted, e.revision
     from head h, json_populate_recordset(null::operations.snapshot_entry, $2) e`,
    [JSON.stringify(snapshots.snapshot), JSON.stringify(snapshots.snapshot_entry)],
  );
}

/** Writes a log's documents to a DATA_DIR. */
export async function putDocuments(dataDir: string, { documents }: OlderLog): Promise<void> {
  for (const [path, bytes] of Object.entries(documents)) {
    const file = join(dataDir, 'documents', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, Buffer.from(bytes, 'base64'));
  }
}
