/** Reads receipts. They are written and deleted together with the access log (`src/operations/access-log/`). */
import type { Pool } from 'pg';
import { nameReceipt, type ReceiptRow } from './row.ts';

const COLUMNS =
  'id, made_at, kind, reader, record, position, name, parameters, versions, inputs, renderer, sha256';

/** Receipts, in PostgreSQL. */
export class Receipts {
  constructor(private readonly pool: Pool) {}

  /**
   * Returns a receipt by its id; undefined if there is none.
   * @param record if set, only a receipt for this record is returned
   */
  async find(id: string, record?: string): Promise<ReceiptRow | undefined> {
    const { rows } = await this.pool.query<ReceiptRow>(
      `select ${COLUMNS} from operations.receipt where id = $1 and ($2::uuid is null or record = $2)`,
      [id, record ?? null],
    );
    return rows[0];
  }

  /** Returns a context's first receipt by its `manifest_id`; undefined if there is none. */
  async findNamed(name: string): Promise<ReceiptRow | undefined> {
    const { rows } = await this.pool.query<ReceiptRow>(
      `select ${COLUMNS} from operations.receipt where name = $1 order by made_at limit 1`,
      [name],
    );
    return rows[0];
  }
}

/** Returns whether a row is unchanged since it was written: its id is a hash of the other columns. */
export function isUnaltered({ id, ...rest }: ReceiptRow): boolean {
  return id === nameReceipt(rest);
}
