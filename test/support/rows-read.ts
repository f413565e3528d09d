/** How many rows a query's statements read, whatever the planner believes: for tests of plans. */
import type { Pool } from 'pg';

/** Node of EXPLAIN (FORMAT JSON). */
interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Rows of tables and entries of indexes that a plan read, those that it then threw away included. */
function rowsRead(node: PlanNode): number {
  const own =
    node['Relation Name'] === undefined && node['Index Name'] === undefined
      ? 0
      : (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  return own + (node.Plans ?? []).reduce((sum, plan) => sum + rowsRead(plan), 0);
}

/** Runs a query's statements, once planned for their values and once for any, and gives the most rows that one read. */
export async function mostRowsRead(pool: Pool, ask: (pool: Pool) => Promise<unknown>): Promise<number> {
  const read: number[] = [];
  const client = await pool.connect();
  const explain = async ({ text, values }: { text: string; values: unknown[] }) => {
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      await client.query(`set plan_cache_mode = ${mode}`);
      const { rows } = await client.query({ text: `explain (analyze, format json) ${text}`, values });
      read.push(rowsRead(rows[0]['QUERY PLAN'][0].Plan));
    }
    return client.query(text, values);
  };
  try {
    await ask({ query: explain } as unknown as Pool);
  } finally {
    client.release(true);
  }
  return Math.max(...read);
}
