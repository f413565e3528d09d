/**
 * Backchannel authentication requests from the perspective of the applications that make and poll them (OpenID CIBA Core 1.0,
 * sections 7 and 11; docs/spec/decisions.md, section 7). Neither making nor polling a request reads anything about people,
 * links, records or mutes: the answers depend only on the application's own requests and on decisions.
 */
import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { newId } from '#src/shared/ids.ts';
import type { Client } from '../clients.ts';
import { OAuthError } from '../error.ts';
import { newSecret, sha256 } from '../secrets.ts';
import { type BackchannelRequest, INTERVAL_S } from './request.ts';

/** The maximum number of requests that an application may make with the same hint within an hour. */
export const MOST_REQUESTS = 10;
/** How long after an approval the application can still get its tokens, in seconds. */
const REDEEM_S = 600;

// The row for the turn is authoritative. It counts the requests of the last hour, and names the only request that may be
// pending, so a new request replaces the pending one. Parallel requests each wait for the previous request.
const CREATE = `
with turn as (
  insert into operations.access_request_turn as t (sha256, asked, newest)
  values ($3, array[clock_timestamp()], $1)
  on conflict (sha256) do update
    set asked = array(select x from unnest(t.asked) x where x > clock_timestamp() - interval '1 hour') || clock_timestamp(),
        newest = excluded.newest
    where (select count(*) from unnest(t.asked) x where x > clock_timestamp() - interval '1 hour') < ${MOST_REQUESTS}
  returning sha256
)
insert into operations.access_request
  (id, sha256, turn, application_id, client_id, project, environment, sector, hint_kind, hint, scope, resource,
   binding_message, created_at, expires_at, pace)
select $1, $2, turn.sha256, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, clock_timestamp(),
       clock_timestamp() + make_interval(secs => $14), ${INTERVAL_S}
  from turn`;

const WAIT = `
select ceil(extract(epoch from min(x) + interval '1 hour' - clock_timestamp()))::int4 as seconds
  from operations.access_request_turn t, unnest(t.asked) x
 where t.sha256 = $1 and x > clock_timestamp() - interval '1 hour'`;

// Clients wait as long as they were told to, but network delays may shorten the interval, so one second is tolerated.
const POLL = `
with before as materialized (
  select r.id, coalesce(r.polled_at > clock_timestamp() - make_interval(secs => r.pace - 1), false) as fast
    from operations.access_request r where r.sha256 = $1 and r.application_id = $2 for update
), polled as (
  update operations.access_request r
     set polled_at = clock_timestamp(), pace = case when b.fast then r.pace + ${INTERVAL_S} else r.pace end
    from before b where r.id = b.id
  returning r.*, b.fast
)
select p.id, p.fast, p.grant_id, p.used_at is not null as used,
       case when p.outcome = 'approved' and p.decided_at < clock_timestamp() - make_interval(secs => ${REDEEM_S}) then 'expired'
            when p.outcome is not null then p.outcome
            when p.expires_at <= clock_timestamp() or t.newest is distinct from p.id then 'expired'
            else 'pending' end as status,
       coalesce(extract(epoch from clock_timestamp() - p.decided_at), 0)::float8 as "decidedFor"
  from polled p left join operations.access_request_turn t on t.sha256 = p.turn`;

const USE = `
update operations.access_request set used_at = clock_timestamp()
 where id = $1 and outcome = 'approved' and grant_id is not null and used_at is null
returning grant_id, record, granted_scope as scope, resource as resources`;

/** The state of a request when it is polled. */
export interface Polled {
  readonly id: string;
  readonly status: 'pending' | 'approved' | 'denied' | 'expired';
  /** True if the poll came sooner after the previous poll than the application was told to wait. */
  readonly fast: boolean;
  /** Null while the approval is being carried out. */
  readonly grant_id: string | null;
  /** True if tokens have already been issued. */
  readonly used: boolean;
  /** Seconds since the decision. */
  readonly decidedFor: number;
}

/** The grant for an approved request, which can be redeemed once. */
export interface Redeemed {
  readonly grant_id: string;
  readonly record: string;
  readonly scope: string;
  readonly resources: readonly string[];
}

/** The answer to an application's request. */
export interface Asked {
  readonly authReqId: string;
  /** In seconds. */
  readonly expiresIn: number;
  /** Interval between two polls, in seconds. */
  readonly interval: number;
}

/** An installation's requests, from the perspective of the applications. */
export class BackchannelRequests {
  constructor(private readonly pool: Pool) {}

  /**
   * Saves a request, replacing any pending request from the same application with the same hint.
   * @throws OAuthError with status 429 after ten requests within an hour
   */
  async create(client: Client, asked: BackchannelRequest): Promise<Asked> {
    const { kind, hint } = asked.hint;
    const turn = createHash('sha256')
      .update(JSON.stringify([client.applicationId, kind, hint]))
      .digest();
    const authReqId = newSecret('');
    const { rowCount } = await this.pool.query({
      name: 'access-request-create',
      text: CREATE,
      values: [
        newId('areq_'),
        sha256(authReqId),
        turn,
        client.applicationId,
        client.clientId,
        client.project,
        client.environment,
        client.sector,
        kind,
        hint,
        asked.scope,
        asked.resources,
        asked.bindingMessage ?? null,
        asked.expiresIn,
      ],
    });
    if (rowCount === 1) return { authReqId, expiresIn: asked.expiresIn, interval: INTERVAL_S };
    const { rows } = await this.pool.query<{ seconds: number | null }>({
      name: 'access-request-wait',
      text: WAIT,
      values: [turn],
    });
    const seconds = Math.max(1, rows[0]?.seconds ?? 1);
    throw new OAuthError(
      'temporarily_unavailable',
      `the application made ${MOST_REQUESTS} requests with this hint within an hour; retry in ${seconds} s`,
      { status: 429, headers: { 'Retry-After': String(seconds) } },
    );
  }

  /** Records a poll; undefined for an unknown `auth_req_id`, or for that of another application. */
  async poll(authReqId: string, applicationId: string): Promise<Polled | undefined> {
    const { rows } = await this.pool.query<Polled>({
      name: 'access-request-poll',
      text: POLL,
      values: [sha256(authReqId), applicationId],
    });
    return rows[0];
  }

  /**
   * Uses up an approved request and runs the work that issues its tokens, in one transaction.
   * @returns undefined if the request was already used
   */
  async redeem<T>(
    id: string,
    work: (database: Pick<Pool, 'query'>, redeemed: Redeemed) => Promise<T>,
  ): Promise<T | undefined> {
    const client = await this.pool.connect();
    let broken = true;
    try {
      await client.query('begin');
      const { rows } = await client.query<Redeemed>(USE, [id]);
      const result = rows[0] === undefined ? undefined : await work(client, rows[0]);
      await client.query('commit');
      broken = false;
      return result;
    } finally {
      // A connection in the middle of a transaction is closed, which rolls the transaction back.
      client.release(broken);
    }
  }
}
