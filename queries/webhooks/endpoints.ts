/** Webhook endpoints of a project in one environment, with the recent results of their deliveries. */
import type { Pool } from 'pg';
import type { Environment, Tenant } from '#src/shared/access/caller.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import { MEMBERSHIP, membershipValues } from '../admin/membership.ts';
import type { Held } from '../admin/projects.ts';

/** An endpoint. Times are microseconds since 1970. */
export interface Endpoint {
  readonly id: string;
  readonly project: string;
  readonly environment: Environment;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string | null;
  readonly active: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastSuccessAt: number | null;
  readonly lastFailureAt: number | null;
  /** Failed attempts since the last successful one. */
  readonly failureStreak: number;
}

/** A page of endpoints, oldest first. */
export interface EndpointPage {
  readonly endpoints: readonly Endpoint[];
  readonly total: number;
}

/** The questions. */
export interface WebhookQueries {
  /** Reads an endpoint; undefined if it doesn't exist or belongs to another tenant. */
  readonly endpoint: (tenant: Tenant, id: string) => Promise<Endpoint | undefined>;
  /** Reads an endpoint in any project of the person's organizations, with the person's role; otherwise undefined. */
  readonly endpointOfMember: (identity: Identity, id: string) => Promise<Held<Endpoint> | undefined>;
  /**
   * @param after key of the last endpoint of the previous page.
   */
  readonly endpoints: (
    of: { readonly project: string; readonly environment?: Environment | undefined },
    limit: number,
    after?: { readonly createdAt: number; readonly id: string },
  ) => Promise<EndpointPage>;
  /** Returns how many other endpoints a tenant has. */
  readonly others: (tenant: Tenant, id: string) => Promise<number>;
}

const COLUMNS = `
  e.id, e.project, e.environment, e.url, e.events, e.description, e.active, e.created_at as "createdAt",
  greatest(e.settings_at, e.secret_at) as "updatedAt",
  (extract(epoch from h.last_success_at) * 1000000)::int8 as "lastSuccessAt",
  (extract(epoch from h.last_failure_at) * 1000000)::int8 as "lastFailureAt",
  coalesce(h.failure_streak, 0) as "failureStreak"`;

const ENDPOINTS = 'webhooks.endpoint e left join operations.webhook_health h on h.endpoint_id = e.id';

// Index: primary key of webhooks.endpoint (id). The owner is checked in the same statement, so that ids of other
// projects take as long as unknown ids.
const ONE = `
select ${COLUMNS} from ${ENDPOINTS}
 where e.id = $1 and e.deleted_at is null and e.project = $2 and e.environment = $3`;

// Indexes: those of MEMBERSHIP, then the primary keys of webhooks.endpoint (id) and projects.project (id).
const ONE_OF_MEMBER = `
select ${COLUMNS}, m.role from ${ENDPOINTS}
  join projects.project p on p.id = e.project and p.deleted_at is null
  join ${MEMBERSHIP} m on m.organization = p.organization
 where e.id = $5 and e.deleted_at is null`;

// Index: endpoint_of_project.
const OF_PROJECT = `
  from ${ENDPOINTS}
 where e.project = $1 and ($2::text is null or e.environment = $2) and e.deleted_at is null`;

const PAGE = `
select ${COLUMNS} ${OF_PROJECT}
   and ($3::int8 is null or (e.created_at, e.id) > ($3, $4))
 order by e.created_at, e.id limit $5`;

/** Creates the queries on a database. */
export function openWebhookQueries(pool: Pool): WebhookQueries {
  return {
    async endpoint({ project, environment }, id) {
      const values = [id, project, environment];
      return (await pool.query<Endpoint>({ name: 'webhook-endpoint', text: ONE, values })).rows[0];
    },
    async endpointOfMember(identity, id) {
      const values = [...membershipValues(identity), id];
      const asked = { name: 'webhook-endpoint-of-member', text: ONE_OF_MEMBER, values };
      return (await pool.query<Held<Endpoint>>(asked)).rows[0];
    },
    async endpoints({ project, environment }, limit, after) {
      const of = [project, environment ?? null];
      const [{ rows: endpoints }, { rows: counted }] = await Promise.all([
        pool.query<Endpoint>(PAGE, [...of, after?.createdAt ?? null, after?.id ?? null, limit]),
        pool.query<{ total: number }>(`select count(*) as total ${OF_PROJECT}`, of),
      ]);
      return { endpoints, total: counted[0]?.total ?? 0 };
    },
    async others({ project, environment }, id) {
      const { rows } = await pool.query<{ others: number }>(
        `select count(*) as others from webhooks.endpoint
          where project = $1 and environment = $2 and deleted_at is null and id <> $3`,
        [project, environment, id],
      );
      return rows[0]?.others ?? 0;
    },
  };
}
