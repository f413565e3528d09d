/** Lets any instance that has room claim due deliveries, and records how their attempts ended. */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';

/** A delivery that this instance must send now. */
export interface Claim {
  readonly id: string;
  readonly endpointId: string;
  /** The claim's number: only the latest claim is valid. */
  readonly claims: number;
  readonly environment: Environment;
  readonly url: string;
  /** Sealed. */
  readonly secret: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly payload: string;
  readonly replay: boolean;
  /** Number of attempts before this one. */
  readonly attempts: number;
  /** Seconds since the first attempt; 0 if this is the first. */
  readonly age: number;
  /** True if the endpoint gets only one delivery at a time. */
  readonly probing: boolean;
}

/** The outcome of an attempt. */
export interface Ended {
  readonly claim: Claim;
  readonly status: 'delivered' | 'failed' | 'exhausted';
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly timedOut: boolean;
  /** Seconds until the next attempt; null if there is none. */
  readonly wait: number | null;
}

/** How many more deliveries an instance can take for one endpoint. */
export interface Room {
  readonly endpointId: string;
  readonly free: number;
}

// Indexes: primary keys of webhooks.endpoint, operations.webhook_health and operations.webhook_delivery;
// webhook_delivery_due. The selected ids are passed as an array: with a join the planner would read the whole ledger.
// An endpoint that doesn't answer in time gives one instance at a time the right to one delivery. A replay keeps its
// order: deliveries queued behind another wait until that has ended. The end of a grant isn't sent before an earlier
// deletion in the same record (a purge has both) was attempted; index: webhook_delivery_record.
const CLAIM = `
with open as (
  select e.id, e.url, e.secret, e.environment, coalesce(h.probing, false) as probing, r.free
    from unnest($1::text[], $2::int[]) as r(id, free)
    join webhooks.endpoint e on e.id = r.id and e.active and e.deleted_at is null
    left join operations.webhook_health h on h.endpoint_id = e.id),
probe as (
  update operations.webhook_health h set probe_until = now() + $3 * interval '1 second'
    from open o
   where h.endpoint_id = o.id and h.probing and (h.probe_until is null or h.probe_until <= now())
     and (select min(d.due_at) from operations.webhook_delivery d where d.endpoint_id = o.id) <= now()
  returning h.endpoint_id),
picked as (
  select due.id
    from open o
    left join probe p on p.endpoint_id = o.id
   cross join lateral (
     select d.id from operations.webhook_delivery d
      where d.endpoint_id = o.id and d.due_at <= now()
        and (d.replay_id is null or not exists (
          select from operations.webhook_delivery before
           where before.replay_id = d.replay_id and before.seq < d.seq and before.due_at is not null))
        and (d.event_type <> 'consent.revoked' or not exists (
          select from operations.webhook_delivery deleted
           where deleted.record = d.record and deleted.endpoint_id = d.endpoint_id and deleted.seq < d.seq
             and deleted.event_type = 'resource.deleted' and deleted.replay_id is null and deleted.attempts = 0
             and deleted.due_at is not null))
      order by d.due_at, d.seq
      limit case when not o.probing then o.free when p.endpoint_id is null then 0 else 1 end
        for update skip locked) due)
update operations.webhook_delivery d
   set due_at = now() + $3 * interval '1 second', claims = d.claims + 1,
       first_attempt_at = coalesce(d.first_attempt_at, now())
  from open o
 where d.id = any(array(select id from picked)) and o.id = d.endpoint_id
returning d.id, d.endpoint_id as "endpointId", d.claims, o.environment, o.url, o.secret, d.event_id as "eventId",
  d.event_type as "eventType", d.payload, d.replay_id is not null as replay, d.attempts, o.probing, d.seq,
  extract(epoch from now() - d.first_attempt_at)::float8 as age`;

// Index: webhook_delivery_due, once per endpoint.
const DUE = `
select e.id
  from webhooks.endpoint e
 where e.active and e.deleted_at is null
   and (select min(d.due_at) from operations.webhook_delivery d where d.endpoint_id = e.id) <= now()`;

// One statement for both tables. The health rows are sorted by endpoint, so that two instances never deadlock.
const END = `
with ended as (
  update operations.webhook_delivery d
     set status = x.status, attempts = d.attempts + 1, last_status_code = x."statusCode", last_error = x.error,
         due_at = now() + x.wait * interval '1 second',
         delivered_at = case when x.status = 'delivered' then now() end
    from json_to_recordset($1::json)
      as x(id text, claims int, status text, "statusCode" int, error text, wait float8)
   where d.id = x.id and d.claims = x.claims)
insert into operations.webhook_health as h
  (endpoint_id, last_success_at, last_failure_at, failure_streak, probing)
select id, case when succeeded then now() end, case when failed then now() end, streak, "timedOut"
  from json_to_recordset($2::json) as x(id text, succeeded boolean, failed boolean, streak int, "timedOut" boolean)
 order by id
on conflict (endpoint_id) do update
set last_success_at = coalesce(excluded.last_success_at, h.last_success_at),
    last_failure_at = coalesce(excluded.last_failure_at, h.last_failure_at),
    failure_streak = excluded.failure_streak
      + case when excluded.last_success_at is null then h.failure_streak else 0 end,
    probing = excluded.probing,
    probe_until = case when h.endpoint_id = any($3::text[]) then null else h.probe_until end`;

