/**
 * Compares the tables of two schemas inside one snapshot. On both sides, rows are hashed into buckets and each bucket is
 * summed, which takes one pass and little memory. Then only the buckets that differ are read.
 */
import { randomBytes } from 'node:crypto';
import type { ClientBase } from 'pg';
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { differences } from '#src/shared/json/json-difference.ts';
import { type Pace, paced } from './pace.ts';

/** The maximum number of differences to list per table. */
export const NAMED = 1_000;

/** An element that differs in a row. Its values are JSON, shortened if they are long. */
export interface RowChange {
  /** A column, and the place within it if the column contains JSON: `body.name[0].family`. */
  readonly path: string;
  /** The value in the second schema, which is derived from the log; absent if the second schema has none. */
  readonly before?: string;
  /** The value in the first schema. */
  readonly after?: string;
}

/** A differing row. */
export interface RowDifference {
  readonly table: string;
  /** The values of the key columns, or of all columns if the table has no primary key. */
  readonly key: Readonly<Record<string, unknown>>;
  /** `missing`: not in the first schema; `orphan`: not in the second; `changed`: the listed columns differ. */
  readonly what: 'missing' | 'orphan' | 'changed';
  readonly columns?: readonly string[];
  /** For a changed row: the elements that differ, at most 20. */
  readonly changes?: readonly RowChange[];
  /** The record to which the row belongs, if the table has a column for it. */
  readonly record: string | null;
}

/** The result of comparing a table. */
export interface TableComparison {
  readonly table: string;
  /** Number of rows in the first schema and in the second. */
  readonly rows: readonly [number, number];
  readonly differences: readonly RowDifference[];
  /** True if more rows differ than are listed here. */
  readonly more: boolean;
}

const BUCKETS = 4096;
/** Number of differing buckets to read at once. */
const AT_ONCE = 64;

/**
 * Compares a table in two schemas.
 * @param options `limit`: the maximum number of differences to list
 */
export async function compareTables(
  tx: ClientBase,
  [first, second]: readonly [string, string],
  table: string,
  { limit, pace }: { limit: number; pace: Pace },
): Promise<TableComparison> {
  const key = await readKeyColumns(tx, second, table);
  const tables = [`${first}.${table}`, `${second}.${table}`] as const;
  const hash = newHash();
  const a = await summary(tx, tables[0], key, hash, pace);
  const b = await summary(tx, tables[1], key, hash, pace);
  const differing = [...new Set([...a.buckets.keys(), ...b.buckets.keys()])]
    .filter((bucket) => a.buckets.get(bucket) !== b.buckets.get(bucket))
    .sort((one, other) => one - other);
  const found: RowDifference[] = [];
  for (let i = 0; i < differing.length && found.length <= limit; i += AT_ONCE) {
    const buckets = differing.slice(i, i + AT_ONCE);
    // Reads one more row than the limit, to find out whether there are more.
    const rows = await differingRows(tx, tables, { key, hash, buckets }, limit + 1 - found.length);
    found.push(...rows.map((row) => describe(table, key, row)));
  }
  const more = found.length > limit;
  return { table, rows: [a.rows, b.rows], differences: found.slice(0, limit), more };
}

