/** Counts the rows that a query's statements read, independently of the planner's estimates, for testing plans. */
import type { Pool, PoolClient } from 'pg';

/** A node of EXPLAIN (FORMAT JSON). */
interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Returns how many table rows and index entries a plan read, including those that it then discarded. */
function rowsRead(node: PlanNode): number {
  const own =
    node['Relation Name'] === undefined && node['Index Name'] === undefined
      ? 0
      : (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  return own + (node.Plans ?? []).reduce((sum, plan) => sum + rowsRead(plan), 0);
}

/**
 * Runs a query's statements, each planned once for its own values and once for any values.
 * @returns the largest number of rows that a statement read
 */
export async function mostRowsRead(pool: Pool, ask: (pool: Pool) => Promise<unknown>): Promise<number> {
  return Math.max(...(await readByEach(pool, ask)).flat());
}

/** Returns the total number of rows that a query's statements read when they are planned for any values. */
export async function totalRowsRead(pool: Pool, ask: (pool: Pool) => Promise<unknown>): Promise<number> {
  return (await readByEach(pool, ask)).reduce((sum, [, generic]) => sum + generic, 0);
}

/** Returns the number of rows that each of a query's statements reads, planned for its own values and for any values. */
async function readByEach(
  pool: Pool,
  ask: (pool: Pool) => Promise<unknown>,
): Promise<[custom: number, generic: number][]> {
  const read: [number, number][] = [];
  const client = await pool.connect();
  const explain = async ({ text, values }: { text: string; values: unknown[] }) => {
    // For a statement that isn't prepared, EXPLAIN always shows a plan for its own values, whatever the mode.
    await client.query(`prepare asked as ${text}`);
    const given = values.length === 0 ? '' : `(${values.map((value) => literal(client, value)).join(', ')})`;
    const planned = async (mode: string): Promise<number> => {
      await client.query(`set plan_cache_mode = ${mode}`);
      const { rows } = await client.query(`explain (analyze, format json) execute asked${given}`);
      return rowsRead(rows[0]['QUERY PLAN'][0].Plan);
    };
    read.push([await planned('force_custom_plan'), await planned('force_generic_plan')]);
    await client.query('deallocate asked');
    return client.query(text, values);
  };
  // Statements run one after another, because the mode applies to the whole connection.
  let last: Promise<unknown> = Promise.resolve();
  const query = (asked: Parameters<typeof explain>[0]) => {
    const own = last.then(() => explain(asked));
    last = own.catch(() => undefined);
    return own;
  };
  try {
    await ask({ query } as unknown as Pool);
  } finally {
    client.release(true);
  }
  return read;
}

function literal(client: PoolClient, value: unknown): string {
  if (value === null || value === undefined) return 'null';
  const text = Array.isArray(value)
    ? `{${value.map((each) => (each === null ? 'null' : JSON.stringify(String(each)))).join(',')}}`
    : String(value);
  return client.escapeLiteral(text);
}
