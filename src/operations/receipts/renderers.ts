/** Archived renderers: the code that produced answers, by program version (docs/receipts.md). */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompressSync, constants } from 'node:zlib';
import type { Pool } from 'pg';

/** A migration. */
export const RENDERERS_SQL = `
CREATE TABLE operations.renderer (
  program text PRIMARY KEY,            -- a hash of the sources, which receipts name
  code bytea NOT NULL,                 -- JavaScript, by Brotli
  sha256 bytea NOT NULL,               -- of the code
  used_at timestamptz NOT NULL         -- an instance made receipts with it then, or up to an hour earlier
);
`;

/**
 * How long a renderer is kept after the last receipt that names it: two years, plus a week to allow for instances that died.
 */
const KEPT = '2 years 7 days';

/** Higher qualities take ten times as long. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Archived renderers, in PostgreSQL. */
export class Renderers {
  constructor(private readonly pool: Pool) {}

  /**
   * Records that a program makes receipts.
   * @returns false if the program isn't archived yet
   */
  async use(program: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      'update operations.renderer set used_at = now() where program = $1',
      [program],
    );
    return rowCount === 1;
  }

  /** Archives a program's code. */
  async keep(program: string, code: Buffer): Promise<void> {
    await this.pool.query(
      `insert into operations.renderer (program, code, sha256, used_at) values ($1, $2, $3, now())
       on conflict (program) do update set used_at = now()`,
      [program, await promisify(brotliCompress)(code, QUALITY), hash(code)],
    );
  }

  /** Returns a program's code; undefined if it isn't archived or was altered. */
  async find(program: string): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ code: Buffer; sha256: Buffer }>(
      'select code, sha256 from operations.renderer where program = $1',
      [program],
    );
    const [row] = rows;
    if (row === undefined) return undefined;
    const code = brotliDecompressSync(row.code);
    return hash(code).equals(row.sha256) ? code.toString() : undefined;
  }

  /** Deletes renderers that aren't named by any receipt from the last two years. */
  async sweep(): Promise<void> {
    await this.pool.query(`delete from operations.renderer where used_at < now() - interval '${KEPT}'`);
  }
}

function hash(code: Buffer): Buffer {
  return createHash('sha256').update(code).digest();
}
