/**
 * Reads the context manifests that were stored by versions of Annal without receipts. New manifests aren't written: a
 * context's receipt contains everything (`src/operations/receipts/`).
 */
import type { Pool } from 'pg';

/** Migration that creates the table, in schema `operations`. */
export const CONTEXT_MANIFESTS_SQL = `
CREATE TABLE operations.context_manifest (
  id text PRIMARY KEY,                 -- of the project and environment, and of the manifest
  tenant uuid NOT NULL,
  record uuid NOT NULL,                -- a purge deletes the row
  made_at timestamptz NOT NULL DEFAULT now(),
  manifest text NOT NULL               -- JSON: moment, day, request, and what was looked up beside the record
);
CREATE INDEX context_manifest_of_record ON operations.context_manifest (record);
`;

/** A manifest and its owner. */
export interface KeptManifest {
  readonly id: string;
  readonly tenantId: string;
  /** The patient. */
  readonly record: string;
  /** JSON. */
  readonly manifest: string;
}

/** Manifests, in PostgreSQL. */
export class ContextManifests {
  constructor(private readonly pool: Pool) {}

  /** Returns a manifest by its id; undefined if there is none. */
  async find(id: string): Promise<KeptManifest | undefined> {
    const { rows } = await this.pool.query<{ tenant: string; record: string; manifest: string }>({
      name: 'context-manifest',
      text: 'select tenant, record, manifest from operations.context_manifest where id = $1',
      values: [id],
    });
    const [row] = rows;
    return row === undefined
      ? undefined
      : { id, tenantId: row.tenant, record: row.record, manifest: row.manifest };
  }

  /** Deletes a patient's manifests. */
  async forget(patientId: string): Promise<void> {
    await this.pool.query('delete from operations.context_manifest where record = $1', [patientId]);
  }
}
