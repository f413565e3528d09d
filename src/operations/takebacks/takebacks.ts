/**
 * The table of take-backs, and the records that each take-back covers. The events contain what was written; a purge deletes a
 * record's rows.
 */
import type { Pool } from 'pg';
import type { Person } from '#src/shared/access/member.ts';
import type { NewTakeback, Takeback, TakebackState } from '#src/shared/access/takeback.ts';
import { newId } from '#src/shared/ids.ts';
import { nowMicros } from '#src/shared/time/time.ts';

/** The DDL of a separate migration. Times are microseconds since 1970. */
export const TAKEBACKS_SQL = `
CREATE TABLE operations.takeback (
  id text PRIMARY KEY,
  project text NOT NULL,
  environment text NOT NULL,
  selected json NOT NULL,              -- what versions are selected by
  since_at int8,
  until_at int8 NOT NULL,
  reason text,
  state text NOT NULL,                 -- planning, planned, running, done, undoing, undone
  plan json,
  result json,
  undo_result json,
  planned_by json,                     -- issuer, subject and e-mail address; null: the operator's command line
  started_by json,
  undone_by json,
  created_at int8 NOT NULL,
  started_at int8,
  finished_at int8,
  undone_at int8
);
CREATE INDEX takeback_of_project ON operations.takeback (project, created_at, id);
CREATE TABLE operations.takeback_stream (
  takeback text NOT NULL REFERENCES operations.takeback (id) ON DELETE CASCADE,
  stream text NOT NULL,
  record uuid,                         -- null: the directory
  resources uuid[] NOT NULL,           -- those with selected versions
  taken int4,                          -- versions that were written; null until then, as undone
  stayed int4,
  undone int4,
  kept int4,                           -- resources that the undo left as they are
  PRIMARY KEY (takeback, stream)
);
CREATE INDEX takeback_stream_of_record ON operations.takeback_stream (record) WHERE record IS NOT NULL;`;

/** A record or directory in a take-back, with the ids of the resources to take back. */
export interface TakebackStream {
  readonly stream: string;
  readonly record: string | null;
  readonly resources: readonly string[];
}

/** The outcome for a stream. */
export interface StreamOutcome {
  /** Number of versions that were written. */
  readonly written: number;
  readonly stays: number;
}

/** The totals over all streams. */
export interface Sums {
  readonly records: number;
  readonly versions: number;
  readonly stays: number;
}

/** The columns that store an outcome, by kind of work. */
const COLUMNS = { start: ['taken', 'stayed'], undo: ['undone', 'kept'] } as const;
type Kind = keyof typeof COLUMNS;

/** Take-backs, in PostgreSQL. */
export class Takebacks {
  constructor(private readonly pool: Pool) {}

