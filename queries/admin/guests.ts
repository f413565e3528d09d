/** Reads guests, which are applications registered from their own metadata documents. For operators. */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';
import { GUESTS } from '#src/shared/access/guests.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** A guest; times are microseconds since 1970. */
export interface GuestRow {
  readonly id: string;
  /** The URL of the guest's metadata document. */
  readonly client_id: string;
  readonly host: string;
  readonly name: string;
  readonly environment: Environment;
  /** When the guest's document last changed. */
  readonly created_at: Micros;
  /** When the guest last sent somebody to this service; null if unknown. */
  readonly used_at: Micros | null;
  /** Number of the guest's active grants. */
  readonly grants: number;
}

// Indexes: application_of_project, consents.open_grants_of_application.
const LIST = `
select a.id, a.client_id, a.sector as host, a.name, a.environment, a.created_at,
  (extract(epoch from d.used_at) * 1000000)::int8 as used_at,
  (select count(*)::int from consents.grants g where g.application_id = a.id and g.ended_at is null
    and g.expires_at > extract(epoch from clock_timestamp()) * 1000000) as grants
from projects.application a left join operations.guest_document d on d.client_id = a.client_id
where a.project = $1 and a.deleted_at is null
order by a.sector, a.client_id`;

// Index: application_of_project.
const OF_HOST = `
select id from projects.application
where project = $1 and deleted_at is null and (sector = $2 or right(sector, length($2) + 1) = '.' || $2)
order by id`;

/** Reads all guests, sorted by host. */
export async function readGuests(pool: Pool): Promise<readonly GuestRow[]> {
  return (await pool.query<GuestRow>({ name: 'guests', text: LIST, values: [GUESTS.project] })).rows;
}

/** Returns the ids of the guests from a host and its subdomains. */
export async function findGuestIds(pool: Pool, host: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ id: string }>(OF_HOST, [GUESTS.project, host]);
  return rows.map(({ id }) => id);
}

/** Returns the hosts that an operator has blocked. */
export async function readBlockedHosts(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ host: string }>(
    'select b.host from projects.blocked_host b where b.blocked order by b.host',
  );
  return rows.map(({ host }) => host);
}
