/**
 * Stores the manifests of contexts. They aren't events, because nothing changes, but are kept as long as the record.
 */
import type { Pool } from 'pg';

/** A migration: the table, in schema `operations`. */
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

/** Keeps them. */
export class ContextManifests {
  constructor(private readonly pool: Pool) {}

  /**
   * Stores a manifest, unless it is stored already.
   * @returns false if the patient was purged meanwhile, also for requests that read the record earlier
   */
  async keep({ id, tenantId, record, manifest }: KeptManifest): Promise<boolean> {
    const { rowCount: known } = await this.pool.query({
      name: 'context-manifest-known',
      text: 'select from operations.context_manifest where id = $1',
      values: [id],
    });
    if (known === 1) return true;
    // The lock keeps a purge from deleting the patient's row before the manifest exists, so the purge deletes the
    // manifest too.
    const { rows } = await this.pool.query<{ there: boolean }>({
      name: 'keep-context-manifest',
      text: `
        with patient as (
          select r.id from resources.resource r where r.id = $3::uuid and r.tenant = $2::uuid and not r.deleted
          for key share),
        kept as (
          insert into operations.context_manifest (id, tenant, record, manifest)
          select $1, $2::uuid, p.id, $4 from patient p on conflict (id) do nothing)
        select exists (select from patient) as there`,
      values: [id, tenantId, record, manifest],
    });
    return rows[0]?.there === true;
  }

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

  /** Deletes those of a patient. */
  async forget(patientId: string): Promise<void> {
    await this.pool.query('delete from operations.context_manifest where record = $1', [patientId]);
  }
}
