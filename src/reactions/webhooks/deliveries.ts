/** The log of deliveries as an endpoint's owner sees it, and what the owner may do with it. Kept 30 days. */
import type { Pool } from 'pg';
import type { NewDelivery } from './subscribers.ts';

/** Statuses of a delivery (docs/spec/decisions.md, section 6). */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'exhausted'] as const;
/** One of them. */
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

/** What is asked of an endpoint's log. */
export interface DeliveryQuestion {
  readonly endpointId: string;
  readonly status?: DeliveryStatus | undefined;
  readonly eventType?: string | undefined;
  readonly limit: number;
  /** `seq` of the last delivery of the page before. */
  readonly before?: number | undefined;
}

/** How long a delivery is kept. */
export const KEPT_DAYS = 30;

const millis = (column: string): string => `(extract(epoch from ${column}) * 1000)::int8`;

const COLUMNS = `
  id, seq, endpoint_id as "endpointId", event_id as "eventId", event_type as "eventType", payload, status, attempts,
  ${millis('due_at')} as "nextAttemptAt", last_status_code as "lastStatusCode", last_error as "lastError",
  ${millis('created_at')} as "createdAt", ${millis('delivered_at')} as "deliveredAt"`;

// Index: webhook_delivery_log.
const ASKED = `
  from operations.webhook_delivery
 where endpoint_id = $1 and ($2::text is null or status = $2) and ($3::text is null or event_type = $3)`;

/** A new cycle of attempts begins, of which nothing is known yet; an attempt that is under way has no say any more. */
const AFRESH = `
  set status = 'pending', attempts = 0, claims = claims + 1, due_at = now(), first_attempt_at = null,
      last_status_code = null, last_error = null, delivered_at = null`;

/** The log, in PostgreSQL. */
export class WebhookDeliveries {
  constructor(readonly pool: Pool) {}

  /** A page, newest first, and how many there are in all. */
  async page({ endpointId, status, eventType, limit, before }: DeliveryQuestion): Promise<{
    readonly deliveries: readonly LoggedDelivery[];
    readonly total: number;
  }> {
    const asked = [endpointId, status ?? null, eventType ?? null];
    const [{ rows: deliveries }, { rows: counted }] = await Promise.all([
      this.pool.query<LoggedDelivery>(
        `select ${COLUMNS} ${ASKED} and ($4::int8 is null or seq < $4) order by seq desc limit $5`,
        [...asked, before ?? null, limit],
      ),
      this.pool.query<{ total: number }>(`select count(*) as total ${ASKED}`, asked),
    ]);
    return { deliveries, total: counted[0]?.total ?? 0 };
  }

  /** Adds one; the same again is the one that is there. */
  async add({ id, endpointId, eventId, eventType, payload }: NewDelivery): Promise<LoggedDelivery> {
    await this.pool.query(
      `insert into operations.webhook_delivery (id, endpoint_id, event_id, event_type, payload, due_at)
       values ($1, $2, $3, $4, $5, now()) on conflict (id) do nothing`,
      [id, endpointId, eventId, eventType, payload],
    );
    const made = await this.find(id);
    if (made === undefined) throw new Error(`delivery ${id} was removed while it was made`);
    return made;
  }

  /** Reads one; undefined if there is none of that id. */
  async find(id: string): Promise<LoggedDelivery | undefined> {
    const { rows } = await this.pool.query<LoggedDelivery>({
      name: 'webhook-delivery',
      text: `select ${COLUMNS} from operations.webhook_delivery where id = $1`,
      values: [id],
    });
    return rows[0];
  }

  /** Makes one due now, whatever became of it; undefined when the endpoint has none of that id. */
  async redeliver(endpointId: string, id: string): Promise<LoggedDelivery | undefined> {
    const { rows } = await this.pool.query<LoggedDelivery>(
      `update operations.webhook_delivery ${AFRESH} where id = $1 and endpoint_id = $2 returning ${COLUMNS}`,
      [id, endpointId],
    );
    return rows[0];
  }

  /** Makes all that were given up due now. @returns how many. */
  async redeliverExhausted(endpointId: string): Promise<number> {
    const { rowCount } = await this.pool.query(
      `update operations.webhook_delivery ${AFRESH} where endpoint_id = $1 and status = 'exhausted'`,
      [endpointId],
    );
    return rowCount ?? 0;
  }

  /** Part of a purge: what has ended of a record is deleted. What is still to be told, ids alone, is told first: `sweep` deletes it then. */
  async forget(patientId: string): Promise<void> {
    await this.pool.query(
      `with ended as (delete from operations.webhook_delivery where record = $1 and due_at is null)
       update operations.webhook_delivery set forgotten = true where record = $1 and due_at is not null`,
      [patientId],
    );
  }

  /** Deletes what is older than it is kept, and what ended of records that were purged. */
  async sweep(): Promise<void> {
    await this.pool.query('delete from operations.webhook_delivery where forgotten and due_at is null');
    for (let deleted = 1; deleted > 0; ) {
      const { rowCount } = await this.pool.query(
        `delete from operations.webhook_delivery
          where id in (select id from operations.webhook_delivery
                        where created_at < now() - interval '${KEPT_DAYS} days' limit 10000)`,
      );
      deleted = rowCount ?? 0;
    }
  }
}