  async create({
    project,
    environment,
    selected,
    since_at,
    until_at,
    reason,
    planned_by,
  }: NewTakeback): Promise<Takeback> {
    const at = nowMicros();
    const made = await this.#one(
      `insert into operations.takeback (id, project, environment, selected, since_at, until_at, reason, state, planned_by, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, 'planning', $8, $9) returning *`,
      [
        newId('tb_'),
        project,
        environment,
        selected,
        since_at,
        Math.min(until_at ?? at, at),
        reason,
        planned_by,
        at,
      ],
    );
    if (made === undefined) throw new TypeError('the take-back was not stored');
    return made;
  }

  find(id: string): Promise<Takeback | undefined> {
    return this.#one('select * from operations.takeback where id = $1', [id]);
  }

  /** Replaces the streams of a take-back that is being planned. */
  async setStreams(id: string, streams: readonly TakebackStream[]): Promise<void> {
    await this.pool.query('delete from operations.takeback_stream where takeback = $1', [id]);
    for (let from = 0; from < streams.length; from += 500) {
      const rows = streams.slice(from, from + 500);
      await this.pool.query(
        `insert into operations.takeback_stream (takeback, stream, record, resources)
         select $1, x.stream, x.record, x.resources
           from json_to_recordset($2) as x(stream text, record uuid, resources uuid[])`,
        [id, JSON.stringify(rows)],
      );
    }
  }

  /** Ends the planning. */
  async planned(id: string, plan: object): Promise<void> {
    await this.pool.query(
      `update operations.takeback set plan = $2, state = 'planned' where id = $1 and state = 'planning'`,
      [id, JSON.stringify(plan)],
    );
  }

  /**
   * Begins to take back, or to undo a take-back, and records who first ordered it. Does nothing if the take-back isn't in one
   * of the given states.
   */
  async begin(
    id: string,
    kind: Kind,
    from: readonly TakebackState[],
    by: Person | null,
  ): Promise<Takeback | undefined> {
    const [state, column] = kind === 'start' ? ['running', 'started'] : ['undoing', 'undone'];
    return this.#one(
      `update operations.takeback set state = $2, ${column}_by = case when state = $2 then ${column}_by else $4 end,
              started_at = coalesce(started_at, $5)
        where id = $1 and state = any($3) returning *`,
      [id, state, from, by, nowMicros()],
    );
  }

  /** Ends a run. */
  async finish(id: string, kind: Kind): Promise<Sums> {
    const sums = await this.sums(id, kind);
    const result = JSON.stringify(sums);
    await this.pool.query(
      kind === 'start'
        ? `update operations.takeback set state = 'done', result = $2, finished_at = $3 where id = $1 and state = 'running'`
        : `update operations.takeback set state = 'undone', undo_result = $2, undone_at = $3 where id = $1 and state = 'undoing'`,
      [id, result, nowMicros()],
    );
    return sums;
  }

  /**
   * Returns the next streams that aren't done, in the order of their names.
   * @param after name of the last stream that was returned before
   */
  async open(id: string, kind: Kind, after: string, limit: number): Promise<readonly TakebackStream[]> {
    const [done] = COLUMNS[kind];
    const { rows } = await this.pool.query<TakebackStream>(
      `select stream, record, resources from operations.takeback_stream
        where takeback = $1 and stream > $2 and ${done} is null order by stream limit $3`,
      [id, after, limit],
    );
    return rows;
  }

  /** Records that a stream is done. */
  async done(id: string, kind: Kind, stream: string, { written, stays }: StreamOutcome): Promise<void> {
    const [done, left] = COLUMNS[kind];
    await this.pool.query(
      `update operations.takeback_stream set ${done} = $3, ${left} = $4 where takeback = $1 and stream = $2`,
      [id, stream, written, stays],
    );
  }

  /** Returns how many streams there are, and how many are done. */
  async progress(id: string, kind: Kind): Promise<{ readonly total: number; readonly done: number }> {
    const [done] = COLUMNS[kind];
    const { rows } = await this.pool.query<{ total: number; done: number }>(
      `select count(*)::int as total, count(${done})::int as done from operations.takeback_stream where takeback = $1`,
      [id],
    );
    return rows[0] ?? { total: 0, done: 0 };
  }

  async sums(id: string, kind: Kind): Promise<Sums> {
    const [done, left] = COLUMNS[kind];
    const { rows } = await this.pool.query<Sums>(
      `select count(*) filter (where ${done} > 0)::int as records, coalesce(sum(${done}), 0)::int as versions,
              coalesce(sum(${left}), 0)::int as stays
         from operations.takeback_stream where takeback = $1`,
      [id],
    );
    return rows[0] ?? { records: 0, versions: 0, stays: 0 };
  }

  /** Deletes the rows of a record that is being erased. */
  async forget(record: string): Promise<void> {
    await this.pool.query('delete from operations.takeback_stream where record = $1', [record]);
  }

  async #one(text: string, values: readonly unknown[]): Promise<Takeback | undefined> {
    const { rows } = await this.pool.query<Takeback>(text, [...values]);
    return rows[0];
  }
}
