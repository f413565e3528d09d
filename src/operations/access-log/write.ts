/**
 * The statement that writes a batch of entries. It locks the heads of the entries' records in the order of ids, so that two
 * instances never deadlock, and appends to each chain. Its commit always waits for the disk, regardless of the connection's
 * settings.
 */
import type { Pool } from 'pg';
import type { ReceiptRow } from '../receipts/row.ts';
import { makeParameters, makeReceiptParameters, type ReadyEntry } from './columns.ts';

/** The number of parameters for an entry's columns. */
const ENTRY = 18;

/**
 * Returns the SQL that inserts receipts from parameters.
 * @param first number of the receipts' first parameter
 */
const writeGiven = (first: number): string => {
  const types = 'text int8 text text uuid int8 text bytea bytea bytea text bytea'.split(' ');
  const columns =
    'id, made_at, kind, reader, record, position, name, parameters, versions, inputs, renderer, sha256';
  return `given as materialized (
  select * from unnest(${types.map((type, n) => `$${first + n}::${type}[]`).join(', ')}) as g(${columns})
), receipts as (
  insert into operations.receipt (${columns})
  select g.* from given g join head h on h.record = g.record where not h.erased
)`;
};

/**
 * Returns the statement. The time is read once all heads are locked, so it never decreases within a record.
 * @param hasReceipts whether the statement also writes receipts, for the same records or for others
 */
const writeStatement = (hasReceipts: boolean): string => `
with asked as materialized (
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                       $9::text[], $10::text[], $11::text[], $12::text[], $13::int4[], $14::text[], $15::text[], $16::int8[],
                       $17::text[], $18::text[])
    as a(record, id, action, actor_kind, actor_id, issuer, role, grant_id,
         resource_type, resource_id, purpose, status, count, request_id, digest, place, actor_name, receipt)
), head as materialized (
  select h.record, h.entries, h.hash, h.at, h.erased from operations.access_head h
   where h.record = any($1::uuid[]${hasReceipts ? ` || $${ENTRY + 5}::uuid[]` : ''}) order by h.record for no key update
), moment as materialized (
  select (extract(epoch from clock_timestamp()) * 1000000)::int8 as at,
         set_config('synchronous_commit', 'on', true) as waits
    from (select count(*) from head) locked
), placed as (
  select a.*, h.hash as previous, h.entries + a.place as seq, greatest(h.at, m.at) as at
    from asked a join head h using (record) cross join moment m
   where not h.erased
), linked as materialized (
  select p.*, operations.access_chain(p.previous, int8send(p.seq) || int8send(p.at) || decode(p.digest, 'hex'))
                over (partition by p.record order by p.seq rows unbounded preceding) as hash
    from placed p
), written as (
  insert into operations.access_entry
    (record, seq, id, at, action, actor_kind, actor_id, issuer, role, grant_id,
     resource_type, resource_id, purpose, status, count, request_id, actor_name, receipt, hash)
  select record, seq, id, at, action, actor_kind, actor_id, issuer, role, grant_id,
         resource_type, resource_id, purpose, status, count, request_id, actor_name, receipt, hash
    from linked
), moved as (
  update operations.access_head h set entries = l.seq, hash = l.hash, at = l.at
    from (select distinct on (record) record, seq, hash, at from linked order by record, seq desc) l
   where h.record = l.record
)${hasReceipts ? `, ${writeGiven(ENTRY + 1)}` : ''}
select distinct a.record, h.record is null as unknown
  from ${hasReceipts ? '(select record from asked union select record from given)' : 'asked'} a
  left join head h using (record) where h.record is null or h.erased`;

/**
 * Writes receipts for answers that have no entry, such as answers to a sandbox's keys. If a transaction is erasing the record,
 * the lock waits for it to end.
 */
const RECEIPTS = `
with head as materialized (
  select h.record, h.erased from operations.access_head h,
         (select set_config('synchronous_commit', 'on', true)) waits
   where h.record = any($5::uuid[]) order by h.record for share of h
), ${writeGiven(1)}
select distinct g.record, h.record is null as unknown
  from given g left join head h using (record) where h.record is null or h.erased`;

const WRITE = { name: 'access-log-write', text: writeStatement(false) };
const WRITE_RECEIPTS = { name: 'access-log-write-receipts', text: writeStatement(true) };
const ONLY_RECEIPTS = { name: 'access-log-only-receipts', text: RECEIPTS };

const HEADS = `
insert into operations.access_head (record)
select record from unnest($1::uuid[]) as r(record) order by record on conflict do nothing`;

/** Finds out which of the given ids' entries have already been written. Used only for refused reads, which are few. */
const WRITTEN = `select id from operations.access_entry where id = any($1::uuid[]) and status <> 'ok'`;

/**
 * Writes entries and receipts, which are durable when the promise resolves.
 * @returns the records that were erased; nothing was written for them
 * @throws errors from the database; entries can then be missing only for records that had no earlier entries
 */
export async function writeEntries(
  pool: Pool,
  entries: readonly ReadyEntry[],
  receipts: readonly ReceiptRow[] = [],
): Promise<ReadonlySet<string>> {
  const { erased, unknown } = await writeKnown(pool, entries, receipts);
  if (unknown.size === 0) return erased;
  // Happens only once per record, for its first entries.
  await pool.query(HEADS, [[...unknown]]);
  const isFirst = ({ record }: { readonly record: string }): boolean => unknown.has(record);
  const first = await writeKnown(pool, entries.filter(isFirst), receipts.filter(isFirst));
  if (first.unknown.size > 0) throw new Error('heads of the access log were removed while it was written');
  return new Set([...erased, ...first.erased]);
}

/** Writes the entries of records that have a head and haven't been erased. */
async function writeKnown(
  pool: Pool,
  entries: readonly ReadyEntry[],
  receipts: readonly ReceiptRow[],
): Promise<{ readonly erased: ReadonlySet<string>; readonly unknown: ReadonlySet<string> }> {
  const statement = receipts.length === 0 ? WRITE : entries.length === 0 ? ONLY_RECEIPTS : WRITE_RECEIPTS;
  const { rows } = await pool.query<{ record: string; unknown: boolean }>({
    ...statement,
    values: [
      ...(entries.length === 0 && receipts.length > 0 ? [] : makeParameters(entries)),
      ...(receipts.length === 0 ? [] : makeReceiptParameters(receipts)),
    ],
  });
  const those = (unknown: boolean): ReadonlySet<string> =>
    new Set(rows.filter((row) => row.unknown === unknown).map(({ record }) => record));
  return { erased: those(false), unknown: those(true) };
}

/** Returns the entries, among the given refused reads, that have not been written. */
export async function unwritten(pool: Pool, entries: readonly ReadyEntry[]): Promise<readonly ReadyEntry[]> {
  const { rows } = await pool.query<{ id: string }>(WRITTEN, [entries.map(({ id }) => id)]);
  const written = new Set(rows.map(({ id }) => id));
  return entries.filter(({ id }) => !written.has(id));
}
