/** The log of webhook deliveries and replays, as an endpoint's owner sees it. Deliveries are kept for 30 days. */
import type { Pool } from 'pg';

/** Delivery statuses (docs/spec/decisions.md, section 6). */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'exhausted'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** A delivery. Times are milliseconds since 1970. */
export interface LoggedDelivery {
  readonly id: string;
  readonly seq: number;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly payload: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly nextAttemptAt: number | null;
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
  readonly createdAt: number;
  readonly deliveredAt: number | null;
}

/** The filters of an endpoint's log. */
export interface DeliveryQuestion {
  readonly endpointId: string;
  readonly status?: DeliveryStatus | undefined;
  readonly eventType?: string | undefined;
  readonly limit: number;
  /** `seq` of the last delivery of the previous page. */
  readonly before?: number | undefined;
}

/** The progress of a replay. Times are milliseconds since 1970. */
export interface ReplayProgress {
  readonly status: 'running' | 'done' | 'cancelled';
  readonly from: number;
  readonly to: number;
  readonly types: readonly string[];
  readonly queued: number;
  readonly delivered: number;
  readonly exhausted: number;
  readonly begunAt: number;
  readonly endedAt: number | null;
}

const millis = (column: string): string => `(extract(epoch from ${column}) * 1000)::int8`;

const COLUMNS = `
  id, seq, endpoint_id as "endpointId", event_id as "eventId", event_type as "eventType", payload, status, attempts,
  ${millis('due_at')} as "nextAttemptAt", last_status_code as "lastStatusCode", last_error as "lastError",
  ${millis('created_at')} as "createdAt", ${millis('delivered_at')} as "deliveredAt"`;

// Index: webhook_delivery_log.
const ASKED = `
  from operations.webhook_delivery
 where endpoint_id = $1 and ($2::text is null or status = $2) and ($3::text is null or event_type = $3)`;

// Index: webhook_delivery_replay.
const PROGRESS = `
select r.status, r.from_at as "from", r.to_at as "to", r.types, ${millis('r.begun_at')} as "begunAt",
       ${millis('r.ended_at')} as "endedAt", count(d.id) as queued,
       count(d.id) filter (where d.status = 'delivered') as delivered,
       count(d.id) filter (where d.status = 'exhausted') as exhausted
  from operations.webhook_replay r left join operations.webhook_delivery d on d.replay_id = r.id
 where r.endpoint_id = $1
 group by r.endpoint_id`;

/** Reads the ledger. */
export interface LedgerQueries {
  /** Returns a page of an endpoint's deliveries, newest first, and the total number of them. */
  readonly deliveries: (question: DeliveryQuestion) => Promise<{
    readonly deliveries: readonly LoggedDelivery[];
    readonly total: number;
  }>;
  /** Returns a delivery; undefined for an unknown id. */
  readonly delivery: (id: string) => Promise<LoggedDelivery | undefined>;
  /** Returns an endpoint's newest replay; undefined if no replay was ever started. */
  readonly replay: (endpointId: string) => Promise<ReplayProgress | undefined>;
}

/** Creates the queries on a database. */
export function openLedgerQueries(pool: Pool): LedgerQueries {
  return {
    async deliveries({ endpointId, status, eventType, limit, before }) {
      const asked = [endpointId, status ?? null, eventType ?? null];
      const [{ rows: deliveries }, { rows: counted }] = await Promise.all([
        pool.query<LoggedDelivery>(
          `select ${COLUMNS} ${ASKED} and ($4::int8 is null or seq < $4) order by seq desc limit $5`,
          [...asked, before ?? null, limit],
        ),
        pool.query<{ total: number }>(`select count(*) as total ${ASKED}`, asked),
      ]);
      return { deliveries, total: counted[0]?.total ?? 0 };
    },
    async delivery(id) {
      const { rows } = await pool.query<LoggedDelivery>({
        name: 'webhook-delivery',
        text: `select ${COLUMNS} from operations.webhook_delivery where id = $1`,
        values: [id],
      });
      return rows[0];
    },
    async replay(endpointId) {
      return (await pool.query<ReplayProgress>(PROGRESS, [endpointId])).rows[0];
    },
  };
}