// A delivery that was never attempted has no first attempt.
const RELEASE = `
update operations.webhook_delivery d
   set due_at = now(), first_attempt_at = case when d.attempts > 0 then d.first_attempt_at end
  from json_to_recordset($1::json) as x(id text, claims int)
 where d.id = x.id and d.claims = x.claims`;

// Deliveries to endpoints that exist and aren't paused.
const BACKLOG = `
select count(*) filter (where d.due_at <= now()) as due,
       coalesce(extract(epoch from now() - min(d.due_at) filter (where d.due_at <= now())), 0)::float8 as oldest,
       count(*) filter (where d.due_at > now() and d.status = 'failed') as waiting
  from operations.webhook_delivery d
  join webhooks.endpoint e on e.id = d.endpoint_id and e.active and e.deleted_at is null
 where d.due_at is not null`;

/** Claims and their outcomes, in PostgreSQL. */
export class WebhookClaims {
  /**
   * @param claiming connections for claims. These may be lost if the database crashes; the deliveries are then due again
   * @param leaseSeconds the time after which another instance may claim an unfinished delivery
   */
  constructor(
    readonly pool: Pool,
    readonly claiming: Pick<Pool, 'query'>,
    readonly leaseSeconds: number,
  ) {}

  /** Claims due deliveries, oldest first, as many as there is room for. */
  async claim(rooms: readonly Room[]): Promise<Claim[]> {
    const { rows } = await this.claiming.query<Claim & { seq: number }>({
      name: 'webhook-claim',
      text: CLAIM,
      values: [rooms.map(({ endpointId }) => endpointId), rooms.map(({ free }) => free), this.leaseSeconds],
    });
    return rows.sort((one, other) => one.seq - other.seq);
  }

  /**
   * Returns whether an instance may have claimed a delivery to an endpoint, or may be claiming one: until a claim is committed,
   * its delivery is still shown as due. Index: webhook_delivery_due.
   */
  async mayHold(endpointId: string): Promise<boolean> {
    const { rows } = await this.pool.query<{ held: boolean }>({
      name: 'webhook-held',
      text: `select exists (
        select from operations.webhook_delivery where endpoint_id = $1 and due_at is not null) as held`,
      values: [endpointId],
    });
    return rows[0]?.held === true;
  }

  /** Returns the endpoints that have due deliveries. */
  async due(): Promise<string[]> {
    const { rows } = await this.pool.query<{ id: string }>({ name: 'webhook-due', text: DUE });
    return rows.map(({ id }) => id);
  }

  /** Returns the number of due deliveries, the age of the oldest in seconds, and the number between attempts. */
  async backlog(): Promise<{ due: number; oldest: number; waiting: number }> {
    const { rows } = await this.pool.query<{ due: number; oldest: number; waiting: number }>(BACKLOG);
    return rows[0] ?? { due: 0, oldest: 0, waiting: 0 };
  }

  /** Releases claims whose deliveries were not sent; the deliveries are due again at once. */
  async release(claims: readonly Pick<Claim, 'id' | 'claims'>[]): Promise<void> {
    await this.pool.query(RELEASE, [
      JSON.stringify(claims.map(({ id, claims: number }) => ({ id, claims: number }))),
    ]);
  }

  /** Records the outcomes of attempts. Skips deliveries that have been claimed again since then. */
  async end(ended: readonly Ended[]): Promise<void> {
    const rows = ended.map(({ claim, status, statusCode, error, wait }) => ({
      id: claim.id,
      claims: claim.claims,
      status,
      statusCode,
      error,
      wait,
    }));
    const probed = ended.filter(({ claim }) => claim.probing).map(({ claim }) => claim.endpointId);
    await this.pool.query({
      name: 'webhook-end',
      text: END,
      values: [JSON.stringify(rows), JSON.stringify(judgeHealth(ended)), probed],
    });
  }
}

/** Returns what a sequence of attempts says about each endpoint's health. */
function judgeHealth(ended: readonly Ended[]) {
  const health = new Map<
    string,
    { succeeded: boolean; failed: boolean; streak: number; timedOut: boolean }
  >();
  for (const { claim, status, timedOut } of ended) {
    const known = health.get(claim.endpointId);
    const succeeded = status === 'delivered';
    health.set(claim.endpointId, {
      succeeded: succeeded || (known?.succeeded ?? false),
      failed: !succeeded || (known?.failed ?? false),
      streak: succeeded ? 0 : (known?.streak ?? 0) + 1,
      timedOut,
    });
  }
  return [...health].map(([id, each]) => ({ id, ...each }));
}
