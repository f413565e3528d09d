/**
 * Counts the recipients of the selected versions, as far as the service knows them: through exports, shared links, contexts
 * and webhooks.
 */
import type { Pool } from 'pg';
import { packVersions, VERSION_BYTES } from '#src/operations/receipts/row.ts';
import type { NamedVersion } from '#src/shared/access/receipt.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** A record, its selected versions, the time when the first of these was written, and the resources to which they belong. */
export interface ToldRecord {
  readonly record: string;
  readonly since: Micros;
  readonly resources: readonly string[];
  readonly versions: readonly NamedVersion[];
}

/** Counts, each for the time since a record's first selected version. */
export interface Told {
  /** Number of signed exports of the records. */
  readonly exports: number;
  /** Number of shared links that were opened. */
  readonly shared_links: number;
  /** Number of contexts that name a selected version; of contexts without receipts, all that were made for the records. */
  readonly contexts: number;
  /**
   * Number of receipts for answers that name a selected version: contexts, summaries, answers to assistants, and links'
   * content.
   */
  readonly receipts: number;
  readonly webhooks: {
    /** Number of deliveries about the resources that the receiver has answered. */
    readonly deliveries: number;
    /** The endpoints of the project that ordered the take-back. */
    readonly endpoints: readonly string[];
  };
}

const SINCE = 'unnest($1::uuid[], $2::int8[]) as x(record, since)';

// Index: the primary key of operations.access_entry (record, seq). Within a record times never go back.
const ACCESS = `
select count(*) filter (where e.action = 'export')::int as exports,
       count(distinct e.actor_id) filter (where e.action in ('open-link', 'open-link-file'))::int as links
  from ${SINCE} join operations.access_entry e on e.record = x.record
   and e.seq >= operations.access_seq_from(x.record, x.since) and e.status = 'ok'`;

// Indexes: context_manifest_of_record; receipt_of_record.
const CONTEXTS = `
with named as (
  select r.kind, r.name from ${SINCE} join operations.receipt r on r.record = x.record and r.made_at >= x.since
   where exists (select 1 from generate_series(0, octet_length(r.versions) - 1, ${VERSION_BYTES}) n
                  where substring(r.versions from n + 1 for ${VERSION_BYTES}) = any($3::bytea[])))
select (select count(*)::int from ${SINCE} join operations.context_manifest m
          on m.record = x.record and m.made_at >= to_timestamp(x.since / 1000000.0))
     + (select count(distinct name)::int from named where kind = 'context') as contexts,
       (select count(*)::int from named) as receipts`;

// Indexes: webhook_delivery_record; the primary key of webhooks.endpoint.
const DELIVERIES = `
select case when w.project = $4 then d.endpoint_id end as endpoint, count(*)::int as deliveries
  from ${SINCE} join operations.webhook_delivery d
  on d.record = x.record and d.created_at >= to_timestamp(x.since / 1000000.0) and d.delivered_at is not null
  left join webhooks.endpoint w on w.id = d.endpoint_id
 where d.payload::json #>> '{data,id}' = any($3::text[]) group by 1`;

/** Number of records that are looked up in one statement. */
const AT_A_TIME = 200;

/**
 * Counts the recipients of the versions.
 * @param project the project that ordered the take-back; only its own endpoints are named
 */
export async function countTold(pool: Pool, project: string, records: readonly ToldRecord[]): Promise<Told> {
  let [exports, links, contexts, receipts, deliveries] = [0, 0, 0, 0, 0];
  const endpoints = new Set<string>();
  for (let from = 0; from < records.length; from += AT_A_TIME) {
    const some = records.slice(from, from + AT_A_TIME);
    const values = [some.map(({ record }) => record), some.map(({ since }) => since)];
    const access = await pool.query<{ exports: number; links: number }>(ACCESS, values);
    exports += access.rows[0]?.exports ?? 0;
    links += access.rows[0]?.links ?? 0;
    const versions = some.flatMap((each) => each.versions.map((version) => packVersions([version])));
    const made = await pool.query<{ contexts: number; receipts: number }>(CONTEXTS, [...values, versions]);
    contexts += made.rows[0]?.contexts ?? 0;
    receipts += made.rows[0]?.receipts ?? 0;
    const ids = some.flatMap(({ resources }) => resources);
    const sent = await pool.query<{ endpoint: string | null; deliveries: number }>(DELIVERIES, [
      ...values,
      ids,
      project,
    ]);
    for (const { endpoint, deliveries: count } of sent.rows) {
      deliveries += count;
      if (endpoint !== null) endpoints.add(endpoint);
    }
  }
  return {
    exports,
    shared_links: links,
    contexts,
    receipts,
    webhooks: { deliveries, endpoints: [...endpoints].sort() },
  };
}
