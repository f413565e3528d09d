/**
 * The database as of a point in time: runs the same statements over the versions that were current at that time
 * (docs/decisions/0031-as-of-a-moment.md). The tables of read models are replaced by selects from the tables that keep every
 * version: `history.version`, `timeline.entry` and `timeline.place`.
 */
import type pg from 'pg';
import type { Pool, PoolClient } from 'pg';
import type { Micros } from '#src/shared/time/time.ts';
import type { Line, Queryable } from './gather.ts';

const NOW = ['/*now*/', '/*then*/'] as const;

/** Returns a condition whose tables are never replaced, so that it is checked as of now, whatever time is requested. */
export function atPresent(condition: string): string {
  return NOW.join(condition);
}

/** Matches tables outside the conditions of `atPresent`. */
const TABLE =
  /\/\*now\*\/[\s\S]*?\/\*then\*\/|\b(?:resources\.resource|history\.version|timeline\.(?:entry|place|tally))\b/g;

/**
 * The rows of each table as of a time, `$at`. A separate lookup of the next version is forced for each version, because
 * without statistics the planner might join whole tables. The index by id or record is forced too, because the index by owner
 * would find many more rows.
 */
const ROWS: Readonly<Record<string, string>> = {
  // Indexes: those of history.version by id and by record; its primary key (id, version), for the next version of each.
  'resources.resource': `(
    select w.id, w.type, nullif(w.tenant, '00000000-0000-0000-0000-000000000000') as tenant, w.record, w.version,
      w.recorded_at as last_updated, w.operation = 'DELETE' as deleted, w.categories, w.targets, w.body
    from history.version w where w.recorded_at <= $at and coalesce((
      select x.recorded_at from history.version x where x.id = w.id and x.version = w.version + 1) > $at, true))`,
  'history.version': '(select w.* from history.version w where w.recorded_at <= $at)',
  'timeline.entry': '(select w.* from timeline.entry w where w.since <= $at)',
  'timeline.place': `(
    select w.record, w.list, w.at, w.id, w.version, w.day, w.since, case when w.until <= $at then w.until end as until
    from timeline.place w where w.since <= $at)`,
  // Index: primary key of timeline.place (record, list, at, id, version), which has since and until.
  'timeline.tally': `(
    select w.record, w.list, (w.at >> 41)::int as stretch, count(*)::int as count from timeline.place w
    where w.since <= $at and (w.until is null or w.until > $at) group by 1, 2, 3)`,
};

/** Matches tables of the current state whose rows as of an earlier time are in `pg_temp` during the transaction. */
const TEMPORARY =
  /\/\*now\*\/[\s\S]*?\/\*then\*\/|\b(?:resources\.resource|search\.(?:entry|string|period|quantity)|history\.client_provenance)\b/g;

/**
 * Returns a statement over the rows as of a point in time.
 * @param at SQL for the time in microseconds
 */
export function replaceTables(text: string, at: string): string {
  return text.replace(TABLE, (found) => ROWS[found]?.replaceAll('$at', at) ?? found);
}

/** A statement in those forms that `query` accepts other than text. */
interface Statement {
  name?: string;
  text: string;
  values?: readonly unknown[];
  /** Present for a COPY, which is passed on unchanged. */
  submit?: unknown;
}

/** Returns a `query` function for a connection or pool that reads the rows as of a point in time. */
function openQuery(database: Queryable, at: Micros): Queryable['query'] {
  const query = database.query.bind(database) as (...args: unknown[]) => unknown;
  const changed = (statement: Statement): Statement => {
    if (statement.submit !== undefined) {
      // COPY takes no parameters.
      statement.text = replaceTables(statement.text, `${at}::int8`);
      return statement;
    }
    const { name, values = [] } = statement;
    const text = replaceTables(statement.text, `$${values.length + 1}::int8`);
    if (text === statement.text) return statement;
    const bound = { ...statement, text, values: [...values, at] };
    return name === undefined ? bound : { ...bound, name: `${name}@` };
  };
  return ((first: string | Statement, ...rest: unknown[]) => {
    if (typeof first !== 'string') return query(changed(first), ...rest);
    const [values, ...others] = Array.isArray(rest[0]) ? rest : [[], ...rest];
    return query(changed({ text: first, values: values as unknown[] }), ...others);
  }) as Queryable['query'];
}

/** Returns a pool whose statements read the rows as of a point in time. */
export function openPast(pool: Pool, at: Micros): Pool {
  return Object.assign(Object.create(pool), {
    query: openQuery(pool, at),
    connect: async (): Promise<PoolClient> => {
      const client = await pool.connect();
      return Object.assign(Object.create(client), { query: openQuery(client, at) });
    },
  });
}

/**
 * Returns a connection whose statements read the rows as of a point in time. For tables of the current state, these rows are
 * read from `pg_temp`.
 */
export function openLoaded(client: PoolClient, at: Micros): Pool {
  const loaded = (text: string): string =>
    replaceTables(
      text.replace(TEMPORARY, (found) => (found.startsWith('/*') ? found : `pg_temp.${found.split('.')[1]}`)),
      `${at}::int8`,
    );
  // A COPY is an object of its own class, passed with a callback. Other statements lose their names, because no plan may
  // outlive the tables.
  const query = (first: string | Statement, beside?: unknown): unknown => {
    const { name: _, ...statement } = typeof first === 'string' ? { text: first, values: beside } : first;
    const text = loaded(statement.text);
    return typeof first === 'string' || first.submit === undefined
      ? client.query({ ...statement, text } as pg.QueryConfig)
      : client.query(Object.assign(first, { text }) as unknown as string, beside as unknown[]);
  };
  const then = Object.assign(Object.create(client), { query, release: () => undefined });
  return Object.assign(then, { connect: () => Promise.resolve(then) });
}

/** Returns a line that runs each lookup as a separate statement. */
export function lineOver(database: Queryable): Pick<Line, 'gather'> {
  return {
    gather: (load) => async (key) => {
      const [found] = await load(database, [key]);
      return found as NonNullable<typeof found>;
    },
  };
}
