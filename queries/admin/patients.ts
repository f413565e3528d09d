/** A project's patients as the dashboard lists them. */
import type { Pool } from 'pg';
import { z } from 'zod';
import { type Tenant, tenantId } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { decodeListCursor, encodeCursor } from '../cursor.ts';
import type { Page, PageAsked } from './page.ts';

/** A Patient's current version; times are microseconds since 1970. */
export interface PatientRow {
  readonly id: string;
  /** FHIR JSON. */
  readonly body: string;
  readonly version: number;
  readonly created_at: number;
  readonly last_updated: number;
}

/** Queries about patients. */
export interface Patients {
  /**
   * Reads live patients, newest first.
   * @throws Refusal invalid (422) for a cursor from a different list
   */
  readonly patients: (tenant: Tenant, asked: PageAsked) => Promise<Page<PatientRow>>;
  /** Returns true if one of the tenants has or once had a patient's record. */
  readonly hasRecord: (tenants: readonly Tenant[], patient: string) => Promise<boolean>;
  /** Returns true if the tenant has anything that isn't deleted. */
  readonly hasData: (tenant: Tenant) => Promise<boolean>;
}

const key = z.tuple([z.string().refine(isUuid)]);

// Ids are UUIDv7, so they sort by time. Index: resources.resource_by_id (tenant, type, id), backwards.
const patientsSql = (after: boolean) => `
with list as not materialized (
  select r.id, r.body, r.version, r.created_at, r.last_updated from resources.resource r
  where r.tenant = $1 and r.type = 'Patient' and not r.deleted)
select (select count(*)::int from list) as total,
  (select coalesce(json_agg(p), '[]') from (select l.* from list l ${after ? 'where l.id < $3::uuid' : ''}
    order by l.id desc limit $2) p) as page`;

/** Creates the queries. */
export function openPatients(pool: Pool): Patients {
  return {
    async patients(tenant, { limit, cursor }) {
      const after = cursor === undefined ? [] : decodeListCursor(cursor, key);
      const more = after.length > 0;
      const answer = await pool.query<{ total: number; page: PatientRow[] }>({
        name: more ? 'page-patients-after' : 'page-patients',
        text: patientsSql(more),
        values: [tenantId(tenant), limit + 1, ...after],
      });
      const { total, page } = answer.rows[0] ?? { total: 0, page: [] };
      const rows = page.slice(0, limit);
      const last = rows.at(-1);
      const isLast = page.length <= limit || last === undefined;
      return { rows, total, next: isLast ? undefined : encodeCursor([last.id]) };
    },
    async hasRecord(tenants, patient) {
      if (!isUuid(patient)) return false;
      // Index: primary key of resources.resource (id).
      const { rowCount } = await pool.query({
        name: 'has-record',
        text: `select from resources.resource r where r.id = $1 and r.type = 'Patient' and r.tenant = any($2::uuid[])`,
        values: [patient, tenants.map(tenantId)],
      });
      return rowCount === 1;
    },
    async hasData(tenant) {
      // Index: resources.resource_by_id (tenant, type, id).
      const { rows } = await pool.query<{ any: boolean }>({
        name: 'has-data',
        text: 'select exists (select from resources.resource r where r.tenant = $1 and not r.deleted) as any',
        values: [tenantId(tenant)],
      });
      return rows[0]?.any ?? false;
    },
  };
}
