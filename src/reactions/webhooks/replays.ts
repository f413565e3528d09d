/**
 * Replays: past events that are sent to an endpoint again. Each endpoint has at most one replay at a time; only its newest
 * replay is remembered.
 */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';
import { type NewDelivery, writeDeliveries } from './subscribers.ts';

/** The events to send again. The times are in microseconds since 1970, and both are inclusive. */
export interface ReplayOrder {
  readonly id: string;
  readonly endpointId: string;
  readonly from: number;
  readonly to: number;
  readonly types: readonly string[];
  /** Head of the log when the replay was ordered; events after it are delivered anyway. */
  readonly head: string;
}

/** An unfinished replay. */
export interface RunningReplay extends ReplayOrder {
  readonly project: string;
  readonly environment: Environment;
  /** Everything up to this position has been queued. */
  readonly position: string;
}

// Deleting an endpoint ends its replay.
const RUNNING = `
select r.id, r.endpoint_id as "endpointId", r.from_at as "from", r.to_at as "to", r.types, r.head_position as head,
       r.position,
       e.project, e.environment
  from operations.webhook_replay r join webhooks.endpoint e on e.id = r.endpoint_id and e.deleted_at is null
 where r.status = 'running'`;

/** Replays, in PostgreSQL. */
export class WebhookReplays {
  constructor(readonly pool: Pool) {}

  /**
   * Begins a replay.
   * @returns false while another replay for the endpoint is running; a repeated order counts as the same replay
   */
  async begin({ id, endpointId, from, to, types, head }: ReplayOrder): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `insert into operations.webhook_replay as r (endpoint_id, id, from_at, to_at, types, head_position, position)
       values ($1, $2, $3, $4, $5, $6, '')
       on conflict (endpoint_id) do update
       set id = excluded.id, from_at = excluded.from_at, to_at = excluded.to_at, types = excluded.types,
           head_position = excluded.head_position, position = '', status = 'running', begun_at = now(), ended_at = null
       where r.status <> 'running'`,
      [endpointId, id, from, to, types, head],
    );
    if (rowCount === 1) return true;
    const { rows } = await this.pool.query<{ id: string }>(
      'select id from operations.webhook_replay where endpoint_id = $1',
      [endpointId],
    );
    return rows[0]?.id === id;
  }

  /** Returns all unfinished replays, or only the one with the given id. */
  async running(id?: string): Promise<RunningReplay[]> {
    const { rows } = await this.pool.query<RunningReplay>(`${RUNNING} and ($1::text is null or r.id = $1)`, [
      id ?? null,
    ]);
    return rows;
  }

  /** Returns the number of the replay's deliveries that have not ended. */
  async unsent(id: string): Promise<number> {
    const { rows } = await this.pool.query<{ unsent: number }>(
      'select count(*) as unsent from operations.webhook_delivery where replay_id = $1 and due_at is not null',
      [id],
    );
    return rows[0]?.unsent ?? 0;
  }

  /** Queues deliveries and saves the position. Deliveries that are already queued aren't changed. */
  async queue(id: string, deliveries: readonly NewDelivery[], position: string): Promise<void> {
    const own = deliveries.map((delivery) => ({ ...delivery, replayId: id }));
    await writeDeliveries(this.pool, { subscribed: [], ended: [], grants: [] }, own);
    await this.pool.query('update operations.webhook_replay set position = $2 where id = $1', [id, position]);
  }

  /** Drops a replay's deliveries that are about the given records, regardless of their outcome. */
  async leaveOut(id: string, records: readonly string[]): Promise<void> {
    await this.pool.query(
      'delete from operations.webhook_delivery where replay_id = $1 and record = any($2::uuid[])',
      [id, records],
    );
  }

  /** Marks a replay as finished. */
  async done(id: string): Promise<void> {
    await this.pool.query(
      `update operations.webhook_replay set status = 'done', ended_at = now() where id = $1 and status = 'running'`,
      [id],
    );
  }

  /**
   * Cancels the running replay and drops unsent deliveries.
   * @returns whether a replay was running
   */
  async cancel(endpointId: string): Promise<boolean> {
    const { rows } = await this.pool.query<{ id: string }>(
      `update operations.webhook_replay set status = 'cancelled', ended_at = now()
        where endpoint_id = $1 and status = 'running' returning id`,
      [endpointId],
    );
    const [row] = rows;
    if (row !== undefined) await this.#drop(row.id);
    return row !== undefined;
  }

  /** Drops deliveries that were queued during the cancellation. */
  async dropIfCancelled(id: string): Promise<void> {
    if ((await this.running(id)).length === 0) await this.#drop(id);
  }

  async #drop(id: string): Promise<void> {
    await this.pool.query(
      `delete from operations.webhook_delivery where replay_id = $1 and status in ('pending', 'failed')`,
      [id],
    );
  }
}
