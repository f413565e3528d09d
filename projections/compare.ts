/**
 * Holds the tables of two schemas against each other inside one snapshot. Both sides are summed up by hash in
 * buckets, which takes one pass and little memory however many rows there are; only buckets that differ are looked into.
 */
import type { ClientBase } from 'pg';

/** A row that is not the same on both sides. */
export interface RowDifference {
  readonly table: string;
  /** Values of the key columns; of all columns where a table has no primary key. */
  readonly key: Readonly<Record<string, unknown>>;
  /** `missing`: not in the first schema; `orphan`: not in the second; `changed`: the named columns differ. */
  readonly what: 'missing' | 'orphan' | 'changed';
  readonly columns?: readonly string[];
  /** The record that the row is in, where the table says so. */
  readonly record: string | null;
}

const BUCKETS = 4096;
/** How many differing buckets are looked into at a time. */
const AT_ONCE = 64;

/**
 * Compares a table of two schemas.
 * @param limit most differences to name.
 */
export async function compareTables(
  tx: ClientBase,
  [first, second]: readonly [string, string],
  table: string,
  limit: number,
): Promise<RowDifference[]> {
  const key = await keyOf(tx, second, table);
  const differing = await differingBuckets(tx, [`${first}.${table}`, `${second}.${table}`], key);
  const found: RowDifference[] = [];
  for (let i = 0; i < differing.length && found.length < limit; i += AT_ONCE) {
    const buckets = differing.slice(i, i + AT_ONCE);
    const rows = await differingRows(
      tx,
      [`${first}.${table}`, `${second}.${table}`],
      key,
      buckets,
      limit - found.length,
    );
    found.push(...rows.map((row) => describe(table, key, row)));
  }
  return found;
}

/** The columns that name a row: its primary key, or all of them. */
async function keyOf(tx: ClientBase, schema: string, table: string): Promise<string[]> {
  const { rows } = await tx.query<{ name: string; key: boolean }>(
    `select a.attname as name, coalesce(a.attnum = any(i.indkey), false) as key
       from pg_attribute a left join pg_index i on i.indrelid = a.attrelid and i.indisprimary
      where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`,
    [`${schema}.${table}`],
  );
  const key = rows.filter((row) => row.key);
  return (key.length > 0 ? key : rows).map(({ name }) => name);
}

const keySql = (key: readonly string[]): string =>
  `jsonb_build_array(${key.map((name) => `t.${name}`).join(', ')})::text`;
const bucketSql = (key: readonly string[]): string =>
  `(hashtextextended(${keySql(key)}, 0) & ${BUCKETS - 1})::int`;

async function differingBuckets(
  tx: ClientBase,
  tables: readonly [string, string],
  key: readonly string[],
): Promise<number[]> {
  const summary = (table: string) => `
    select ${bucketSql(key)} as bucket, count(*) as rows, sum(hashtextextended(t::text, 0)) as hash
      from ${table} t group by 1`;
  const { rows } = await tx.query<{ bucket: number }>(
    `with a as (${summary(tables[0])}), b as (${summary(tables[1])})
     select coalesce(a.bucket, b.bucket) as bucket from a full join b using (bucket)
      where a.rows is distinct from b.rows or a.hash is distinct from b.hash order by 1`,
  );
  return rows.map(({ bucket }) => bucket);
}

interface DifferingRow {
  readonly key: string;
  readonly first: Readonly<Record<string, unknown>> | null;
  readonly second: Readonly<Record<string, unknown>> | null;
}

/** Rows are grouped with their hashes, so that a row that stands twice on one side is found where there is no key. */
async function differingRows(
  tx: ClientBase,
  tables: readonly [string, string],
  key: readonly string[],
  buckets: readonly number[],
  limit: number,
): Promise<DifferingRow[]> {
  const side = (first: boolean, table: string) => `
    select ${first} as first, ${keySql(key)} as key, hashtextextended(t::text, 0) as hash, to_jsonb(t) as row
      from ${table} t where ${bucketSql(key)} = any($1::int[])`;
  const { rows } = await tx.query<DifferingRow>(
    `select key, (array_agg(row) filter (where first))[1] as first, (array_agg(row) filter (where not first))[1] as second
       from (${side(true, tables[0])} union all ${side(false, tables[1])}) as rows
      group by key
     having array_agg(hash order by hash) filter (where first)
            is distinct from array_agg(hash order by hash) filter (where not first)
      order by key limit $2`,
    [buckets, limit],
  );
  return rows;
}

function describe(table: string, key: readonly string[], { first, second }: DifferingRow): RowDifference {
  const row = second ?? first ?? {};
  const named = Object.fromEntries(key.map((name) => [name, row[name]]));
  const record = typeof row.record === 'string' ? row.record : null;
  if (first === null) return { table, key: named, what: 'missing', record };
  if (second === null) return { table, key: named, what: 'orphan', record };
  const columns = Object.keys(row).filter(
    (name) => JSON.stringify(first[name]) !== JSON.stringify(second[name]),
  );
  return { table, key: named, what: 'changed', columns, record };
}
