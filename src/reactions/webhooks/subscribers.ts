/** Stores subscribers, as of a position in the log, and deliveries to them. */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';
import { grantsParameter, KEEP_GRANTS } from './grant-rows.ts';
import type { KnownGrant } from './grants.ts';

/** A subscribed endpoint. */
export interface SubscriberRow {
  readonly endpointId: string;
  readonly project: string;
  readonly environment: Environment;
  /** Types, or only `*`. */
  readonly events: readonly string[];
}

/** A delivery to create. */
export interface NewDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly record: string | null;
  readonly payload: string;
  readonly replayId?: string;
}

/** Changes from a range of the log. */
export interface SubscriberChanges {
  /** Endpoints in their current state. */
  readonly subscribed: readonly SubscriberRow[];
  /** Deleted endpoints; their pending deliveries are dropped. */
  readonly ended: readonly string[];
  /** The grants from these events, each once. */
  readonly grants: readonly KnownGrant[];
}

const SELECT = `
select endpoint_id as "endpointId", project, environment, events from operations.webhook_subscriber order by endpoint_id`;

const SUBSCRIBE = `
insert into operations.webhook_subscriber (endpoint_id, project, environment, events)
select "endpointId", project, environment, events
from json_to_recordset($1::json) as x("endpointId" text, project text, environment text, events text[])
on conflict (endpoint_id) do update set events = excluded.events`;

const END = 'delete from operations.webhook_subscriber where endpoint_id = any($1::text[])';

const DROP = `
delete from operations.webhook_delivery where endpoint_id = any($1::text[]) and status in ('pending', 'failed')`;

const DELIVER = `
insert into operations.webhook_delivery (id, endpoint_id, event_id, event_type, record, payload, replay_id, due_at)
select id, "endpointId", "eventId", "eventType", record, payload, "replayId", now()
from json_to_recordset($1::json) as x(id text, "endpointId" text, "eventId" text, "eventType" text, record uuid,
  payload text, "replayId" text)
on conflict (id) do nothing`;

/** Returns all subscribers. */
export async function readSubscribers(pool: Pool): Promise<SubscriberRow[]> {
  return (await pool.query<SubscriberRow>(SELECT)).rows;
}

/** Writes everything in one transaction; repeating the call changes nothing. */
export async function writeDeliveries(
  pool: Pool,
  { subscribed, ended, grants }: SubscriberChanges,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  const statements: [string, unknown][] = [];
  if (subscribed.length > 0) statements.push([SUBSCRIBE, JSON.stringify(subscribed)]);
  if (grants.length > 0) statements.push([KEEP_GRANTS, grantsParameter(grants)]);
  if (deliveries.length > 0) statements.push([DELIVER, JSON.stringify(deliveries)]);
  if (ended.length > 0) statements.push([END, ended], [DROP, ended]);
  const [only] = statements;
  if (only === undefined) return;
  if (statements.length === 1) {
    await pool.query(only[0], [only[1]]);
    return;
  }
  const client = await pool.connect();
  try {
    await client.query('begin');
    for (const [sql, value] of statements) await client.query(sql, [value]);
    await client.query('commit');
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}
