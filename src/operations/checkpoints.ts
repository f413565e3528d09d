/**
 * Checkpoints that the service keeps for its auditors (docs/audit.md, "Checkpoints"). The file's lines are compressed in
 * parts, so that the line for one stream can be found without reading the whole file. The parts, one after another, form the
 * gzipped file.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Pool, PoolClient } from 'pg';
import type { CheckpointFacts, CoveringCheckpoint, KeptCheckpoint } from '#src/shared/checkpoint.ts';
import { newId } from '#src/shared/ids.ts';
import { type Micros, toInstant, toMicros } from '#src/shared/time/time.ts';

/** The DDL of a separate migration. */
export const CHECKPOINTS_SQL = `
CREATE TABLE operations.checkpoint (
  id text PRIMARY KEY,
  made_at int8 NOT NULL,               -- microseconds since 1970, as the next ones of its statement
  position text NOT NULL,
  events int8 NOT NULL,
  streams int8 NOT NULL,
  access_logs int8 NOT NULL,
  root text NOT NULL,
  public_key text NOT NULL,
  bytes int8 NOT NULL                  -- of the compressed file
);
CREATE INDEX checkpoint_made ON operations.checkpoint (made_at, id);
CREATE TABLE operations.checkpoint_part (
  checkpoint text NOT NULL,
  part int4 NOT NULL,
  first text COLLATE "C" NOT NULL,     -- the first stream of the part; empty if it has none
  content bytea NOT NULL,              -- lines, a gzip member
  PRIMARY KEY (checkpoint, part)
);
ALTER TABLE operations.checkpoint_part ALTER content SET STORAGE EXTERNAL;
CREATE INDEX checkpoint_part_of_stream ON operations.checkpoint_part (checkpoint, first);`;

/** A row of the table. */
export interface CheckpointRow extends Omit<KeptCheckpoint, 'time'> {
  readonly made_at: Micros;
}

/** Returns the checkpoint that a row describes. */
export function readRow({ made_at, ...kept }: CheckpointRow): KeptCheckpoint {
  return { ...kept, time: toInstant(made_at) };
}

/** The columns of a checkpoint. */
export const CHECKPOINT_COLUMNS = `id, made_at::float8 as made_at, position, events::float8 as events, streams::float8 as streams,
  access_logs::float8 as access_logs, root, public_key, bytes::float8 as bytes`;

/** Lines of a part. */
const LINES = 4_000;

const compress = promisify(gzip);
const expand = promisify(gunzip);

/**
 * Stores a checkpoint.
 * @param lines the file's lines, each with its line break; the signed statement comes last
 * @param readFacts returns the facts in the statement, once all lines have been read
 * @returns the checkpoint's id
 */
export async function keepCheckpoint(
  client: PoolClient,
  lines: AsyncIterable<string>,
  publicKey: string,
  readFacts: () => CheckpointFacts,
): Promise<string> {
  const id = newId('chk_');
  let part = 0;
  let bytes = 0;
  let some: string[] = [];
  const add = async (): Promise<void> => {
    if (some.length === 0) return;
    const content = await compress(some.join(''));
    bytes += content.length;
    await client.query(
      'insert into operations.checkpoint_part (checkpoint, part, first, content) values ($1, $2, $3, $4)',
      [id, part, streamIn(some[0] ?? ''), content],
    );
    part += 1;
    some = [];
  };
  await client.query('begin');
  try {
    for await (const line of lines) {
      some.push(line);
      if (some.length === LINES) await add();
    }
    await add();
    const { time, position, events, streams, access_logs, root } = readFacts();
    await client.query(
      `insert into operations.checkpoint (id, made_at, position, events, streams, access_logs, root, public_key, bytes)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [id, toMicros(time), position, events, streams, access_logs, root, publicKey, bytes],
    );
    await client.query('commit');
    return id;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

function streamIn(line: string): string {
  const [, name] = /^\{"stream":("(?:[^"\\]|\\.)+"),/.exec(line) ?? [];
  return name === undefined ? '' : String(JSON.parse(name));
}

/** Reads stored checkpoints. */
export class Checkpoints {
  constructor(private readonly pool: Pool) {}

  async find(id: string): Promise<KeptCheckpoint | undefined> {
    const { rows } = await this.pool.query<CheckpointRow>(
      `select ${CHECKPOINT_COLUMNS} from operations.checkpoint c where c.id = $1`,
      [id],
    );
    return rows[0] && readRow(rows[0]);
  }

  /** Yields the compressed file, in parts. */
  async *file(id: string): AsyncGenerator<Buffer> {
    for (let part = 0; ; part += 1) {
      const { rows } = await this.pool.query<{ content: Buffer }>(
        'select content from operations.checkpoint_part where checkpoint = $1 and part = $2',
        [id, part],
      );
      const [row] = rows;
      if (row === undefined) return;
      yield row.content;
    }
  }

  /**
   * Returns a stream's head in the newest checkpoint, provided that the checkpoint covers the given revision.
   * @param stream a stream of events, or `access-` followed by a patient
   */
  async coveredBy(stream: string, revision: number): Promise<CoveringCheckpoint | undefined> {
    const { rows: all } = await this.pool.query<CheckpointRow>(
      `select ${CHECKPOINT_COLUMNS} from operations.checkpoint c order by c.made_at desc, c.id desc limit 1`,
    );
    const [newest] = all;
    if (newest === undefined) return undefined;
    // Index: checkpoint_part_of_stream.
    const { rows } = await this.pool.query<{ content: Buffer }>(
      `select content from operations.checkpoint_part where checkpoint = $1 and first <= $2 order by first desc limit 1`,
      [newest.id, stream],
    );
    const [row] = rows;
    if (row === undefined) return undefined;
    const text = (await expand(row.content)).toString();
    const at = text.indexOf(`{"stream":${JSON.stringify(stream)},`);
    if (at < 0) return undefined;
    const head = JSON.parse(text.slice(at, text.indexOf('\n', at))) as { revision: number; hash: string };
    if (head.revision < revision) return undefined;
    const { id, made_at, root } = newest;
    return { id, time: toInstant(made_at), root, revision: head.revision, hash: head.hash };
  }
}
