/** Manages an endpoint's deliveries for its owner, and deletes old deliveries. */
import type { Pool } from 'pg';
import { forgetGrants } from './grant-rows.ts';
import type { NewDelivery } from './subscribers.ts';

/** How long a delivery is kept, in days. */
export const KEPT_DAYS = 30;

/** Starts a new cycle of attempts, which has no results yet; the result of an attempt in progress is ignored. */
const AFRESH = `
  set status = 'pending', attempts = 0, claims = claims + 1, due_at = now(), first_attempt_at = null,
      last_status_code = null, last_error = null, delivered_at = null`;

/** Finished deliveries about purged records are about to be deleted, so they are never sent again. */
const KEPT = 'not (forgotten and due_at is null)';

/** The log, in PostgreSQL. */
export class WebhookDeliveries {
  constructor(readonly pool: Pool) {}

  /** Adds a delivery; adding it again has no effect. */
  async add({ id, endpointId, eventId, eventType, payload }: NewDelivery): Promise<void> {
    await this.pool.query(
      `insert into operations.webhook_delivery (id, endpoint_id, event_id, event_type, payload, due_at)
       values ($1, $2, $3, $4, $5, now()) on conflict (id) do nothing`,
      [id, endpointId, eventId, eventType, payload],
    );
  }

  /**
   * Makes a delivery due now, regardless of its outcome.
   * @returns whether the endpoint has a delivery with that id
   */
  async redeliver(endpointId: string, id: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `update operations.webhook_delivery ${AFRESH} where id = $1 and endpoint_id = $2 and ${KEPT}`,
      [id, endpointId],
    );
    return rowCount === 1;
  }

  /**
   * Makes all exhausted deliveries due now.
   * @returns how many there were
   */
  async redeliverExhausted(endpointId: string): Promise<number> {
    const { rowCount } = await this.pool.query(
      `update operations.webhook_delivery ${AFRESH} where endpoint_id = $1 and status = 'exhausted' and ${KEPT}`,
      [endpointId],
    );
    return rowCount ?? 0;
  }

  /**
   * Deletes a record's finished deliveries, replayed deliveries and grants, as part of its purge. Other pending deliveries,
   * which contain only ids, are sent first; `sweep` deletes them afterwards.
   */
  async forget(patientId: string): Promise<void> {
    await this.pool.query(
      `with dropped as (
         delete from operations.webhook_delivery where record = $1 and (due_at is null or replay_id is not null))
       update operations.webhook_delivery set forgotten = true
        where record = $1 and due_at is not null and replay_id is null`,
      [patientId],
    );
    await forgetGrants(this.pool, patientId);
  }

  /** Deletes expired deliveries, and finished deliveries about purged records. */
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
