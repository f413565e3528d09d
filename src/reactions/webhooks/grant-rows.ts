/** Stores, in PostgreSQL, the grants that determine who receives webhooks, as of a position in the log. */
import type { Pool } from 'pg';
import { Unavailable } from '#src/events/store.ts';
import type { Given, KnownGrant } from './grants.ts';
import type { GrantRows } from './known-grants.ts';

/** A row. The columns from `project` to `expires_at` are either all null or all set. */
type Row = Pick<KnownGrant, 'grantId' | 'record' | 'endedAt'> & { [K in keyof Given]: Given[K] | null };

interface State {
  readonly any: boolean;
  readonly takenOver: boolean;
}

const SELECT = `
select grant_id as "grantId", record, project, environment, sector, patient, scopes, granted_at as "grantedAt",
       expires_at as "expiresAt", ended_at as "endedAt"
  from operations.webhook_grant where record = any($1::uuid[])`;

/** Stores each grant once; values that the row already has are kept. */
export const KEEP_GRANTS = `
insert into operations.webhook_grant as g
  (grant_id, record, project, environment, sector, patient, scopes, granted_at, expires_at, ended_at)
select "grantId", record, project, environment, sector, patient, scopes, "grantedAt", "expiresAt", "endedAt"
  from json_to_recordset($1::json) as x("grantId" text, record uuid, project text, environment text, sector text,
    patient uuid, scopes text[], "grantedAt" int8, "expiresAt" int8, "endedAt" int8)
on conflict (grant_id) do update
set project = coalesce(g.project, excluded.project), environment = coalesce(g.environment, excluded.environment),
    sector = coalesce(g.sector, excluded.sector), patient = coalesce(g.patient, excluded.patient),
    scopes = coalesce(g.scopes, excluded.scopes), granted_at = coalesce(g.granted_at, excluded.granted_at),
    expires_at = coalesce(g.expires_at, excluded.expires_at), ended_at = least(g.ended_at, excluded.ended_at)`;

const FORGET = 'delete from operations.webhook_grant where record = $1';

const STATE = `
select exists (select from operations.webhook_grant) as "any", taken_over as "takenOver"
  from operations.webhook_grants_begun`;

// Before this process stored grants itself, it had followed the log to `reached`. Earlier grants can be taken from the read
// model once the read model has reached the same position.
const TAKE_OVER = `
with begun as (
  update operations.webhook_grants_begun set taken_over = true
   where not taken_over and not exists (
     select from operations.process p join consents.checkpoint c on c.position < p.position collate "C"
      where p.name = 'webhooks')
  returning true),
added as (
  insert into operations.webhook_grant
    (grant_id, record, project, environment, sector, patient, scopes, granted_at, expires_at, ended_at)
  select grant_id, record, project, environment, sector, patient, scopes, granted_at, expires_at, ended_at
    from consents.grants where exists (select from begun)
  on conflict (grant_id) do nothing)
select from begun`;

/** Returns the statement's parameter for grants. */
export function grantsParameter(grants: readonly KnownGrant[]): string {
  return JSON.stringify(grants.map(({ given, ...rest }) => ({ ...given, ...rest })));
}

/** Creates the store of grants. `any` throws Unavailable until the earlier grants can be taken over. */
export function openGrantRows(pool: Pool): GrantRows {
  return {
    async any() {
      const state = await readState(pool);
      if (state?.takenOver) return state.any;
      const { rowCount } = await pool.query(TAKE_OVER);
      if (rowCount !== 1) throw new Unavailable('the read model consents is behind the webhooks');
      return (await readState(pool))?.any ?? false;
    },
    async onRecords(records) {
      const { rows } = await pool.query<Row>({ name: 'webhook-grants', text: SELECT, values: [records] });
      return rows.map(toKnownGrant);
    },
  };
}

/** Deletes the grants on a purged record. */
export async function forgetGrants(pool: Pool, record: string): Promise<void> {
  await pool.query(FORGET, [record]);
}

async function readState(pool: Pool): Promise<State | undefined> {
  return (await pool.query<State>(STATE)).rows[0];
}

function toKnownGrant({ grantId, record, endedAt, ...row }: Row): KnownGrant {
  const { project, environment, sector, patient, scopes, grantedAt, expiresAt } = row;
  const known =
    project !== null &&
    environment !== null &&
    sector !== null &&
    patient !== null &&
    scopes !== null &&
    grantedAt !== null &&
    expiresAt !== null;
  const given = known ? { project, environment, sector, patient, scopes, grantedAt, expiresAt } : null;
  return { grantId, record, given, endedAt };
}