/** Returns the columns that identify a row: its primary key, or all columns. */
async function readKeyColumns(tx: ClientBase, schema: string, table: string): Promise<string[]> {
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
// Hashes the row itself (record hash), which takes less than half as long as hashing its text. Equal values have equal hashes;
// for the types that the tables use (text, uuid, int, boolean and arrays of them), equal means the same bytes.
const bucketSql = (key: readonly string[]): string =>
  `(hash_record_extended(row(${key.map((name) => `t.${name}`).join(', ')}), 0) & ${BUCKETS - 1})::int`;
/**
 * Returns SQL for a row's hash, with a random seed, so that a changed row can't be offset by changing another row. A seed of
 * zero would have no effect.
 */
const newHash = (): string => `hash_record_extended(t, ${randomBytes(8).readBigInt64BE() | 1n})`;

/** A table in short. */
interface Summary {
  readonly rows: number;
  /** Bucket → the sum of its rows' hashes, combined with the number of rows. */
  readonly buckets: ReadonlyMap<number, bigint>;
}

/** The sums of 64-bit hashes are shifted left by this many bits, to leave room for the number of rows. */
const COUNT_BITS = 64n;

/** Summarizes a table. If the pace requires pauses, reads one range of its blocks at a time. */
async function summary(
  tx: ClientBase,
  table: string,
  key: readonly string[],
  hash: string,
  pace: Pace,
): Promise<Summary> {
  const buckets = new Map<number, bigint>();
  let total = 0;
  for (const stretch of await stretches(tx, table, pace)) {
    const { rows } = await paced(pace, () =>
      tx.query<{ bucket: number; rows: string; hash: string }>(
        `select ${bucketSql(key)} as bucket, count(*)::text as rows, sum(${hash})::text as hash
           from ${table} t where ${stretch} group by 1`,
      ),
    );
    for (const { bucket, rows: count, hash: sumOfHashes } of rows) {
      const sum = (buckets.get(bucket) ?? 0n) + (BigInt(sumOfHashes) << COUNT_BITS) + BigInt(count);
      buckets.set(bucket, sum);
      total += Number(count);
    }
  }
  return { rows: total, buckets };
}

/** Returns conditions that divide a table into ranges. */
async function stretches(tx: ClientBase, table: string, { blocks }: Pace): Promise<string[]> {
  if (blocks === undefined) return ['true'];
  const { rows } = await tx.query<{ blocks: string }>(
    "select (pg_relation_size($1::regclass) / current_setting('block_size')::int)::text as blocks",
    [table],
  );
  const all = Number(rows[0]?.blocks ?? 0);
  const cut: string[] = [];
  for (let from = 0; from < all; from += blocks) {
    cut.push(`t.ctid >= '(${from},0)' and t.ctid < '(${from + blocks},0)'`);
  }
  return cut;
}

interface DifferingRow {
  readonly key: string;
  readonly first: Readonly<Record<string, unknown>> | null;
  readonly second: Readonly<Record<string, unknown>> | null;
}

/** Groups identical rows by their hashes, so that duplicates are found in tables without a key. */
async function differingRows(
  tx: ClientBase,
  tables: readonly [string, string],
  { key, hash, buckets }: { key: readonly string[]; hash: string; buckets: readonly number[] },
  limit: number,
): Promise<DifferingRow[]> {
  const side = (first: boolean, table: string) => `
    select ${first} as first, ${keySql(key)} as key, ${hash} as hash, to_jsonb(t) as row
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
  const changes = columns.flatMap((name) => compareValues(name, second[name], first[name]));
  return { table, key: named, what: 'changed', columns, changes: changes.slice(0, CHANGES), record };
}

/** The maximum number of elements to list per row. */
const CHANGES = 20;
/** The maximum length of a value. */
const LONGEST = 300;

function compareValues(column: string, before: unknown, after: unknown): RowChange[] {
  const [was, is] = [treeIn(before), treeIn(after)];
  if (was === undefined || is === undefined) {
    return [{ path: column, before: cut(JSON.stringify(before)), after: cut(JSON.stringify(after)) }];
  }
  return differences(was, is)
    .slice(0, CHANGES)
    .map((each) => ({
      path: `${column}.${each.path}`,
      ...(each.before === undefined ? {} : { before: cut(printJson(each.before)) }),
      ...(each.after === undefined ? {} : { after: cut(printJson(each.after)) }),
    }));
}

/** Parses the JSON object in a text column. */
function treeIn(value: unknown): JsonObject | undefined {
  if (typeof value !== 'string' || !value.startsWith('{')) return undefined;
  try {
    const { value: tree } = parseJson(value);
    return isObject(tree) ? tree : undefined;
  } catch {
    return undefined;
  }
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}
