/** Jobs: long work that operators and auditors start, and that outlives the request, the instance and a restart. */
import type { Person } from '#src/shared/access/member.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import type { Micros } from '#src/shared/time/time.ts';

/**
 * DDL of a separate migration. Instants are microseconds since 1970; `heartbeat` is compared only with the database's own
 * clock. The index allows one unfinished job of a kind and subject.
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

export type JobStatus = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';

/** How far a job has come. */
export interface JobProgress {
  readonly done: number;
  /** An estimate that may grow. */
  readonly total: number;
  readonly unit: string;
  /** What it does now; absent while it counts. */
  readonly note?: string | undefined;
}

/** A job as stored. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly subject: string;
  readonly options: JsonObject;
  readonly status: JobStatus;
  readonly progress: JobProgress | null;
  readonly result: Json;
  /** Why it failed. */
  readonly error: string | null;
  readonly started_by: Person;
  readonly created_at: Micros;
  readonly started_at: Micros | null;
  readonly finished_at: Micros | null;
  readonly instance: string | null;
  /** True once somebody asked to cancel it. */
  readonly cancel: boolean;
}

/** A job to start. */
export interface NewJob extends Pick<Job, 'kind' | 'subject' | 'options' | 'started_by'> {}
