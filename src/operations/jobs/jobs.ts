/**
 * The table of jobs. Every change to a running job names the instance that makes it, so an instance whose job was taken over
 * changes nothing.
 */
import type { Pool } from 'pg';
import type { Json } from '#src/shared/json/json.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { newId } from '../../shared/ids.ts';
import { JOB_COLUMNS, type Job, type JobProgress, type JobStatus, type NewJob } from '../../shared/job.ts';

/**
 * The DDL of a separate migration. Times are microseconds since 1970; `heartbeat` is compared only with the database's own
 * clock. The index allows one unfinished job per kind and subject.
 */
export const JOBS_SQL = `
CREATE TABLE operations.job (
  id text PRIMARY KEY,
  kind text NOT NULL,
  subject text NOT NULL,
  options json NOT NULL,
  status text NOT NULL,                -- waiting, running, done, failed, cancelled
  progress json,
  result json,
  error text,
  started_by json NOT NULL,            -- issuer, subject and e-mail address of the person
  created_at int8 NOT NULL,
  started_at int8,
  finished_at int8,
  instance text,                       -- that runs it, or ran it last
  heartbeat timestamptz,               -- running: last sign of life; waiting: of the last attempt
  cancel boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX job_unfinished ON operations.job (kind, subject) WHERE finished_at IS NULL;
CREATE INDEX job_of_kind ON operations.job (kind, created_at, id);`;

/** If the instance of a running job sends no heartbeat for this long, another instance takes the job over. */
const LOST = "interval '10 seconds'";
/** The pause before a job that couldn't run is tried again. */
const PAUSE = "interval '5 seconds'";

// Index: job_unfinished.
const CLAIM = `
update operations.job set status = 'running', instance = $1, heartbeat = clock_timestamp(), error = null,
       started_at = coalesce(started_at, $2)
 where id = (
   select id from operations.job
    where finished_at is null and kind = any($3) and id <> all($4) and (heartbeat is null
       or heartbeat < clock_timestamp() - case status when 'running' then ${LOST} else ${PAUSE} end)
    order by created_at, id limit 1 for update skip locked)
returning ${JOB_COLUMNS}`;

const INSERT = `
insert into operations.job (id, kind, subject, options, status, started_by, created_at)
values ($1, $2, $3, $4, 'waiting', $5, $6)
on conflict (kind, subject) where finished_at is null do nothing
returning ${JOB_COLUMNS}`;

const CANCEL = `
update operations.job set cancel = true,
  status = case status when 'waiting' then 'cancelled' else status end,
  finished_at = case status when 'waiting' then $3::int8 end
 where id = $1 and kind = $2 and finished_at is null
returning ${JOB_COLUMNS}`;

/** Jobs, in PostgreSQL. */
export class Jobs {
  constructor(private readonly pool: Pool) {}

  /** Starts a job, or returns the unfinished job with the same kind and subject. */
  async start({
    kind,
    subject,
    options,
    started_by,
  }: NewJob): Promise<{ readonly job: Job; readonly made: boolean }> {
    for (;;) {
      const values = [newId('job_'), kind, subject, options, started_by, nowMicros()];
      const made = await this.#one(INSERT, values);
      if (made !== undefined) return { job: made, made: true };
      const running = await this.#one(
        `select ${JOB_COLUMNS} from operations.job where kind = $1 and subject = $2 and finished_at is null`,
        [kind, subject],
      );
      // Undefined if that job has finished in the meantime.
      if (running !== undefined) return { job: running, made: false };
    }
  }

  async find(kind: string, id: string): Promise<Job | undefined> {
    return this.#one(`select ${JOB_COLUMNS} from operations.job where id = $1 and kind = $2`, [id, kind]);
  }

  /**
   * Requests that a job be cancelled; a waiting job is cancelled at once.
   * @returns undefined if no such unfinished job exists
   */
  async cancel(kind: string, id: string): Promise<Job | undefined> {
    return this.#one(CANCEL, [id, kind, nowMicros()]);
  }

  /**
   * Takes a job that is waiting, or whose instance is dead.
   * @param kinds the kinds that this version knows
   * @param own ids of the jobs that this instance runs; their heartbeats may have failed
   * @returns undefined if no such job exists
   */
  async claim(
    instance: string,
    kinds: readonly string[],
    own: readonly string[] = [],
  ): Promise<Job | undefined> {
    return this.#one(CLAIM, [instance, nowMicros(), kinds, own]);
  }

  /**
   * Records that a job is still running, and its progress.
   * @returns undefined if another instance has taken the job over
   */
  async beat(
    { id }: Pick<Job, 'id'>,
    instance: string,
    progress: JobProgress | undefined,
  ): Promise<{ readonly cancel: boolean } | undefined> {
    return this.#one(
      `update operations.job set heartbeat = clock_timestamp(), progress = coalesce($3, progress)
        where id = $1 and instance = $2 and status = 'running' returning cancel`,
      [id, instance, progress ?? null],
    );
  }

  /** Ends a job. */
  async finish(
    { id }: Pick<Job, 'id'>,
    instance: string,
    ended: {
      readonly status: JobStatus;
      readonly result?: Json | undefined;
      readonly error?: string | undefined;
    },
  ): Promise<void> {
    await this.pool.query(
      `update operations.job set status = $3, result = $4, error = $5, finished_at = $6
        where id = $1 and instance = $2 and status = 'running'`,
      [id, instance, ended.status, json(ended.result), ended.error ?? null, nowMicros()],
    );
  }

  /**
   * Makes a job wait again.
   * @param why shown until the job runs again; if missing, the job may be taken at once
   */
  async release({ id }: Pick<Job, 'id'>, instance: string, why?: string): Promise<void> {
    await this.pool.query(
      `update operations.job set status = 'waiting', error = $3, heartbeat = case when $4 then clock_timestamp() end
        where id = $1 and instance = $2 and status = 'running'`,
      [id, instance, why ?? null, why !== undefined],
    );
  }

  async #one<T = Job>(text: string, values: readonly unknown[]): Promise<T | undefined> {
    const { rows } = await this.pool.query(text, [...values]);
    return rows[0] as T | undefined;
  }
}

const json = (value: Json | undefined): string | null => (value === undefined ? null : JSON.stringify(value));
